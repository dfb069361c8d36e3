import t from 'tap'
import {
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '#keelson/main/flow-control/bootstrap-objects.js'
import { FlowController } from '#keelson/main/flow-control/flow-controller.js'
import { Ticket } from '#keelson/main/flow-control/queue-set.js'
import { RetryAfter } from '#keelson/main/flow-control/retry-after.js'
import { allocateSeats } from '#keelson/main/flow-control/seat-allocation.js'
import { SeatDemandMeter } from '#keelson/main/flow-control/seat-demand.js'
import { ONE_SEAT } from '#keelson/main/flow-control/work-estimate.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import { FakeClock } from '../../support/fake-clock.js'

const NONE = new URLSearchParams()
const ask = (method: string, path: string) => resolveRequestInfo(method, path, NONE)
const who = (name: string, ...groups: string[]) => ({
  name,
  uid: '',
  groups: [...groups, 'system:authenticated'],
  extra: {},
})

function controller(totalSeats = 600) {
  const clock = new FakeClock()
  const flows = new FlowController({ clock, totalSeats })
  flows.configure(
    [...mandatoryPriorityLevels(), ...suggestedPriorityLevels()],
    [...suggestedFlowSchemas(), ...mandatoryFlowSchemas()],
  )
  return { clock, flows }
}

t.test('requests belong where Kubernetes puts them', async (t) => {
  const { flows } = controller()
  const node = who('system:node:n1', 'system:nodes')
  const account = who('system:serviceaccount:team:robot', 'system:serviceaccounts', 'system:serviceaccounts:team')
  const system = who('system:serviceaccount:kube-system:gc', 'system:serviceaccounts')
  const cases: [ReturnType<typeof who>, string, string, string, string][] = [
    [who('admin', 'system:masters'), 'GET', '/api/v1/pods', 'exempt', 'exempt'],
    [who('alice'), 'GET', '/healthz', 'probes', 'exempt'],
    [who('alice'), 'GET', '/readyz/ping', 'probes', 'exempt'],
    [who('alice'), 'GET', '/readyzz', 'global-default', 'global-default'],
    [
      who('system:kube-scheduler'),
      'PUT',
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x',
      'system-leader-election',
      'leader-election',
    ],
    [
      system,
      'POST',
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases',
      'system-leader-election',
      'leader-election',
    ],
    [who('system:kube-scheduler'), 'GET', '/api/v1/pods', 'kube-scheduler', 'workload-high'],
    [who('system:kube-controller-manager'), 'GET', '/api/v1/pods', 'kube-controller-manager', 'workload-high'],
    [node, 'PATCH', '/api/v1/nodes/n1/status', 'system-node-high', 'node-high'],
    [node, 'PUT', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1', 'system-node-high', 'node-high'],
    [node, 'GET', '/api/v1/pods', 'system-nodes', 'system'],
    [system, 'GET', '/api/v1/pods', 'kube-system-service-accounts', 'workload-high'],
    [account, 'GET', '/api/v1/pods', 'service-accounts', 'workload-low'],
    [who('alice'), 'GET', '/api/v1/pods', 'global-default', 'global-default'],
    [{ name: 'odd', uid: '', groups: [], extra: {} }, 'GET', '/api/v1/pods', 'catch-all', 'catch-all'],
  ]
  for (const [user, method, path, schema, level] of cases) {
    for (let i = 0; i < 2; i++) {
      const found = flows.classify(user, ask(method, path))
      t.equal(found.schemaName, schema, `${user.name} ${method} ${path}`)
      t.equal(found.level.name, level)
    }
  }
})

t.test('flows are told apart by user or by namespace', async (t) => {
  const { flows } = controller()
  const pods = ask('GET', '/api/v1/namespaces/a/pods')
  const hand = (user: ReturnType<typeof who>, info = pods) => flows.classify(user, info).flow.hand
  t.same(hand(who('alice')), hand(who('alice')))
  t.notSame(hand(who('alice')), hand(who('bob')))
  const scheduler = who('system:kube-scheduler')
  t.notSame(hand(scheduler), hand(scheduler, ask('GET', '/api/v1/namespaces/b/pods')))
})

t.test('the mandatory ones are there without their objects', async (t) => {
  const flows = new FlowController({ clock: new FakeClock(), totalSeats: 600 })
  t.same([...flows.levels.keys()].sort(), ['catch-all', 'exempt'])
  t.same(flows.schemaNames, ['exempt', 'catch-all'])
  t.equal(flows.classify(who('admin', 'system:masters'), ask('GET', '/x')).level.name, 'exempt')
  t.equal(flows.classify(who('alice'), ask('GET', '/x')).level.name, 'catch-all')
})

t.test('schemas of a missing level, and levels that make no sense, are left out', async (t) => {
  const { flows } = controller()
  const [dangling] = suggestedFlowSchemas()
  const broken = { metadata: { name: 'broken' }, spec: { type: 'Limited' } }
  flows.configure([broken, ...mandatoryPriorityLevels()], [dangling!, ...mandatoryFlowSchemas()])
  t.same(flows.schemaNames, ['exempt', 'catch-all'])
  t.notOk(flows.levels.has('broken'))
  t.notOk(flows.levels.has('system'), 'and an idle level that nobody wants goes')
})

t.test('a level that goes while it is in use stays until it is empty', async (t) => {
  const { flows } = controller()
  const found = flows.classify(who('alice'), ask('GET', '/x'))
  const ticket = found.level.queues.enter(found.flow, ONE_SEAT, () => undefined)
  flows.configure(mandatoryPriorityLevels(), mandatoryFlowSchemas())
  t.ok(flows.levels.get('global-default')?.quiescing)
  t.equal(flows.classify(who('alice'), ask('GET', '/x')).level.name, 'catch-all')
  found.level.queues.leave(ticket as Ticket)
  flows.adjust()
  t.notOk(flows.levels.has('global-default'))
})

t.test('seats by shares, of all in-flight requests together', async (t) => {
  const { flows } = controller()
  const limits = Object.fromEntries(
    [...flows.levels.values()].map((level) => [
      level.name,
      [level.nominalSeats, level.lowerSeats, level.maxRequestSeats],
    ]),
  )
  t.same(limits, {
    exempt: [0, 0, 0],
    'catch-all': [13, 13, 0],
    system: [74, 50, 12],
    'node-high': [98, 73, 15],
    'leader-election': [25, 25, 4],
    'workload-high': [98, 49, 15],
    'workload-low': [245, 24, 37],
    'global-default': [49, 24, 8],
  })
})

t.test('who needs seats borrows those that others lend, and gives them back', async (t) => {
  const { flows, clock } = controller()
  const level = flows.levels.get('global-default')!
  const found = flows.classify(who('alice'), ask('GET', '/x'))
  const tickets: Ticket[] = []
  const take = (outcome: unknown): void => {
    if (outcome instanceof Ticket) tickets.push(outcome)
  }
  for (let i = 0; i < 300; i++) take(level.queues.enter(found.flow, ONE_SEAT, take))
  const before = tickets.length
  t.ok(before >= 24 && before < 80, `${before} entered at once`)
  await clock.advance(10_000)
  flows.adjust()
  t.ok(tickets.length > 200, `${tickets.length} after lending`)
  let sum = 0
  for (const one of flows.levels.values()) {
    sum += one.currentSeats
    t.ok(one.currentSeats >= one.lowerSeats, `${one.name} keeps what it does not lend`)
    t.ok(one.currentSeats <= one.upperSeats)
  }
  t.ok(Math.abs(sum - 602) <= 4, `${sum} seats in all`)
  for (const ticket of tickets) level.queues.leave(ticket)
  for (let i = 0; i < 300; i++) {
    await clock.advance(10_000)
    flows.adjust()
  }
  t.ok(level.currentSeats < 120, `${level.currentSeats} when the demand is long gone`)
})

t.test('allocation: in proportion, within bounds, adding up', async (t) => {
  const free = allocateSeats(100, [
    { lower: 0, upper: 1000, target: 10 },
    { lower: 0, upper: 1000, target: 30 },
  ])
  t.same(free.seats.map(Math.round), [25, 75])
  const bound = allocateSeats(100, [
    { lower: 40, upper: 1000, target: 40 },
    { lower: 0, upper: 30, target: 100 },
    { lower: 0, upper: 1000, target: 20 },
  ])
  t.same(bound.seats.map(Math.round), [47, 30, 23])
  t.same(allocateSeats(10, [{ lower: 20, upper: 30, target: 20 }]).seats, [20], 'what cannot be is as near as can be')
  t.same(allocateSeats(100, [{ lower: 20, upper: 30, target: 20 }]).seats, [30])
})

t.test('demand: average, deviation, peak, and a slow way down', async (t) => {
  const meter = new SeatDemandMeter(0)
  meter.set(10, 0)
  meter.set(0, 5000)
  meter.endPeriod(10_000)
  t.equal(meter.highWatermark, 10)
  t.equal(meter.average, 5)
  t.equal(meter.standardDeviation, 5)
  t.equal(meter.smoothed, 10)
  meter.endPeriod(20_000)
  t.equal(meter.highWatermark, 0)
  t.ok(meter.smoothed > 9 && meter.smoothed < 10)
})

t.test('the more are refused, the longer they are told to stay away', async (t) => {
  const retry = new RetryAfter()
  t.equal(retry.seconds, 1)
  let nowMs = 1_000_000
  for (let second = 0; second < 120; second++) {
    for (let i = 0; i < 200; i++) retry.refused(nowMs)
    nowMs += 1000
  }
  t.equal(retry.seconds, 32)
  for (let second = 0; second < 40; second++) {
    nowMs += 40_000
    retry.refused(nowMs)
  }
  t.equal(retry.seconds, 1)
})
