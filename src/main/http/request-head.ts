/** Thread: main. What a request says before its body. */

/** The part of a request that outlives its first turn. */
export interface RequestHead {
  readonly method: string
  /** Still encoded. */
  readonly rawPath: string
  readonly query: string
  readonly accept: string
  readonly acceptEncoding: string
  readonly authorization: string
  readonly ifNoneMatch: string
  readonly contentType: string
  readonly contentLength: string
  readonly userAgent: string
  readonly auditId: string
  /**
   * Any other header, '' when it is absent, several joined with a comma. Only in the turn in which the request came,
   * unless keepHeaders() was called in it.
   */
  header(name: string): string
  forEachHeader(visit: (name: string, value: string) => void): void
  keepHeaders(): void
}
