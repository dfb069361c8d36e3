import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { engineFlags } from './http-engine.js'

/** The real server, as a user starts it, on a free loopback port with its own folder; plain HTTP unless told otherwise. */
export class KeelsonProcess {
  readonly url: string
  readonly dataDir: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string, dataDir: string) {
    this.#child = child
    this.url = url
    this.dataDir = dataDir
  }

  /** Where its certificates and the admin's kubeconfig are. */
  get certDir(): string {
    return path.join(this.dataDir, 'certs')
  }

  get pid(): number {
    return this.#child.pid!
  }

  static async start(
    flags: readonly string[] = [],
    dataDir = mkdtempSync(path.join(tmpdir(), 'keelson-')),
    {
      tls = false,
      entry = 'bundle/main/index.js',
      openFiles,
    }: { readonly tls?: boolean; readonly entry?: string; readonly openFiles?: number } = {},
  ): Promise<KeelsonProcess> {
    const storage = flags.some((flag) => flag.startsWith('--etcd-servers'))
      ? []
      : ['--data-dir', path.join(dataDir, 'data')]
    // A test that wants controllers asks for them: others count objects and revisions that must be theirs alone.
    const controllers = flags.some((flag) => flag.startsWith('--controllers')) ? [] : ['--controllers=-*']
    // Without the controller that makes accounts no pod could be created: who starts kube-apiserver alone turns the plugin off too.
    const more = controllers.length === 0 ? flags : withoutAccounts(flags)
    const serving = ['--secure-port=0', '--cert-dir', path.join(dataDir, 'certs'), ...(tls ? [] : ['--insecure-http'])]
    const args = [entry, ...serving, ...engineFlags(flags), ...storage, ...controllers, ...more]
    const limited = ['-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', process.execPath, ...args]
    const [program, given] = openFiles === undefined ? [process.execPath, args] : ['sh', limited]
    const child = spawn(program, given, { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr!.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        const match = /serves (http\S+)/.exec(said)
        if (match !== null) resolve(match[1]!)
      })
      child.once('exit', (code) => reject(new Error(`the server ended with code ${code}: ${said}`)))
    })
    return new KeelsonProcess(child, url, dataDir)
  }

  async request(
    method: string,
    pathAndQuery: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; text: string; json: unknown }> {
    const response = await fetch(`${this.url}${pathAndQuery}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      get json(): unknown {
        return JSON.parse(text)
      },
    }
  }

  /** Gives the exit code. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return Promise.resolve(this.#child.exitCode)
    const ended = new Promise<number | null>((resolve) => this.#child.once('exit', (code) => resolve(code)))
    this.#child.kill(signal)
    return ended
  }

  async close(): Promise<void> {
    await this.stop('SIGKILL')
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

const DISABLE = '--disable-admission-plugins'

function withoutAccounts(flags: readonly string[]): string[] {
  if (flags.some((flag) => flag.includes('ServiceAccount'))) return [...flags]
  if (!flags.some((flag) => flag.startsWith(DISABLE))) return [...flags, `${DISABLE}=ServiceAccount`]
  return flags.map((flag) => (flag.startsWith(`${DISABLE}=`) ? `${flag},ServiceAccount` : flag))
}
