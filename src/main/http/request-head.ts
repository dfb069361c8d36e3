/** Thread: main. The head of a request: its method, target and headers, readable for as long as it is kept. */

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
  /** The value of any header: '' when it is absent, several values joined with a comma. */
  header(name: string): string
  /** Whether a body may follow the head. */
  mayHaveBody(): boolean
  forEachHeader(visit: (name: string, value: string) => void): void
}
