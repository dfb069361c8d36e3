/**
 * Thread: controllers. Objects that extension API servers hold, for one controller: what they serve, and reads and deletions in the name
 * of the controller's account, after the authorizer that every request passes.
 */
import type { KubeObject } from '../../api/object.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Authorizer } from '../../auth/interface.js'
import type { Clock } from '../../lib/clock.js'
import type { RemoteAnswer, RemoteCall, RemoteReport, RemoteResource } from '../../protocol/main-controllers.js'
import type { ObjectPlace } from './seen-object.js'

/** So long a report serves the next questions: a thousand objects whose owners lie elsewhere ask once. */
const FRESH_MS = 5_000

/** The way over main: protocol/main-controllers.ts. */
export interface RemoteServers {
  resources(): Promise<RemoteReport>
  send(call: RemoteCall): Promise<RemoteAnswer>
}

/** A server that could not be asked, or that answered with a failure. */
export class RemoteFailure extends Error {
  readonly code = 'RemoteFailure'
}

export class RemoteObjects {
  readonly #servers: RemoteServers
  readonly #authorizer: Authorizer
  readonly #user: UserInfo
  readonly #clock: Clock
  #report: { readonly asked: Promise<RemoteReport>; readonly askedMs: number } | undefined

  constructor(servers: RemoteServers, authorizer: Authorizer, user: UserInfo, clock: Clock) {
    this.#servers = servers
    this.#authorizer = authorizer
    this.#user = user
    this.#clock = clock
  }

  /** What the servers say now. */
  report(): Promise<RemoteReport> {
    return this.#servers.resources()
  }

  /** What the servers said a moment ago. */
  recentReport(): Promise<RemoteReport> {
    const now = this.#clock.monotonicMs()
    if (this.#report === undefined || now - this.#report.askedMs > FRESH_MS)
      this.#report = { asked: this.#servers.resources(), askedMs: now }
    return this.#report.asked
  }

  /** Undefined when there is no such object. Throws RemoteFailure. */
  async get(resource: RemoteResource, place: ObjectPlace): Promise<KubeObject | undefined> {
    const answer = await this.#send('get', resource, place)
    return answer.status === 404 ? undefined : parsed(answer)
  }

  /** Throws RemoteFailure. */
  async list(resource: RemoteResource, namespace: string): Promise<KubeObject[]> {
    const { items = [] } = parsed<{ items?: KubeObject[] }>(await this.#send('list', resource, { namespace, name: '' }))
    return items
  }

  async delete(resource: RemoteResource, place: ObjectPlace): Promise<void> {
    const answer = await this.#send('delete', resource, place)
    if (answer.status !== 404) parsed(answer)
  }

  async deleteCollection(resource: RemoteResource, namespace: string): Promise<void> {
    parsed(await this.#send('deletecollection', resource, { namespace, name: '' }))
  }

  async #send(
    verb: 'get' | 'list' | 'delete' | 'deletecollection',
    { group, version, resource }: RemoteResource,
    { namespace, name }: ObjectPlace,
  ): Promise<RemoteAnswer> {
    const segments = [...(namespace === '' ? [] : ['namespaces', namespace]), resource, ...(name === '' ? [] : [name])]
    const path = `/apis/${group}/${version}/${segments.map(encodeURIComponent).join('/')}`
    const verdict = await this.#authorizer.authorize({
      isResourceRequest: true,
      user: this.#user,
      verb,
      apiGroup: group,
      apiVersion: version,
      resource,
      subresource: '',
      namespace,
      name,
      path,
    })
    if (verdict.decision !== 'allow') throw new RemoteFailure(`${this.#user.name} cannot ${verb} ${resource}.${group}`)
    const isRead = verb === 'get' || verb === 'list'
    const body = isRead
      ? ''
      : JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' })
    try {
      return await this.#servers.send({
        group,
        version,
        method: isRead ? 'GET' : 'DELETE',
        path,
        user: this.#user,
        body,
      })
    } catch (error) {
      throw new RemoteFailure(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }
}

function parsed<T = KubeObject>({ status, body }: RemoteAnswer): T {
  const text = Buffer.from(body).toString()
  if (status < 200 || status > 299) throw new RemoteFailure(`status ${status}: ${text.slice(0, 200)}`)
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw new RemoteFailure('the answer is no JSON', { cause: error })
  }
}
