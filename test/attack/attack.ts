/** What an attacker is given, what it may say, and how its lanes run until the attack is over. */
import { Random } from '../support/fuzz.js'
import type { AttackedServer } from './attacked-server.js'

export interface Attack {
  readonly server: AttackedServer
  readonly seed: number
  /** Set off when the attack is over: lanes end, connections are closed. */
  readonly signal: AbortSignal
  readonly log: AttackLog
}

export interface Attacker {
  readonly name: string
  /** Resolves once the attack is over and everything that was opened is closed. */
  readonly run: (attack: Attack) => Promise<void>
}

/** One of the sequential loops of an attacker. Its requests depend on its random numbers alone, so a seed repeats them. */
export interface Lane {
  readonly name: string
  readonly random: Random
  round: number
}

/** Lanes begin one after the other: hundreds of handshakes in one moment measure the processor and nothing else. */
const STAGGER_MS = 30
const KEPT_FINDINGS = 50
const SHOWN = 600

/** What attackers did, in numbers, and what was wrong, in words. */
export class AttackLog {
  readonly counts = new Map<string, number>()
  readonly slowest = new Map<string, { readonly ms: number; readonly request: string }>()
  readonly findings: string[] = []
  wrongs = 0
  /** The most memory that the attackers' own process held. */
  heldMiB = 0

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by)
  }

  /** Keeps the one request of an attacker that was answered last of all: where work that grows too fast shows first. */
  took(name: string, ms: number, request: string): void {
    if (ms > (this.slowest.get(name)?.ms ?? 0)) this.slowest.set(name, { ms, request: request.slice(0, SHOWN) })
  }

  wrong(where: string, what: string): void {
    this.wrongs++
    if (this.findings.length < KEPT_FINDINGS) this.findings.push(`${where}: ${what.slice(0, SHOWN)}`)
  }
}

/** Runs a step again and again in so many lanes. A step that fails by a broken connection is part of the game. */
export async function runLanes(
  attack: Attack,
  name: string,
  lanes: number,
  step: (lane: Lane) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: lanes }, async (_, i) => {
      const lane = { name: `${name}/${i}`, random: new Random(attack.seed * 1000 + hash(name) + i), round: 0 }
      await pause(i * STAGGER_MS, attack.signal)
      for (; !attack.signal.aborted; lane.round++) {
        attack.log.count(`${name} rounds`)
        try {
          await step(lane)
        } catch (error) {
          if (attack.signal.aborted) return
          if (!isBrokenConnection(error)) throw error
          attack.log.count(`${name} broken`)
          await pause(50, attack.signal)
        }
      }
    }),
  )
}

/** Where in the run something was seen: enough to find it again with the same seed. */
export const place = (attack: Attack, lane: Lane): string => `seed ${attack.seed} ${lane.name} round ${lane.round}`

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}

/** Errors of the system and of streams that have ended. Other codes of Node (ERR_…) say that an attacker is written wrongly. */
export const isBrokenConnection = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'WireClosed' ||
    ('code' in error && /^(?:E(?!RR_)|ERR_(?:SSL|TLS|STREAM|SOCKET)_)/.test(String(error.code))))

const hash = (text: string): number => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, 7)
