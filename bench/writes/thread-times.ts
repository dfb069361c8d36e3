/** Processor time of the threads of a server in another process, by the names that it has for them. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A server looks at its threads this often; a little more, so that each has looked. */
const LOOK_PERIOD_MS = 5200
const TICKS_PER_SECOND = 100

export class ThreadTimes {
  readonly #folder: string
  /** Of what the server names; the threads of libuv, V8 and LMDB have no name. */
  readonly #names: ReadonlyMap<string, string>

  private constructor(folder: string, names: ReadonlyMap<string, string>) {
    this.#folder = folder
    this.#names = names
  }

  /**
   * Finds out which thread is which while the server does nothing: what it says of a thread is then what the system counts
   * for that thread. It must have worked before, so that no two have used the same.
   */
  static async of(pid: number, readMetrics: () => Promise<string>): Promise<ThreadTimes> {
    await delay(LOOK_PERIOD_MS)
    const lines = (await readMetrics()).matchAll(/^keelson_thread_cpu_seconds_total\{thread="([^"]+)"\} (\S+)$/gm)
    const folder = `/proc/${pid}/task`
    const ticks = new Map(readdirSync(folder).map((thread) => [thread, ticksOf(`${folder}/${thread}/stat`)]))
    const names = new Map<string, string>()
    for (const [, name, seconds] of lines) {
      const off = (thread: string): number => Math.abs(ticks.get(thread)! - Number(seconds) * TICKS_PER_SECOND)
      const [nearest] = [...ticks.keys()].filter((thread) => !names.has(thread)).sort((a, b) => off(a) - off(b))
      if (nearest !== undefined) names.set(nearest, name!.replace(/-\d+$/, ''))
    }
    return new ThreadTimes(folder, names)
  }

  /** Microseconds since each began, those of one name together. */
  read(): Map<string, number> {
    const used = new Map<string, number>()
    for (const thread of readdirSync(this.#folder)) {
      const name = this.#names.get(thread) ?? 'others'
      used.set(name, (used.get(name) ?? 0) + microsecondsOf(`${this.#folder}/${thread}/schedstat`))
    }
    return used
  }
}

const microsecondsOf = (file: string): number => Number(readFileSync(file, 'latin1').split(' ')[0]) / 1000

function ticksOf(file: string): number {
  const fields = readFileSync(file, 'latin1').split(') ')[1]!.split(' ')
  return Number(fields[11]) + Number(fields[12])
}
