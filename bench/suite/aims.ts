/**
 * What the server shall reach, as multiples of what kube-apiserver v1.36.4 did on a machine with 2 cores, over TLS, where
 * uWebSockets.js alone did what `limit` says. Another machine is faster or slower: there, the part of its own limit says
 * more than the bare number.
 */
import type { Results, Row, Scenario, TargetName } from './results.js'

export interface Aim {
  readonly work: string
  readonly scenario: Scenario
  readonly target: TargetName
  readonly size: number
  /** Of kube-apiserver on that machine. */
  readonly there: number
  readonly aim: number
  /** Smaller is better. */
  readonly below?: true
  /** Of uWebSockets.js alone on that machine. */
  readonly limit?: number
}

const MIB = 2 ** 20
export const AIM_SIZE = 1000

export const AIMS: readonly Aim[] = [
  {
    work: 'GET one 4 KB pod, consistent',
    scenario: 'get',
    target: 'keelson-etcd',
    there: 2100,
    aim: 21_000,
    limit: 57_000,
  },
  {
    work: 'GET with resourceVersion=0',
    scenario: 'get-0',
    target: 'keelson-etcd',
    there: 3800,
    aim: 30_400,
    limit: 57_000,
  },
  { work: 'LIST 1,000 pods, consistent', scenario: 'list', target: 'keelson-etcd', there: 12, aim: 120, limit: 217 },
  { work: 'watch fan-out to 200, events', scenario: 'watch-200', target: 'keelson-etcd', there: 60_000, aim: 180_000 },
  {
    work: 'watch fan-out to 1,000, events',
    scenario: 'watch-1000',
    target: 'keelson-etcd',
    there: 60_000,
    aim: 180_000,
  },
  { work: 'create, on etcd', scenario: 'create', target: 'keelson-etcd', there: 1640, aim: 3280 },
  { work: 'create, embedded', scenario: 'create', target: 'keelson', there: 1640, aim: 9840 },
  {
    work: 'create under 20 policies of two expressions',
    scenario: 'create-20-policies',
    target: 'keelson',
    there: 461,
    aim: 2305,
  },
  { work: 'ready after start, ms', scenario: 'ready', target: 'keelson', there: 2000, aim: 1000, below: true, size: 0 },
  { work: 'memory, 1,000 pods', scenario: 'memory', target: 'keelson', there: 650 * MIB, aim: 300 * MIB, below: true },
  {
    work: 'the last of 300 definitions of 20 KB served after, ms',
    scenario: 'definitions',
    target: 'keelson',
    size: 300,
    there: 24_000,
    aim: 2000,
    below: true,
  },
  {
    work: 'memory for a definition of 20 KB',
    scenario: 'definitions-memory',
    target: 'keelson',
    size: 2000,
    there: 6.3 * MIB,
    aim: 0.15 * MIB,
    below: true,
  },
  {
    work: 'create a custom object of 12.8 KB',
    scenario: 'custom-create',
    target: 'keelson',
    size: 3000,
    there: 143,
    aim: 1430,
  },
  {
    work: 'memory for 3,000 such objects (38 MB)',
    scenario: 'custom-memory',
    target: 'keelson',
    size: 3000,
    there: 950 * MIB,
    aim: 57 * MIB,
    below: true,
  },
  {
    work: 'LIST them (35 MB), ms',
    scenario: 'custom-list',
    target: 'keelson',
    size: 3000,
    there: 1180,
    aim: 147,
    below: true,
  },
].map((aim) => ({ size: AIM_SIZE, ...aim }) as Aim)

export interface Verdict {
  readonly aim: Aim
  readonly row: Row | undefined
  readonly reached: boolean
  /** Of uWebSockets.js alone: here, and what the aim was of it there. */
  readonly part: { readonly here: number; readonly aim: number } | undefined
  /** Times the other server that was measured beside it, for rates. */
  readonly ofPeer: number | undefined
}

export function judge({ rows }: Results): Verdict[] {
  const find = (scenario: Scenario, size: number, target: TargetName): Row | undefined =>
    rows.find((row) => row.scenario === scenario && row.size === size && row.target === target)
  return AIMS.map((aim) => {
    const row = find(aim.scenario, aim.size, aim.target)
    const bare = find(aim.scenario, aim.size, 'bare')
    const peer = find(aim.scenario, aim.size, 'peer')
    const reached = row !== undefined && (aim.below ? row.value < aim.aim : row.value >= aim.aim)
    const part =
      row === undefined || bare === undefined || aim.limit === undefined
        ? undefined
        : { here: row.value / bare.value, aim: aim.aim / aim.limit }
    return { aim, row, reached, part, ofPeer: row && peer && row.value / peer.value }
  })
}
