/** One run: a rig, the load, the faults of a seed, then everything is healed and the history is checked. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Random } from '../support/fuzz.js'
import { toLines, type Violation } from './check/history.js'
import { check } from './check/verdict.js'
import { ServerAddress } from './load/http-exchange.js'
import { Recorder } from './load/recorder.js'
import { Webhook } from './load/webhook.js'
import { CHECKS, PAUSE_MS, Workload } from './load/workload.js'
import { hasTls, type PlannedFault, planOf, told } from './plan.js'
import { AwakeClock } from './rig/awake-clock.js'
import { leftovers } from './rig/leftovers.js'
import { Rig, type StorageKind } from './rig/rig.js'

export interface RunOptions {
  readonly seed: number
  readonly seconds: number
  readonly storage: StorageKind
  /** Names of faults; none: all of them. */
  readonly only: readonly string[]
  /** What is kept of a failed run goes below it. */
  readonly keep: string
  /** Between two requests of a client, at most. */
  readonly pauseMs?: number
  /** Data lies on disks of their own that can be filled: for root alone. */
  readonly smallDisks?: boolean
}

export interface Outcome {
  readonly seed: number
  readonly plan: readonly PlannedFault[]
  readonly requests: number
  readonly acknowledged: number
  readonly unknown: number
  readonly watchEvents: number
  /** The run itself could not be brought to its end. */
  readonly broken: string | undefined
  readonly violations: readonly Violation[]
  /** Where history and logs are, of a failed run. */
  readonly kept: string | undefined
}

export async function runFaults({
  seed,
  seconds,
  storage,
  only,
  keep,
  pauseMs = PAUSE_MS,
  smallDisks = false,
}: RunOptions): Promise<Outcome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-faults-'))
  const removed = leftovers.add(() =>
    // Processes that were just killed may still be at it.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  )
  const plan = planOf(seed, seconds, storage, only)
  const recorder = new Recorder()
  let violations: Violation[] = []
  let broken: string | undefined
  try {
    violations = await lived(folder, plan, recorder, {
      seed,
      seconds,
      storage,
      pauseMs,
      smallDisks,
      tls: hasTls(seed, only),
    })
  } catch (error) {
    broken = error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
  const isFailed = broken !== undefined || violations.length > 0
  const kept = isFailed ? path.join(keep, `${storage}-${seed}`) : undefined
  if (kept !== undefined) keepRun(kept, { folder, plan, recorder, violations, broken })
  rmSync(folder, { recursive: true, force: true })
  removed()
  const { requests, acknowledged, unknown, watchEvents } = recorder
  return { seed, plan, requests, acknowledged, unknown, watchEvents, broken, violations, kept }
}

interface LivedOptions extends Required<Omit<RunOptions, 'only' | 'keep'>> {
  readonly tls: boolean
}

async function lived(
  folder: string,
  plan: readonly PlannedFault[],
  recorder: Recorder,
  { seed, seconds, storage, pauseMs, smallDisks, tls }: LivedOptions,
): Promise<Violation[]> {
  const webhook = await Webhook.open()
  const rig = await Rig.start({ storage, folder, smallDisks, tls, webhookPort: webhook.port })
  const clock = AwakeClock.start()
  const over = new AbortController()
  let workload: Workload | undefined
  try {
    const servers = rig.servers.map(({ name, url, credentials }) => new ServerAddress(name, url, credentials))
    const asked = { webhook, port: rig.webhookLink.port }
    workload = new Workload({ servers, recorder, seed, families: true, widgets: true, webhook: asked, pauseMs })
    await workload.prepare()
    const running = workload.run(over.signal)
    await Promise.all([inflict(rig, plan, clock), clock.sleep(seconds * 1000)])
    over.abort()
    await rig.heal()
    await running
    const problems = await workload.finish()
    const ended = rig.unexpected.map((what) => ({ property: 'runs on', what }))
    return [...check(recorder.records, CHECKS), ...problems.map((what) => ({ property: 'at the end', what })), ...ended]
  } finally {
    clock.stop()
    over.abort()
    await workload?.abandon()
    await rig.stop()
    await webhook.close()
  }
}

/** Each fault in its time; one that is still there when the next begins goes on beside it. */
async function inflict(rig: Rig, plan: readonly PlannedFault[], clock: AwakeClock): Promise<void> {
  await Promise.all(
    plan.map(async ({ fault, atMs, forMs, seed }) => {
      await clock.sleep(atMs)
      const end = await fault.begin(rig, new Random(seed))
      await clock.sleep(forMs)
      await end()
    }),
  )
}

interface FailedRun extends Pick<Outcome, 'plan' | 'violations' | 'broken'> {
  readonly folder: string
  readonly recorder: Recorder
}

function keepRun(kept: string, { folder, plan, recorder, violations, broken }: FailedRun): void {
  mkdirSync(kept, { recursive: true })
  writeFileSync(path.join(kept, 'history.jsonl'), toLines(recorder.records))
  const words = [told(plan), broken ?? '', ...violations.map(({ property, what }) => `${property}: ${what}`)]
  writeFileSync(path.join(kept, 'verdict.txt'), `${words.join('\n')}\n`)
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.log')))
    copyFileSync(path.join(folder, name), path.join(kept, name))
}
