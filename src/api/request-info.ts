/** Thread: any. What a request's path and method mean; made once in the front end, used by everything after it. */
export interface RequestInfo {
  readonly isResourceRequest: boolean
  readonly path: string
  /** get, list, watch, create, update, patch, delete, deletecollection; the lower-case method for other paths. */
  readonly verb: string
  /** api or apis */
  readonly apiPrefix: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** Path segments from the resource on. */
  readonly parts: readonly string[]
  /** Of the subresource `proxy` only. */
  readonly proxied?: ProxiedPath
}

/** The path of a request that is passed on, in two, as the client encoded it. */
export interface ProxiedPath {
  /** The segments that were authorized, up to and with `proxy`. */
  readonly prefix: string
  /** What follows them: '' or something that begins with a slash. */
  readonly rest: string
}
