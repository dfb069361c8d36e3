/**
 * What the server shall reach: the table of DESIGN.md, row by row. kube-apiserver v1.36.4 was measured beside it on an idle machine
 * with 2 cores, where uWebSockets.js alone answered THERE.gets and THERE.lists a second. Another machine is faster or slower, so an
 * aim is judged by what uWebSockets.js alone does here: a rate of reads as a part of its rate with the same bytes; other rates
 * against the aim times what it does here of what it did there; times against the aim, as much longer as a GET takes its
 * processor here. Memory is the same everywhere.
 */
import type { Results, Row, Scenario, TargetName } from './results.js'

export const THERE = { gets: 78_700, lists: 306 }
/** One core was full of it: the processor time of a GET there, in microseconds. */
export const THERE_MICROSECONDS = 1e6 / THERE.gets

export interface Aim {
  readonly work: string
  readonly scenario: Scenario
  readonly target: TargetName
  readonly size: number
  /** Of the row: what is judged. */
  readonly figure: 'value' | 'p99Ms' | 'processorMicroseconds'
  readonly unit: Row['unit'] | 'us'
  /** Of kube-apiserver on that machine; undefined where it has nothing like it. */
  readonly there: number | undefined
  readonly aim: number
  /** Smaller is better. */
  readonly below?: true
  /** The part of uWebSockets.js alone that the aim is, where that sends the same bytes. */
  readonly part?: number
}

const MB = 1e6
export const AIM_SIZE = 1000
/** With so many pods memory is looked at, whatever sizes are measured otherwise. */
export const MEMORY_SIZES: readonly number[] = [10_000, 50_000]

type Given = Omit<Aim, 'target' | 'figure' | 'unit' | 'size'> & Partial<Pick<Aim, 'size'>>
const BOTH = ['keelson-etcd', 'keelson'] as const
const WHERE: Readonly<Partial<Record<TargetName, string>>> = { 'keelson-etcd': 'on etcd', keelson: 'embedded' }

const aim = (
  target: TargetName,
  figure: Aim['figure'],
  unit: Aim['unit'],
  { size = AIM_SIZE, ...given }: Given,
): Aim => ({ ...given, target, figure, unit, size })
const rate = (target: TargetName, given: Given): Aim => aim(target, 'value', 'per second', given)
const p99 = (target: TargetName, given: Given): Aim => aim(target, 'p99Ms', 'ms', { ...given, below: true })
const time = (given: Given): Aim => aim('keelson', 'value', 'ms', { ...given, below: true })
const memory = (given: Given): Aim => aim('keelson', 'value', 'bytes', { ...given, below: true })
const processor = (target: TargetName, given: Given): Aim =>
  aim(target, 'processorMicroseconds', 'us', { ...given, below: true })
/** The same aim on etcd and on the embedded engine. */
const both = (make: (target: TargetName, given: Given) => Aim, { work, ...given }: Given): Aim[] =>
  BOTH.map((target) => make(target, { ...given, work: `${work}, ${WHERE[target]}` }))

const GET = 'GET one 4 KB pod, consistent, 32 connections'
const CREATE = 'create a 1 KB ConfigMap, 32 connections'
const POD_FIRST = 'create a 4 KB pod, 16 connections: processor, first 1,000 after a start'
const FAN_OUT = { many: 'fan-out to 1,000 watchers', few: 'fan-out to 200 watchers' }

