/** What a client does with single objects: each request goes into the history with its interval and what came of it. */
import type { Operation, Result, Verb } from '../check/history.js'
import { type Answer, NOT_SENT, type Sent, type ServerAddress } from './http-exchange.js'
import { type LoadObject, type Recorder, revisionOf, seenOf, TOKEN } from './recorder.js'
import { collectionOf, type LoadResource, prefixOf } from './resources.js'

export interface Place {
  readonly resource: LoadResource
  readonly namespace: string
  readonly name: string
}

const FINALIZER = 'faults.example.com/hold'

export class ObjectClient {
  readonly server: ServerAddress
  readonly #recorder: Recorder

  constructor(server: ServerAddress, recorder: Recorder) {
    this.server = server
    this.#recorder = recorder
  }

  create(
    { resource, namespace, name }: Place,
    { finalizers = false, more = {} } = {},
  ): Promise<LoadObject | undefined> {
    const { token, object } = this.#written(resource, name)
    const metadata = { ...object.metadata, ...more, ...(finalizers && { finalizers: [FINALIZER] }) }
    const body = { ...object, metadata }
    const place = { resource, namespace, name }
    return this.#write(
      place,
      'create',
      { method: 'POST', path: collectionOf(resource, namespace), body },
      { token, finalizers },
    )
  }

  /** Replaces what was read before, if it is still stored. */
  update(
    place: Place,
    base: LoadObject,
    { finalizers = (base.metadata.finalizers ?? []).length > 0 } = {},
  ): Promise<LoadObject | undefined> {
    const { token, object } = this.#written(place.resource, place.name)
    const metadata = {
      ...base.metadata,
      annotations: { ...base.metadata.annotations, ...object.metadata.annotations },
      finalizers: finalizers ? [FINALIZER] : [],
    }
    const body = { ...base, ...(place.resource.name === 'services' ? {} : object), metadata }
    const expected = revisionOf(base)
    return this.#write(place, 'update', { method: 'PUT', path: pathOf(place), body }, { token, expected, finalizers })
  }

  patch(place: Place, { unhold = false } = {}): Promise<LoadObject | undefined> {
    const token = this.#recorder.nextToken()
    const body = { metadata: { annotations: { [TOKEN]: token }, ...(unhold && { finalizers: null }) } }
    const sent = { method: 'PATCH', path: pathOf(place), body, type: 'application/merge-patch+json' }
    return this.#write(place, 'patch', sent, { token, ...(unhold && { finalizers: false }) })
  }

  apply(place: Place): Promise<LoadObject | undefined> {
    const { token, object } = this.#written(place.resource, place.name)
    const path = `${pathOf(place)}?fieldManager=faults&force=true`
    return this.#write(
      place,
      'apply',
      { method: 'PATCH', path, body: object, type: 'application/apply-patch+yaml' },
      { token },
    )
  }

  delete(place: Place, expected?: number): Promise<LoadObject | undefined> {
    const preconditions = expected === undefined ? {} : { preconditions: { resourceVersion: String(expected) } }
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...preconditions }
    return this.#write(
      place,
      'delete',
      { method: 'DELETE', path: pathOf(place), body },
      { ...(expected !== undefined && { expected }) },
    )
  }

  async get(place: Place): Promise<LoadObject | undefined> {
    const found = await this.#get(place)
    return found === 'absent' || found === 'unanswered' ? undefined : found
  }

  /** Undefined: nobody knows. */
  async exists(place: Place): Promise<boolean | undefined> {
    const found = await this.#get(place)
    return found === 'unanswered' ? undefined : found !== 'absent'
  }

  async #get(place: Place): Promise<LoadObject | 'absent' | 'unanswered'> {
    const calledMs = this.#recorder.nowMs()
    const answer = await this.#send({ method: 'GET', path: pathOf(place) })
    const base = { ...this.#base('get', place, calledMs), returnedMs: this.#recorder.nowMs() }
    if (answer?.status === 404) this.#recorder.add({ ...base, result: 'absent' })
    if (answer?.status !== 200) return answer?.status === 404 ? 'absent' : 'unanswered'
    const object = answer.body as LoadObject
    this.#recorder.add({ ...base, result: 'ok', seen: seenOf(prefixOf(place.resource, place.namespace), object) })
    return object
  }

  #base(verb: Verb, { resource, namespace, name }: Place, calledMs: number) {
    const key = `${prefixOf(resource, namespace)}${name}`
    return { kind: 'operation', server: this.server.name, verb, key, calledMs } as const
  }

  async #write(place: Place, verb: Verb, sent: Sent, about: Partial<Operation>): Promise<LoadObject | undefined> {
    const calledMs = this.#recorder.nowMs()
    const answer = await this.#send(sent)
    const base = { ...this.#base(verb, place, calledMs), ...about }
    const result = resultOf(answer)
    if (result === 'unknown') this.#recorder.add({ ...base, result })
    else {
      const returnedMs = this.#recorder.nowMs()
      const revision = result === 'ok' ? keptRevision(answer!.body as LoadObject) : undefined
      this.#recorder.add({ ...base, returnedMs, result, ...(revision !== undefined && { revision }) })
      if (revision !== undefined) this.#recorder.see(revision)
    }
    const body = answer?.body as LoadObject | undefined
    return result === 'ok' && body?.kind !== 'Status' ? body : undefined
  }

  #send(sent: Sent): Promise<Answer | undefined> {
    this.#recorder.requests++
    return this.server.exchange(sent)
  }

  #written({ apiVersion, kind, body }: LoadResource, name: string): { token: string; object: LoadObject } {
    const token = this.#recorder.nextToken()
    const metadata = { name, annotations: { [TOKEN]: token } }
    return { token, object: { apiVersion, kind, metadata, ...body(Number(token.slice(1))) } }
  }
}

const pathOf = ({ resource, namespace, name }: Place): string => `${collectionOf(resource, namespace)}/${name}`

/** The revision that the write left; none when it removed the object, or when the answer is a Status. */
function keptRevision({ kind, metadata }: LoadObject): number | undefined {
  if (kind === 'Status' || metadata?.resourceVersion === undefined) return undefined
  const isRemoved = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0
  return isRemoved ? undefined : Number(metadata.resourceVersion)
}

/** A Status of 4xx says that nothing was done; whatever else did not end well may have been done. */
export function resultOf(answer: Answer | undefined): Result {
  if (answer === undefined || answer.status >= 500) return 'unknown'
  if (answer.status === NOT_SENT) return 'refused'
  if (answer.status < 300) return 'ok'
  if (answer.status === 404) return 'absent'
  if (answer.status !== 409) return 'refused'
  return (answer.body as { reason?: string }).reason === 'AlreadyExists' ? 'exists' : 'conflict'
}
