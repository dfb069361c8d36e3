import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export const skipWithoutKubectl =
  spawnSync('kubectl', ['version', '--client']).status === 0 ? false : 'kubectl is not on the PATH'

export interface KubectlRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The kubectl of this machine with a home of its own, so that nobody's configuration or caches matter. */
export class Kubectl {
  readonly #home = mkdtempSync(path.join(tmpdir(), 'keelson-kubectl-'))
  readonly #server: string
  #files = 0

  constructor(server: string) {
    this.#server = server
  }

  /** A manifest as a file. */
  file(object: unknown): string {
    const name = path.join(this.#home, `manifest-${this.#files++}.json`)
    writeFileSync(name, JSON.stringify(object))
    return name
  }

  run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<KubectlRun> {
    return new Promise((resolve) => {
      execFile(
        'kubectl',
        ['--server', this.#server, ...args],
        { env: { PATH: process.env['PATH'], HOME: this.#home, ...env }, maxBuffer: 64 << 20 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
          resolve({ code, stdout, stderr })
        },
      )
    })
  }

  close(): void {
    rmSync(this.#home, { recursive: true, force: true })
  }
}
