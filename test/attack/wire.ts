/** A TLS connection that sends bytes as they are, right or wrong, and reads answers without trusting them. */
import tls, { type TLSSocket } from 'node:tls'

export interface WireTarget {
  readonly host: string
  readonly port: number
}

export interface WireAnswer {
  /** 0: nothing came that has a status line. */
  readonly status: number
  readonly head: string
  readonly body: Buffer
  /** limit: more came than was to be read. timeout: the deadline or the end of the attack came first. */
  readonly ended: 'whole' | 'closed' | 'limit' | 'timeout'
}

interface ReadOptions {
  readonly deadlineMs: number
  readonly limitBytes?: number
  /** Reads on after a whole answer, until the deadline: what else comes was not asked for. */
  readonly rest?: boolean
}

const LIMIT_BYTES = 4 * 1024 * 1024
const SHORT_BYTES = 64 * 1024
/** What nobody reads is kept up to here; then the connection is closed, or a forgotten watch would fill the memory of the attackers. */
const UNREAD_BYTES = 128 * 1024 * 1024
const CHUNKED_END = Buffer.from('0\r\n\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')
/** One for all connections: to make one costs more than a handshake. */
export const CLIENT_CONTEXT = tls.createSecureContext()

export class WireClosed extends Error {
  override readonly name = 'WireClosed'
}

export class Wire {
  readonly socket: TLSSocket
  readonly #signal: AbortSignal
  #parts: Buffer[] = []
  #size = 0
  /** By its Content-Length; -1: it has none; 0: not yet looked at. */
  #expected = 0
  #closed = false
  #wake: (() => void) | undefined

  private constructor(socket: TLSSocket, signal: AbortSignal) {
    this.socket = socket
    this.#signal = signal
    socket.on('data', (chunk: Buffer) => {
      this.#parts.push(chunk)
      this.#size += chunk.byteLength
      if (this.#size > UNREAD_BYTES) this.close()
      this.#wake?.()
    })
    socket.on('error', () => this.#end())
    socket.on('close', () => this.#end())
    // Not `once` of events with a signal: thousands of wires share one signal, and each takes its listener away again.
    signal.addEventListener('abort', this.#abort)
  }

  static async open({ host, port }: WireTarget, signal: AbortSignal): Promise<Wire> {
    if (signal.aborted) throw new WireClosed('the attack is over')
    const socket = tls.connect({ host, port, rejectUnauthorized: false, secureContext: CLIENT_CONTEXT })
    socket.setNoDelay(true)
    const wire = new Wire(socket, signal)
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve)
      socket.once('close', () => reject(new WireClosed('closed before it was open')))
    })
    return wire
  }

  get closed(): boolean {
    return this.#closed
  }

  send(bytes: string | Buffer): void {
    if (!this.#closed) this.socket.write(bytes, 'latin1')
  }

  /** One answer, by its own word about its length. */
  async answer({ deadlineMs, limitBytes = LIMIT_BYTES, rest = false }: ReadOptions): Promise<WireAnswer> {
    const deadline = performance.now() + deadlineMs
    let ended: WireAnswer['ended'] = 'timeout'
    for (;;) {
      if (!rest && this.#mayBeWhole() && wholeLength(this.#bytes()) !== undefined) ended = 'whole'
      else if (this.#size > limitBytes) ended = 'limit'
      else if (this.#closed) ended = 'closed'
      else if (performance.now() < deadline && !this.#signal.aborted) {
        await this.#more(deadline - performance.now())
        continue
      }
      return this.#take(this.#bytes(), ended)
    }
  }

  close(): void {
    this.socket.destroy()
    this.#end()
  }

  #take(bytes: Buffer, ended: WireAnswer['ended']): WireAnswer {
    const headEnd = bytes.indexOf(HEAD_END)
    const head = bytes.toString('latin1', 0, headEnd < 0 ? bytes.byteLength : headEnd)
    const length = wholeLength(bytes) ?? bytes.byteLength
    const left = bytes.subarray(length)
    this.#parts = left.byteLength > 0 ? [left] : []
    this.#size = left.byteLength
    this.#expected = 0
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
    return { status, head, body: headEnd < 0 ? Buffer.alloc(0) : bytes.subarray(headEnd + 4, length), ended }
  }

  /** Looks at the end only: to put the parts of a long answer together again and again would take longer than to read it. */
  #mayBeWhole(): boolean {
    const last = this.#parts.at(-1)
    if (last === undefined || this.#size < SHORT_BYTES || last.byteLength < CHUNKED_END.byteLength) return true
    if (this.#expected === 0) this.#expected = expectedLength(this.#bytes())
    if (this.#expected > 0) return this.#size >= this.#expected
    return last.subarray(-CHUNKED_END.byteLength).equals(CHUNKED_END)
  }

  #bytes(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts, this.#size)]
    return this.#parts[0] ?? Buffer.alloc(0)
  }

  #more(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
    })
  }

  readonly #abort = (): void => {
    this.close()
  }

  #end(): void {
    this.#closed = true
    this.#signal.removeEventListener('abort', this.#abort)
    this.#wake?.()
  }
}

function expectedLength(bytes: Buffer): number {
  const headEnd = bytes.indexOf(HEAD_END)
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, Math.max(0, headEnd)))
  return length === null ? -1 : headEnd + HEAD_END.byteLength + Number(length[1])
}

/** How many bytes the first answer has; undefined while more is to come or nobody can say. */
function wholeLength(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const start = headEnd + HEAD_END.byteLength
  if (/^HTTP\/1\.1 (1|204|304)/.test(head)) return start
  const length = /\r\ncontent-length: (\d+)/i.exec(head)
  if (length !== null) return bytes.byteLength >= start + Number(length[1]) ? start + Number(length[1]) : undefined
  return /\r\ntransfer-encoding: chunked/i.test(head) ? chunkedEnd(bytes, start) : undefined
}

function chunkedEnd(bytes: Buffer, from: number): number | undefined {
  for (let at = from; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (Number.isNaN(size)) return bytes.byteLength
    const end = line + 2 + size + 2
    if (end > bytes.byteLength) return undefined
    if (size === 0) return end
    at = end
  }
}

/** Keeps a connection for as long as it can be used, and opens another when it cannot. */
export class WireKeeper {
  readonly #target: WireTarget
  readonly #signal: AbortSignal
  #wire: Wire | undefined

  constructor(target: WireTarget, signal: AbortSignal) {
    this.#target = target
    this.#signal = signal
  }

  /** `alone`: what is sent may leave the connection in a state that nobody knows, so it is closed after. */
  async ask(bytes: string | Buffer, read: ReadOptions, alone = false): Promise<WireAnswer> {
    if (this.#wire === undefined || this.#wire.closed) this.#wire = await Wire.open(this.#target, this.#signal)
    const wire = this.#wire
    wire.send(bytes)
    const answer = await wire.answer(read)
    if (alone || answer.ended !== 'whole' || answer.status === 101) this.close()
    return answer
  }

  close(): void {
    this.#wire?.close()
    this.#wire = undefined
  }
}

export interface WireRequest {
  readonly method: string
  readonly target: string
  readonly token?: string | undefined
  readonly headers?: readonly string[]
  readonly body?: string | Buffer | undefined
}

/** A request that HTTP allows, except for what its parts bring with them. */
export function requestBytes({ method, target, token, headers = [], body }: WireRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: keelson']
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`)
  lines.push(...headers)
  const bytes = Buffer.from(body ?? '')
  if (body !== undefined) lines.push(`Content-Length: ${bytes.byteLength}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes])
}
