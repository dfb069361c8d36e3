/** What came of an attack: a table of figures, and what makes it a failure. */
import type { AttackLog } from './attack.js'
import { type QuietReport, unexplainedMs } from './quiet-process.js'
import type { ServerFigures } from './server-watch.js'

export interface Outcome {
  readonly seed: number
  readonly seconds: number
  readonly attackers: readonly string[]
  readonly log: AttackLog
  readonly figures: ServerFigures
  /** Undefined: the quiet client never came to its end. */
  readonly quiet: QuietReport | undefined
  readonly errors: readonly string[]
  /** What was not as it was before. */
  readonly touched: readonly string[]
  /** Requests that reached the kubelet which nobody may reach. */
  readonly trapped: readonly string[]
  /** How the server ended before it was told to. */
  readonly died: string | undefined
  readonly answersAfter: boolean
  readonly ended: string
}

const HANG_MS = 1000
/** Caches and heaps are still warming up in a short run: what may be added to the warm level then, and in a long one. */
const SHORT_SECONDS = 240
const SLACK_MIB = { short: 256, long: 96 }
const GROWTH = 1.15

/** Above this the last third has grown. */
export const memoryBoundMiB = (warmMiB: number, seconds: number): number =>
  warmMiB * GROWTH + (seconds < SHORT_SECONDS ? SLACK_MIB.short : SLACK_MIB.long)

/** Nothing: it held. */
export function failures(outcome: Outcome): string[] {
  const { log, figures, quiet, errors, touched, trapped, died, answersAfter, ended, seconds } = outcome
  const failed: string[] = []
  if (died !== undefined) failed.push(`the server ended by itself: ${died}`)
  if (log.wrongs > 0) failed.push(`${log.wrongs} wrong answers to attackers`)
  if (quiet === undefined) failed.push('the quiet client did not come to its end')
  else if (quiet.wrongCount > 0) failed.push(`${quiet.wrongCount} wrong answers to the quiet client`)
  const hangs = quiet?.stalls.filter((stall) => unexplainedMs(stall) > HANG_MS) ?? []
  if (hangs.length > 0) failed.push(`${hangs.length} hangs that the machine does not explain`)
  const bound = memoryBoundMiB(figures.warmMiB, seconds)
  if (figures.lastMiB > bound) failed.push(`memory grew: ${figures.lastMiB.toFixed(0)} MiB, bound ${bound.toFixed(0)}`)
  if (errors.length > 0) failed.push(`${errors.length} errors in the log`)
  if (touched.length > 0) failed.push(`changed without a right: ${touched.join('; ')}`)
  if (trapped.length > 0) failed.push(`${trapped.length} requests reached a kubelet without a right`)
  if (!answersAfter) failed.push('the server did not answer after the attack')
  if (ended !== 'code 0, signal null') failed.push(`SIGTERM: ${ended}`)
  return failed
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`

export function table(outcome: Outcome): string {
  const { quiet, figures, seconds } = outcome
  const rows: [string, string][] = [['attack', `${seconds} s, seed ${outcome.seed}: ${outcome.attackers.join(', ')}`]]
  if (quiet !== undefined) rows.push(...quietRows(quiet))
  const bound = memoryBoundMiB(figures.warmMiB, seconds)
  rows.push(
    [
      'memory',
      `warm ${figures.warmMiB.toFixed(0)} MiB, last third ${figures.lastMiB.toFixed(0)}, most ${figures.mostMiB.toFixed(0)}; bound ${bound.toFixed(0)}`,
    ],
    ['attackers', `held ${outcome.log.heldMiB.toFixed(0)} MiB themselves at most`],
    ['open files', `most ${figures.mostFiles}`],
    ['event loops, p99', [...figures.loopDelayMs].map(([thread, delay]) => `${thread} ${ms(delay)}`).join(', ')],
    ['log', `${outcome.errors.length} errors`],
    ['SIGTERM', outcome.ended],
  )
  for (const [name, count] of [...outcome.log.counts].sort()) rows.push([name, String(count)])
  for (const [name, { ms: took, request }] of outcome.log.slowest)
    rows.push([`${name} slowest`, `${ms(took)}: ${JSON.stringify(request)}`])
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

function quietRows(quiet: QuietReport): [string, string][] {
  const { latencies, eventLatencies, stalls } = quiet
  const longest = [...stalls].sort((a, b) => unexplainedMs(b) - unexplainedMs(a))[0]
  return [
    [
      'quiet client',
      `${latencies.length} requests, ${quiet.writes} objects, ${quiet.watches} watches, ${quiet.refusals} × 429`,
    ],
    [
      'quiet latency',
      `p50 ${ms(quantile(latencies, 0.5))}, p99 ${ms(quantile(latencies, 0.99))}, longest ${ms(quantile(latencies, 1))}`,
    ],
    [
      'quiet events',
      `${eventLatencies.length} in order, p99 ${ms(quantile(eventLatencies, 0.99))}, longest ${ms(quantile(eventLatencies, 1))}`,
    ],
    ['control timer', `longest ${ms(quiet.timerLateMs)} late`],
    [
      'stalls over 1 s',
      longest === undefined
        ? 'none'
        : `${stalls.length}; most unexplained: ${longest.what} took ${ms(longest.tookMs)}, timer ${ms(longest.timerLateMs)} late, threads without a processor ${ms(longest.unscheduledMs)}, busiest thread ran ${ms(longest.ranMs)}`,
    ],
  ]
}

/** Everything that is to be looked at, in words. */
export const details = ({ log, quiet, errors, trapped }: Outcome): string[] => [
  ...log.findings.map((finding) => `attackers: ${finding}`),
  ...(quiet?.wrongs ?? []).map((wrong) => `quiet client: ${wrong}`),
  ...errors.slice(0, 20).map((line) => `log: ${line.slice(0, 600)}`),
  ...trapped.slice(0, 20).map((line) => `trap: ${line}`),
]
