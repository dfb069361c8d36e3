/** The server under attack: the bundle in its own process over TLS, with RBAC, and what it says of itself. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { engineFlags } from '../support/http-engine.js'

/** User names are their tokens. Nobody but the admin may do what the rights in rights.ts do not say. */
const TOKENS = [
  'admin,admin,admin,"system:masters"',
  ...['quiet', 'watcher', 'editor', 'namer', 'nobody', 'prober', 'fuzzer', 'crowd'].map(
    (name) => `${name},${name},${name}`,
  ),
]

/** For so long the admin asks again. A server that takes no connections at all is the quiet client's to notice, who knows the machine. */
const ADMIN_WITHIN_MS = 120_000
const ADMIN_AGAIN_MS = 200

export interface AdminAnswer {
  readonly status: number
  readonly text: string
}

export class AttackedServer {
  readonly host = '127.0.0.1'
  readonly port: number
  /** Lines of the log at level error and above, and whatever was said outside the log. */
  readonly errors: string[]
  readonly #child: ChildProcess
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false })

  private constructor(child: ChildProcess, port: number, errors: string[]) {
    this.#child = child
    this.port = port
    this.errors = errors
  }

  static async start(folder: string, flags: readonly string[]): Promise<AttackedServer> {
    const tokens = path.join(folder, 'tokens.csv')
    writeFileSync(tokens, `${TOKENS.join('\n')}\n`)
    const own = ['--secure-port=0', '--data-dir', path.join(folder, 'data'), '--cert-dir', path.join(folder, 'certs')]
    const child = spawn(
      process.execPath,
      [
        'bundle/main/index.js',
        ...own,
        ...engineFlags(flags),
        '--token-auth-file',
        tokens,
        '--authorization-mode=Node,RBAC',
        ...flags,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const errors: string[] = []
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (!/"level":"(?:trace|debug|info|warn)"/.test(line)) errors.push(line)
    })
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stderr! }).on('line', (line) => {
        const match = /serves (https\S+)/.exec(line)
        if (match !== null) resolve(match[1]!)
        else errors.push(`stderr: ${line}`)
      })
      child.once('exit', (code) => reject(new Error(`the server ended with code ${code}: ${errors.join('\n')}`)))
    })
    errors.length = 0
    return new AttackedServer(child, Number(new URL(url).port), errors)
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** How it ended, if it has. */
  get ended(): string | undefined {
    const { exitCode, signalCode } = this.#child
    return exitCode === null && signalCode === null ? undefined : `code ${exitCode}, signal ${signalCode}`
  }

  /** How it ended, once it has; undefined when it has not within the time. */
  async endedWithin(ms: number): Promise<string | undefined> {
    if (this.ended !== undefined) return this.ended
    const over = new AbortController()
    const exit = new Promise<void>((resolve) => {
      this.#child.once('exit', () => {
        over.abort()
        resolve()
      })
    })
    await Promise.race([exit, setTimeout(ms, undefined, { signal: over.signal }).catch(() => undefined)])
    return this.ended
  }

  get residentMiB(): number {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  }

  get openFiles(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length
  }

  /**
   * As the admin, who is above flow control. The server closes connections that are idle, also in the moment in which one is used
   * again, and on a machine that gives nobody a turn also new ones: such a request goes out again, as browsers do it.
   */
  async admin(method: string, target: string, body?: unknown, type = 'application/json'): Promise<AdminAnswer> {
    for (const deadline = performance.now() + ADMIN_WITHIN_MS; ; await setTimeout(ADMIN_AGAIN_MS))
      try {
        return await this.#ask(method, target, body, type)
      } catch (error) {
        const isReset = (error as NodeJS.ErrnoException).code === 'ECONNRESET'
        if (!isReset || performance.now() > deadline || this.ended !== undefined) throw error
      }
  }

  #ask(method: string, target: string, body: unknown, type: string): Promise<AdminAnswer> {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    // Node gives the body of a DELETE no length of its own, and the server would take it for the beginning of the next request.
    const described = sent === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(sent) }
    return new Promise((resolve, reject) => {
      const call = request(
        {
          host: this.host,
          port: this.port,
          method,
          path: target,
          agent: this.#agent,
          headers: { authorization: 'Bearer admin', ...described },
        },
        (response) => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => {
            text += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
          response.on('error', reject)
        },
      )
      call.on('error', reject)
      call.end(sent)
    })
  }

  /** Throws unless it is done. */
  async make(target: string, body: unknown): Promise<void> {
    const { status, text } = await this.admin('POST', target, body)
    if (status !== 201) throw new Error(`POST ${target}: ${status} ${text}`)
  }

  /** Gives what SIGTERM led to: an exit code, or that it did not end within the time. */
  async stop(withinMs: number): Promise<string> {
    this.#agent.destroy()
    if (this.ended !== undefined) return this.ended
    const ended = new Promise<string>((resolve) => this.#child.once('exit', () => resolve(this.ended!)))
    this.#child.kill('SIGTERM')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<string>((resolve) => {
      timer = globalThis.setTimeout(() => resolve(`not ended within ${withinMs} ms`), withinMs)
    })
    const how = await Promise.race([ended, late])
    clearTimeout(timer)
    if (this.ended === undefined) this.#child.kill('SIGKILL')
    return how
  }
}
