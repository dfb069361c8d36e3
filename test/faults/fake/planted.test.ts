/** The load and the checks of the fault runs, on a server that is right and on ones with a bug: each bug must be found. */
import t from 'tap'
import { pause } from '../../attack/attack.js'
import type { Violation } from '../check/history.js'
import { check } from '../check/verdict.js'
import { ServerAddress } from '../load/http-exchange.js'
import { Recorder } from '../load/recorder.js'
import { CHECKS, Workload } from '../load/workload.js'
import { FakeServer } from './fake-server.js'
import { BUGS, type Bug } from './planted.js'

/** What each bug is found as, at least. */
const FOUND_AS: Readonly<Record<Bug, string>> = {
  'stale read': 'linearizable',
  'lost write': 'linearizable',
  'double swap': 'linearizable',
  'false conflict': 'linearizable',
  'deleted comes back': 'linearizable',
  'watch gap': 'reliable',
  'watch duplicate': 'unique',
  'watch reordered': 'ordered',
  'watch type': 'types',
  'early bookmark': 'bookmarkable',
  'resumed too late': 'reliable',
  'initial event missing': 'initial',
  'reordered page': 'pages',
  'page of another revision': 'one revision',
  'stale list': 'real time',
  'list with a gap': 'one revision',
  'old list': 'not older',
  'servers disagree': 'linearizable',
  'address twice': 'allocation',
  'over quota': 'quota',
}

/** Most bugs are found within the first number of requests; one that is not gets a longer load, up to three times. */
const REQUESTS = [400, 1200, 3000, 9000]

async function violations(requests: number, bug?: Bug): Promise<{ found: readonly Violation[]; recorder: Recorder }> {
  const server = new FakeServer(bug)
  const url = await server.listen()
  const recorder = new Recorder()
  const servers = ['a', 'b'].map((name) => new ServerAddress(name, url))
  const workload = new Workload({
    servers,
    recorder,
    seed: 3,
    families: false,
    widgets: false,
    pauseMs: 8,
    patienceMs: 10_000,
  })
  const over = new AbortController()
  await workload.prepare()
  const running = workload.run(over.signal)
  while (recorder.requests < requests) await pause(20, over.signal)
  over.abort()
  await running
  await workload.finish()
  await server.close()
  return { found: check(recorder.records, CHECKS), recorder }
}

t.test('nothing is found at a server that is right, though it cuts connections', async (t) => {
  const { found, recorder } = await violations(REQUESTS[1]!)
  t.same(found, [])
  t.ok(recorder.unknown > 5, `${recorder.unknown} writes were not answered`)
  t.ok(recorder.acknowledged > 150, `${recorder.acknowledged} writes were answered`)
  t.ok(recorder.watchEvents > 300, `${recorder.watchEvents} events`)
})

for (const bug of BUGS)
  t.test(`found: ${bug}`, async (t) => {
    let properties: string[] = []
    for (const requests of REQUESTS) {
      const { found } = await violations(requests, bug)
      properties = [...new Set(found.map(({ property }) => property))]
      if (properties.includes(FOUND_AS[bug])) break
    }
    t.ok(properties.includes(FOUND_AS[bug]), `as ${properties.join(', ') || 'nothing'}`)
  })
