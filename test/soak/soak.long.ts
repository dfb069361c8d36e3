/**
 * Half an hour of mixed load: the server holds at the end what it held after five minutes, and its front ends never stand still.
 * KEELSON_SOAK_MINUTES=3 tries it in short, with every part of the time as much shorter; KEELSON_SOAK_FLAGS gives the server flags.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { AttackedServer } from '../attack/attacked-server.js'
import { SoakLoad } from './soak-load.js'
import { SoakProbe } from './soak-probe.js'

const TOTAL_MINUTES = 30
const MINUTES = Number(process.env['KEELSON_SOAK_MINUTES'] ?? TOTAL_MINUTES)
/** How long a minute of the whole half hour is here. */
const MINUTE_MS = (MINUTES * 60_000) / TOTAL_MINUTES
const WARM_MINUTES = 5
/** Memory is compared by the median of so long a time. */
const LOOK_MINUTES = 1
const MOST_GROWTH = 1.1
const MOST_DELAY_MS = 100
/** What a scrape in this time tells of may have been at the start, when nothing was compiled. */
const START_MS = 10_000
const STOP_WITHIN_MS = 120_000
const FLAGS = [
  '--front-ends=2',
  // Pods without an account: what is looked at is the load, not the controller that makes accounts.
  '--disable-admission-plugins=ServiceAccount',
  // The history on disk is as long after five minutes as at the end.
  '--etcd-compaction-interval=1m',
  ...(process.env['KEELSON_SOAK_FLAGS'] ?? '').split(' ').filter((flag) => flag !== ''),
]

const TITLE = `${MINUTES} minutes of mixed load leave memory as it was and no front end standing`
const skip = process.platform === 'linux' ? false : 'memory and delays are read from /proc'

t.test(TITLE, { skip }, async (t: Test) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-soak-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const server = await AttackedServer.start(folder, FLAGS)
  t.teardown(() => server.stop(STOP_WITHIN_MS))
  const load = new SoakLoad(server)
  const probe = new SoakProbe(server)
  await load.start()
  await probe.start()
  for (let minute = 0; minute < TOTAL_MINUTES && server.ended === undefined; minute++) {
    await delay(MINUTE_MS)
    const { anonymousMiB, residentMiB } = probe.memoryBetween(minute * MINUTE_MS, (minute + 1) * MINUTE_MS)
    t.comment(`minute ${minute + 1}: ${anonymousMiB.toFixed(0)} MiB anonymous, ${residentMiB.toFixed(0)} resident`)
  }
  const endMs = TOTAL_MINUTES * MINUTE_MS
  probe.stop()
  await load.stop()
  t.equal(server.ended, undefined, 'the server runs')
  t.comment(JSON.stringify(Object.fromEntries(load.done)))
  t.same(load.wrong, [], 'every request was answered as it should be')
  t.same(server.errors, [], 'the server had no errors to log')

  const warm = probe.memoryBetween((WARM_MINUTES - LOOK_MINUTES) * MINUTE_MS, WARM_MINUTES * MINUTE_MS)
  const last = probe.memoryBetween(endMs - LOOK_MINUTES * MINUTE_MS, endMs)
  for (const kind of ['anonymousMiB', 'residentMiB'] as const) {
    const growth = last[kind] / warm[kind]
    const said = `${kind}: ${warm[kind].toFixed(0)} after ${WARM_MINUTES} minutes, ${last[kind].toFixed(0)} at the end`
    t.ok(growth <= MOST_GROWTH, `${said}: ${((growth - 1) * 100).toFixed(1)} % more`)
  }

  // With threads for front ends main is none.
  const front = [...probe.threads].filter((thread) => thread.startsWith('front-end'))
  t.equal(front.length, 2, `delays of ${[...probe.threads].join(', ')} were seen`)
  for (const { thread, atMs, delayMs, unscheduledMs } of probe.delays)
    t.comment(
      `${thread} at ${(atMs / 1000).toFixed(0)} s: ${delayMs.toFixed(0)} ms late, of them ${unscheduledMs.toFixed(0)} without a processor`,
    )
  const own = probe.delays
    .filter(({ thread, atMs }) => front.includes(thread) && atMs > START_MS)
    .map((seen) => ({ ...seen, ownMs: seen.delayMs - seen.unscheduledMs }))
  t.same(
    own.filter(({ ownMs }) => ownMs > MOST_DELAY_MS),
    [],
    `no front end stood still for more than ${MOST_DELAY_MS} ms: ${Math.max(0, ...own.map(({ ownMs }) => ownMs)).toFixed(0)} at most`,
  )
})
