/**
 * Thread: controllers. Requests as one user, straight to the pool: no socket and no flow control, but the same authorizer, the
 * same admission and the same rules as if they had come over HTTP.
 */
import { encodeUntyped } from '../../api/json/encode.js'
import { parseJson } from '../../api/json/parse.js'
import type { Json } from '../../api/object.js'
import type { RequestInfo } from '../../api/request-info.js'
import { newForbidden, type Status, StatusError } from '../../api/status.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Authorizer } from '../../auth/interface.js'
import { requestAttributes } from '../../auth/request-attributes.js'
import type { Clock } from '../../lib/clock.js'
import type { EncodedResponse, PoolRequest } from '../../protocol/main-pool.js'
import type { ControlledResource } from './controlled-resource.js'
import type { ObjectPlace } from './seen-object.js'

const TIMEOUT_MS = 30_000

export type RequestVerb = 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

export interface ControllerRequest {
  readonly verb: RequestVerb
  readonly resource: ControlledResource
  /** Without a name: the collection. */
  readonly place: ObjectPlace
  readonly subresource?: string
  /** Without the question mark, encoded. */
  readonly query?: string
  readonly contentType?: string
  readonly body?: unknown
}

/** The pool, as far as controllers use it. */
export interface RequestPool {
  run(type: 'read' | 'write', request: PoolRequest): Promise<EncodedResponse>
}

export interface PoolRequestsOptions {
  readonly pool: RequestPool
  readonly authorizer: Authorizer
  readonly user: UserInfo
  /** Names the manager of the fields that are written: what stands before the slash. */
  readonly userAgent: string
  readonly clock: Clock
}

export class PoolRequests {
  readonly #options: PoolRequestsOptions
  #count = 0

  constructor(options: PoolRequestsOptions) {
    this.#options = options
  }

  /** The JSON of the answer. Throws a StatusError for every failure, and Forbidden when the user may not. */
  async send(request: ControllerRequest): Promise<unknown> {
    const { pool, authorizer, user, userAgent, clock } = this.#options
    const info = requestInfo(request)
    const verdict = await authorizer.authorize(requestAttributes(user, info))
    if (verdict.decision !== 'allow')
      throw newForbidden(request.resource, info.name, `user ${JSON.stringify(user.name)} cannot ${info.verb} it`)
    const isRead = request.verb === 'get' || request.verb === 'list'
    const { status, body } = await pool.run(isRead ? 'read' : 'write', {
      info,
      method: METHODS[request.verb],
      query: request.query ?? '',
      user,
      accept: 'application/json',
      contentType: request.contentType ?? 'application/json',
      userAgent,
      body: new TextEncoder().encode(request.body === undefined ? '' : encodeUntyped(request.body as Json)),
      auditId: `controller-${user.name}-${++this.#count}`,
      deadlineMs: clock.now() + TIMEOUT_MS,
    })
    const answer: unknown = parseJson(body).value
    if (status >= 300) throw new StatusError(answer as Status)
    return answer
  }
}

const METHODS: Readonly<Record<RequestVerb, string>> = {
  get: 'GET',
  list: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}

/** As the path of such a request would be understood: RequestInfoFactory's rules. */
function requestInfo({ verb, resource, place, subresource = '' }: ControllerRequest): RequestInfo {
  const { group, version, resource: plural } = resource
  const { namespace, name } = place
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const parts = [plural, name, subresource].filter((part) => part !== '')
  const within = namespace === '' ? '' : `/namespaces/${namespace}`
  return {
    isResourceRequest: true,
    path: `${prefix}${within}/${parts.join('/')}`,
    verb,
    apiPrefix: group === '' ? 'api' : 'apis',
    apiGroup: group,
    apiVersion: version,
    // A namespace's own path names it twice: it is the object, and what it is in.
    namespace: group === '' && plural === 'namespaces' ? name : namespace,
    resource: plural,
    subresource,
    name,
    parts,
  }
}
