/** Thread: main, or a front end's own. The head of a request as uWebSockets.js shows it. */

import { randomUUID } from 'node:crypto'
import type * as uws from 'uws-newest'
import type { RequestHead } from '../request-head.js'

/**
 * Takes all headers in one pass. uWebSockets.js shows a request only in the turn in which it came, and looking for one
 * header there is a call out of JavaScript that costs as much as being shown two. Every request is asked for more
 * than it has headers: who sends it, for whom it speaks, what it takes, whether a body follows.
 */
export class UwsRequestHead implements RequestHead {
  readonly method: string
  readonly rawPath: string
  readonly query: string
  readonly authorization: string
  readonly auditId: string
  /** Name, value, name, value, … */
  readonly #headers: string[] = []

  constructor(request: uws.HttpRequest) {
    this.method = request.getCaseSensitiveMethod()
    this.rawPath = request.getUrl()
    // getQuery() gives undefined when there is no query, although its type says otherwise.
    this.query = (request.getQuery() as string | undefined) ?? ''
    const headers = this.#headers
    request.forEach((name, value) => void headers.push(name, value))
    this.authorization = this.#first('authorization')
    this.auditId = this.#first('audit-id') || randomUUID()
  }

  get accept(): string {
    return this.#first('accept')
  }

  get acceptEncoding(): string {
    return this.#first('accept-encoding')
  }

  get ifNoneMatch(): string {
    return this.#first('if-none-match')
  }

  get contentType(): string {
    return this.#first('content-type')
  }

  get contentLength(): string {
    return this.#first('content-length')
  }

  get userAgent(): string {
    return this.#first('user-agent')
  }

  #first(name: string): string {
    const headers = this.#headers
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!
    return ''
  }

  header(name: string): string {
    const headers = this.#headers
    let joined: string | undefined
    for (let i = 0; i < headers.length; i += 2)
      if (headers[i] === name) joined = joined === undefined ? headers[i + 1]! : `${joined},${headers[i + 1]!}`
    return joined ?? ''
  }

  mayHaveBody(): boolean {
    return !['', '0'].includes(this.contentLength) || this.header('transfer-encoding') !== ''
  }

  forEachHeader(visit: (name: string, value: string) => void): void {
    const headers = this.#headers
    for (let i = 0; i < headers.length; i += 2) visit(headers[i]!, headers[i + 1]!)
  }
}