export const AIMS: readonly Aim[] = [
  rate('keelson-etcd', { work: `${GET}, on etcd`, scenario: 'get', there: 4130, aim: 41_300, part: 0.5 }),
  rate('keelson', { work: `${GET}, embedded`, scenario: 'get', there: 4130, aim: 0.65 * THERE.gets, part: 0.65 }),
  ...both(rate, { work: 'GET with resourceVersion=0', scenario: 'get-0', there: 6140, aim: 49_120, part: 0.65 }),
  ...both(rate, {
    work: 'LIST 1,000 pods (4.2 MB), consistent, 8 connections',
    scenario: 'list',
    there: 30,
    aim: 225,
    part: 0.78,
  }),
  rate('keelson-etcd', { work: `${CREATE}, on etcd`, scenario: 'create', there: 2100, aim: 4620 }),
  rate('keelson', { work: `${CREATE}, embedded`, scenario: 'create', there: 2100, aim: 10_500 }),
  ...both(processor, { work: `${CREATE}: processor each`, scenario: 'create', there: undefined, aim: 120 }),
  ...both(rate, {
    work: 'create under 20 policies of two expressions',
    scenario: 'create-20-policies',
    there: 461,
    aim: 2305,
  }),
  ...both(processor, { work: POD_FIRST, scenario: 'create-first-1000', size: 0, there: 1670, aim: 900 }),
  ...both(processor, {
    work: 'the same, fourth 1,000',
    scenario: 'create-fourth-1000',
    size: 0,
    there: 1800,
    aim: 400,
  }),
  ...both(rate, {
    work: 'the first 1,000 pods after a start',
    scenario: 'create-first-1000',
    size: 0,
    there: 794,
    aim: 1191,
  }),
  ...both(rate, { work: `${FAN_OUT.many}, events`, scenario: 'watch-1000', there: 96_600, aim: 193_200 }),
  ...both(p99, { work: `${FAN_OUT.many}, p99 at full load`, scenario: 'watch-1000', there: 92, aim: 92 / 3 }),
  ...both(rate, { work: `${FAN_OUT.few}, events`, scenario: 'watch-200', there: 70_900, aim: 106_350 }),
  ...both(p99, { work: `${FAN_OUT.few}, p99 at full load`, scenario: 'watch-200', there: 35, aim: 17.5 }),
  time({
    work: 'the last of 300 definitions of 20 KB served after',
    scenario: 'definitions',
    size: 300,
    there: 24_000,
    aim: 2000,
  }),
  memory({
    work: 'memory for a definition of 20 KB',
    scenario: 'definitions-memory',
    size: 2000,
    there: 6.3 * MB,
    aim: 0.15 * MB,
  }),
  rate('keelson', {
    work: 'create a custom object of 12.8 KB',
    scenario: 'custom-create',
    size: 3000,
    there: 143,
    aim: 1430,
  }),
  memory({
    work: 'memory for 3,000 such objects (38 MB)',
    scenario: 'custom-memory',
    size: 3000,
    there: 950 * MB,
    aim: 57 * MB,
  }),
  time({ work: 'LIST of them (35 MB)', scenario: 'custom-list', size: 3000, there: 1180, aim: 1180 / 8 }),
  time({ work: 'ready after start', scenario: 'ready', size: 0, there: 2000, aim: 600 }),
  time({ work: 'ready after start on 50,000 pods', scenario: 'restart', size: 50_000, there: undefined, aim: 2500 }),
  memory({
    work: 'anonymous memory, nothing stored',
    scenario: 'memory-empty',
    size: 0,
    there: undefined,
    aim: 150 * MB,
  }),
  memory({ work: 'anonymous memory after this load', scenario: 'memory-load', there: 1420 * MB, aim: 260 * MB }),
  memory({ work: 'anonymous memory, 10,000 pods', scenario: 'memory', size: 10_000, there: undefined, aim: 250 * MB }),
  memory({ work: 'anonymous memory, 50,000 pods', scenario: 'memory', size: 50_000, there: undefined, aim: 480 * MB }),
]

export interface Verdict {
  readonly aim: Aim
  readonly row: Row | undefined
  readonly measured: number | undefined
  /** The aim as it is for this machine; undefined where it is judged as a part. */
  readonly here: number | undefined
  readonly reached: boolean
  /** Of uWebSockets.js alone, here. */
  readonly part: number | undefined
  /** Times as good as kube-apiserver was there, by the measure of this machine. */
  readonly ofThere: number | undefined
  /** Times as good as the other server that was measured beside it. */
  readonly ofPeer: number | undefined
}

/** What this machine does of what that one did: GETs of uWebSockets.js alone, and the processor time of one. */
export interface Machine {
  readonly speed: number
  readonly slowness: number
}

export function machineOf({ rows }: Results): Machine | undefined {
  const bare = rows.find(({ scenario, size, target }) => scenario === 'get' && size === AIM_SIZE && target === 'bare')
  if (bare?.processorMicroseconds === undefined) return undefined
  return { speed: bare.value / THERE.gets, slowness: bare.processorMicroseconds / THERE_MICROSECONDS }
}

export function judge(results: Results): Verdict[] {
  const machine = machineOf(results)
  return AIMS.map((aim) => judgeOne(aim, results, machine))
}

function judgeOne(aim: Aim, { rows }: Results, machine: Machine | undefined): Verdict {
  const find = (target: TargetName): Row | undefined =>
    rows.find((row) => row.scenario === aim.scenario && row.size === aim.size && row.target === target)
  const row = find(aim.target)
  const measured = row?.[aim.figure]
  const [bare, peer] = [find('bare')?.[aim.figure], find('peer')?.[aim.figure]]
  const scale = scaleOf(aim, machine)
  const part = aim.part !== undefined && measured !== undefined && bare !== undefined ? measured / bare : undefined
  const here = part === undefined ? aim.aim * scale : undefined
  const better = (than: number | undefined): number | undefined => {
    if (measured === undefined || than === undefined) return undefined
    return aim.below ? than / measured : measured / than
  }
  const isReached = (): boolean => {
    if (measured === undefined) return false
    if (part !== undefined) return part >= aim.part!
    return aim.below ? measured <= here! : measured >= here!
  }
  return {
    ...{ aim, row, measured, here, part, reached: isReached() },
    ofThere: better(aim.there === undefined ? undefined : aim.there * scale),
    ofPeer: better(peer),
  }
}

function scaleOf({ unit }: Aim, machine: Machine | undefined): number {
  if (machine === undefined || unit === 'bytes') return 1
  return unit === 'per second' ? machine.speed : machine.slowness
}
