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
  /** Path segments from the resource on; what a proxy subresource forwards is what follows the subresource. */
  readonly parts: readonly string[]
}
