/**
 * A disk that is slow to sync: strace, attached to a process that runs, delays each of its syncs where it enters the system. Reads, writes that
 * are not synced, the network and the clock go on, which is what a busy disk does; a process that is stopped altogether is another fault.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

/** Another user's process, or a container without the right to trace, is left as it is: strace ends by itself then. */
export const canTrace =
  process.platform === 'linux' && spawnSync('strace', ['-V'], { stdio: 'ignore', timeout: 5000 }).status === 0

const SYNCS = 'fsync,fdatasync,msync'
/** It detaches from all threads within milliseconds; the kernel lets them go when it is killed. */
const DETACHED_WITHIN_MS = 5000

export class SlowSyncs {
  readonly #strace: ChildProcess
  readonly #ended: Promise<void>

  private constructor(strace: ChildProcess) {
    this.#strace = strace
    this.#ended = new Promise((resolve) => strace.once('close', () => resolve()))
  }

  /** `told`: a file that gets a line a sync. */
  static begin(pid: number, delayMs: number, told = '/dev/null'): SlowSyncs {
    const [tracing, injecting] = [`trace=${SYNCS}`, `inject=${SYNCS}:delay_enter=${delayMs * 1000}`]
    const args = ['-f', '-q', '-o', told, '-e', 'signal=none', '-e', tracing, '-e', injecting, '-p', String(pid)]
    return new SlowSyncs(spawn('strace', args, { stdio: 'ignore' }))
  }

  /** The process may have ended meanwhile, and strace with it. */
  async end(): Promise<void> {
    const { exitCode, signalCode } = this.#strace
    if (exitCode !== null || signalCode !== null) return
    this.#strace.kill('SIGTERM')
    const over = new AbortController()
    const late = sleep(DETACHED_WITHIN_MS, undefined, { signal: over.signal }).then(
      () => void this.#strace.kill('SIGKILL'),
      () => undefined,
    )
    await Promise.race([this.#ended, late])
    await this.#ended
    over.abort()
  }
}
