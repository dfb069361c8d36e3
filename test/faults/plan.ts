/** What goes wrong when, from a seed alone. */
import { Random } from '../support/fuzz.js'
import type { Fault } from './rig/fault.js'
import { FAULTS } from './rig/faults.js'
import type { StorageKind } from './rig/rig.js'

export interface PlannedFault {
  readonly fault: Fault
  readonly atMs: number
  readonly forMs: number
  /** For what the fault chooses itself: which member, how many bytes. */
  readonly seed: number
}

/** Faults begin so far apart at most, and many last longer: up to three are there together. One server alone has nobody beside it. */
const APART_MS: Readonly<Record<StorageKind, number>> = { etcd: 2500, embedded: 5000 }
const LONGEST_MS = 5000
/** The load runs undisturbed at first, and again at the end of a run. */
const QUIET_MS = 1000

/** Every so many runs, by seed, everybody talks TLS. */
const TLS_EVERY = 3

/** Also where a fault was chosen that needs it. */
export const hasTls = (seed: number, only: readonly string[] = []): boolean =>
  seed % TLS_EVERY === 0 || FAULTS.some(({ name, needsTls }) => needsTls && only.includes(name))

export function planOf(
  seed: number,
  seconds: number,
  storage: StorageKind,
  only: readonly string[] = [],
): PlannedFault[] {
  const random = new Random(seed)
  const tls = hasTls(seed, only)
  const possible = FAULTS.filter(
    ({ name, needsEtcd, needsTls }) =>
      (storage === 'etcd' || !needsEtcd) && (tls || !needsTls) && (only.length === 0 || only.includes(name)),
  )
  const plan: PlannedFault[] = []
  for (let atMs = QUIET_MS; atMs < seconds * 1000 - QUIET_MS; atMs += 300 + random.below(APART_MS[storage]))
    plan.push({ fault: random.pick(possible), atMs, forMs: 200 + random.below(LONGEST_MS), seed: random.below(1e9) })
  return plan
}

export const told = (plan: readonly PlannedFault[]): string =>
  plan.map(({ fault, atMs, forMs }) => `${fault.name} at ${atMs} for ${forMs} ms`).join('; ')
