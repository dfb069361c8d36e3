/** Question: what does flow control add to a request that nobody keeps waiting? Workload: classify, enter, leave; one thread. */
import { systemClock } from '#keelson/lib/clock.js'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '#keelson/main/flow-control/bootstrap-objects.js'
import { FairGate } from '#keelson/main/flow-control/fair-gate.js'
import { FlowController } from '#keelson/main/flow-control/flow-controller.js'
import { WatchCounts } from '#keelson/main/flow-control/watch-counts.js'
import { BulkTurns } from '#keelson/main/http/bulk-turns.js'
import type { GatedRequest, Leave } from '#keelson/main/request/request-gate.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import { cpuTime } from './cpu-time.js'

const QUERY = new URLSearchParams()
const nothing = (): void => undefined
const TIMES = 20

function request(name: string, groups: readonly string[], path: string): GatedRequest {
  return {
    info: resolveRequestInfo('GET', path, QUERY),
    query: QUERY,
    user: { name, uid: '', groups: [...groups, 'system:authenticated'], extra: {} },
    mutating: false,
    longRunning: false,
    onGone: nothing,
    addResponseHeaders: nothing,
  }
}

export async function run(): Promise<{ name: string; figure: string }[]> {
  const controller = new FlowController({ clock: systemClock, totalSeats: 600 })
  controller.configure(
    [...mandatoryPriorityLevels(), ...suggestedPriorityLevels()],
    [...mandatoryFlowSchemas(), ...suggestedFlowSchemas()],
  )
  const gate = new FairGate({
    controller,
    clock: systemClock,
    turns: new BulkTurns(),
    requestTimeoutMs: 60_000,
    watchCounts: new WatchCounts(),
    listSize: () => ({ objects: 1000, averageBytes: 4000 }),
  })
  const pass = (one: GatedRequest): string => {
    const microseconds = cpuTime(() => {
      for (let i = 0; i < TIMES; i++) (gate.enter(one) as Leave)()
    })
    return `${(microseconds / TIMES).toFixed(2)} µs`
  }
  const pod = '/api/v1/namespaces/default/pods/p'
  const fresh = (): string => {
    const microseconds = cpuTime(() => {
      for (let i = 0; i < TIMES; i++) (gate.enter(request('alice', ['dev'], pod)) as Leave)()
    })
    return `${(microseconds / TIMES).toFixed(2)} µs`
  }
  return [
    { name: 'get, an ordinary user', figure: pass(request('alice', ['dev'], pod)) },
    { name: 'get, exempt', figure: pass(request('admin', ['system:masters'], pod)) },
    { name: 'list, an ordinary user', figure: pass(request('alice', ['dev'], '/api/v1/pods')) },
    { name: 'get, a user seen for the first time', figure: fresh() },
  ]
}
