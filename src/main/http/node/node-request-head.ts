/**
 * Thread: main, or a front end's own. The head of a request as Node's modules show it: a flat list of names and values.
 */
import { randomUUID } from 'node:crypto'
import { headerText } from '../../../lib/header-text.js'
import type { RequestHead } from '../request-head.js'

/**
 * The first character of pseudo-headers (`:path`, `:authority`), which stand among the headers of an HTTP/2 request.
 */
const PSEUDO = ':'

export class NodeRequestHead implements RequestHead {
  readonly method: string
  readonly rawPath: string
  readonly query: string
  accept = ''
  acceptEncoding = ''
  authorization = ''
  ifNoneMatch = ''
  contentType = ''
  contentLength = ''
  userAgent = ''
  auditId = ''
  /** Headers as name, value, name, value, …, names in lower case. */
  readonly #headers: string[] = []
  /** The host as HTTP/2's `:authority` names it. */
  #authority: string | undefined

  readonly #isOpen: boolean

  /**
   * `target` is the request target as the client sent it; `rawHeaders` are name, value, name, value, … `isOpen` is true
   * for a stream of HTTP/2 that did not end with its head: a body may follow whose length no header states.
   */
  constructor(method: string, target: string, rawHeaders: readonly string[], isOpen = false) {
    this.#isOpen = isOpen
    this.method = method
    const path = originForm(headerText(target))
    const mark = path.indexOf('?')
    this.rawPath = mark < 0 ? path : path.slice(0, mark)
    this.query = mark < 0 ? '' : path.slice(mark + 1)
    for (let i = 0; i + 1 < rawHeaders.length; i += 2)
      this.#add(rawHeaders[i]!.toLowerCase(), headerText(rawHeaders[i + 1]!))
    if (this.auditId === '') this.auditId = randomUUID()
  }

  #add(name: string, value: string): void {
    if (name.startsWith(PSEUDO)) {
      if (name !== ':authority') return
      this.#authority = value
      this.#headers.push('host', value)
      return
    }
    // An HTTP/2 client may name the host by `:authority` and by `host`. Equal names count once; different ones are both
    // kept, and headProblem() refuses the request because of them.
    if (name === 'host' && value === this.#authority) return
    this.#headers.push(name, value)
    // The first of repeated headers counts, as with uWebSockets.js.
    if (name === 'accept') this.accept ||= value
    else if (name === 'accept-encoding') this.acceptEncoding ||= value
    else if (name === 'authorization') this.authorization ||= value
    else if (name === 'if-none-match') this.ifNoneMatch ||= value
    else if (name === 'content-type') this.contentType ||= value
    else if (name === 'content-length') this.contentLength ||= value
    else if (name === 'user-agent') this.userAgent ||= value
    else if (name === 'audit-id') this.auditId ||= value
  }

  header(name: string): string {
    const headers = this.#headers
    let joined: string | undefined
    for (let i = 0; i < headers.length; i += 2)
      if (headers[i] === name) joined = joined === undefined ? headers[i + 1]! : `${joined},${headers[i + 1]!}`
    return joined ?? ''
  }

  mayHaveBody(): boolean {
    if (this.contentLength !== '') return this.contentLength !== '0' || this.header('transfer-encoding') !== ''
    return this.#isOpen || this.header('transfer-encoding') !== ''
  }

  forEachHeader(visit: (name: string, value: string) => void): void {
    for (let i = 0; i < this.#headers.length; i += 2) visit(this.#headers[i]!, this.#headers[i + 1]!)
  }
}

/** The path and query of a request target. A client that takes this server for a proxy sends a whole URL. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const scheme = target.indexOf('://')
  if (scheme < 0) return target
  const path = target.indexOf('/', scheme + 3)
  return path < 0 ? '/' : target.slice(path)
}
