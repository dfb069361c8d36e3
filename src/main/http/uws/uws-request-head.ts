/** Thread: main, or a front end's own. The head of a request as uWebSockets.js shows it. */

import { randomUUID } from 'node:crypto'
import type * as uws from 'uws-newest'
import { assert } from '../../../lib/assert.js'
import type { RequestHead } from '../request-head.js'

/**
 * Reads headers lazily. uWebSockets.js shows a request only in the turn in which it came, and each header that is read
 * costs a call out of JavaScript and a string. So a header is read when it is asked for; for a request that outlives
 * its turn, turnEnded() keeps the list of all headers.
 */
export class UwsRequestHead implements RequestHead {
  readonly method: string
  readonly rawPath: string
  readonly query: string
  readonly authorization: string
  readonly auditId: string
  #accept: string | undefined
  #acceptEncoding: string | undefined
  #ifNoneMatch: string | undefined
  #contentType: string | undefined
  #contentLength: string | undefined
  #userAgent: string | undefined
  #request: uws.HttpRequest | undefined
  #headers: [name: string, value: string][] | undefined

  constructor(request: uws.HttpRequest) {
    this.method = request.getCaseSensitiveMethod()
    this.rawPath = request.getUrl()
    // getQuery() gives undefined when there is no query, although its type says otherwise.
    this.query = (request.getQuery() as string | undefined) ?? ''
    this.authorization = request.getHeader('authorization')
    this.auditId = request.getHeader('audit-id') || randomUUID()
    this.#request = request
  }

  get accept(): string {
    this.#accept ??= this.#read('accept')
    return this.#accept
  }

  get acceptEncoding(): string {
    this.#acceptEncoding ??= this.#read('accept-encoding')
    return this.#acceptEncoding
  }

  get ifNoneMatch(): string {
    this.#ifNoneMatch ??= this.#read('if-none-match')
    return this.#ifNoneMatch
  }

  get contentType(): string {
    this.#contentType ??= this.#read('content-type')
    return this.#contentType
  }

  get contentLength(): string {
    this.#contentLength ??= this.#read('content-length')
    return this.#contentLength
  }

  get userAgent(): string {
    this.#userAgent ??= this.#read('user-agent')
    return this.#userAgent
  }

  #read(name: string): string {
    if (this.#request !== undefined) return this.#request.getHeader(name)
    assert(this.#headers !== undefined, 'the headers of a request that outlives its turn are kept at its end')
    for (const [key, value] of this.#headers) if (key === name) return value
    return ''
  }

  header(name: string): string {
    // Most headers that are asked for are absent, and getHeader() says so without a list of all headers.
    if (this.#headers === undefined && this.#request?.getHeader(name) === '') return ''
    let joined: string | undefined
    for (const [key, value] of this.#all())
      if (key === name) joined = joined === undefined ? value : `${joined},${value}`
    return joined ?? ''
  }

  mayHaveBody(): boolean {
    return !['', '0'].includes(this.contentLength) || this.header('transfer-encoding') !== ''
  }

  forEachHeader(visit: (name: string, value: string) => void): void {
    // A visit within the turn needs no list of all headers.
    if (this.#headers === undefined && this.#request !== undefined) this.#request.forEach(visit)
    else for (const [name, value] of this.#all()) visit(name, value)
  }

  keepHeaders(): void {
    this.#all()
  }

  /** Ends the time in which the request can be read. `over` is true when nothing of it will be asked for later. */
  turnEnded(over: boolean): void {
    if (!over) this.#all()
    this.#request = undefined
  }

  #all(): readonly [name: string, value: string][] {
    if (this.#headers !== undefined) return this.#headers
    assert(this.#request !== undefined, 'headers are read in the turn in which they came, or kept in it')
    const headers: [name: string, value: string][] = []
    this.#request.forEach((name, value) => void headers.push([name, value]))
    this.#headers = headers
    return headers
  }
}
