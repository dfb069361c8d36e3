/** Thread: main. The head of a request: its method, target and headers. */

/** These fields stay readable after the turn in which the request came; header() does so only after keepHeaders(). */
export interface RequestHead {
  readonly method: string
  /** The path, still percent-encoded. */
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
   * The value of any header: '' when it is absent, several values joined with a comma. It may be asked for only in the
   * turn in which the request came, unless keepHeaders() was called in that turn.
   */
  header(name: string): string
  /** Whether a body may follow the head. It may be asked for when header() may. */
  mayHaveBody(): boolean
  forEachHeader(visit: (name: string, value: string) => void): void
  keepHeaders(): void
}
