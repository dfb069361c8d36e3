/** Thread: main. GET of one object: a lookup and a write. */
import { isStatusError, newNotFound } from '../../api/status.js'
import type { Snapshot } from '../../cacher/memory/shared-memory.js'
import { arrive, NEWEST, openSnapshot, resolveGet } from '../../cacher/read/resolve.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { CORKED_BODY_BYTES } from '../http/exchange.js'
import { askedRevision } from './asked-revision.js'
import type { ObjectForm } from './object-form.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import { readStatus } from './read-status.js'
import { recordItem } from './watch-frames.js'

const NEWLINE = 10
const JSON_HEAD = { status: 200, contentType: 'application/json' }

/** Gives a promise only when it must wait; the commonest path is synchronous, and makes nothing but the answer. */
export function getObject(
  request: ReadRequest,
  view: ResourceView,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<void> | undefined {
  const wanted = request.query.size === 0 ? '' : (request.query.get('resourceVersion') ?? '')
  const position = resolveGet(wanted, askedRevision)
  const wait =
    position.minimumRevision === 0
      ? context
      : { clock: context.clock, observer: context.metrics.lists(request.resource) }
  const arrived = arrive(view, position, wait)
  if (arrived === true) return writeObject(request, view, context, form)
  return arrived.then(
    (inMemory) => (inMemory ? writeObject(request, view, context, form) : context.answerFromPool(request)),
    (error: unknown) => {
      throw readStatus(error)
    },
  )
}

function writeObject(
  request: ReadRequest,
  view: ResourceView,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<void> | undefined {
  // The arena is asked for again: the owner waits for no reader and may have dropped it meanwhile.
  const snapshot = openSnapshot(view.arena(), NEWEST.revision)
  if (snapshot === undefined) return context.answerFromPool(request)
  return form === undefined ? writeStored(request, snapshot) : writeConverted(request, snapshot, context, form)
}

function writeStored({ exchange, info, resource }: ReadRequest, snapshot: Snapshot): undefined {
  try {
    const record = snapshot.get(resource.key(info.namespace, info.name))
    if (record === undefined) throw newNotFound({ group: info.apiGroup, resource: info.resource }, info.name)
    exchange.respond(JSON_HEAD, withNewline(record.body()))
  } finally {
    snapshot.release()
  }
}

async function writeConverted(
  request: ReadRequest,
  snapshot: Snapshot,
  { converter, answerFromPool }: ReadContext,
  { form, contentType, isText }: ObjectForm,
): Promise<void> {
  const { exchange, info, resource } = request
  let shown: Uint8Array[] | Promise<Uint8Array[]>
  try {
    const record = snapshot.get(resource.key(info.namespace, info.name))
    if (record === undefined) throw newNotFound({ group: info.apiGroup, resource: info.resource }, info.name)
    shown = converter.convert(form, [recordItem(record)])
  } finally {
    snapshot.release()
  }
  let bytes: Uint8Array | undefined
  try {
    bytes = (await shown)[0]
  } catch (error) {
    if (isStatusError(error)) throw error
    // The pool answers instead. It may know already that the resource is no longer served, and else tells the client
    // what is wrong.
    return answerFromPool(request)
  }
  exchange.respond({ status: 200, contentType }, isText ? withNewline(bytes!) : bytes!)
}

/**
 * The buffer in which small answers are put together. It can be reused, because such an answer is copied on its way out
 * before the next one is made. Larger answers get memory of their own.
 */
const scratch = Buffer.allocUnsafeSlow(CORKED_BODY_BYTES)

function withNewline(body: Uint8Array): Uint8Array {
  const size = body.byteLength + 1
  const answer = size <= CORKED_BODY_BYTES ? new Uint8Array(scratch.buffer, 0, size) : Buffer.allocUnsafe(size)
  answer.set(body)
  answer[size - 1] = NEWLINE
  return answer
}
