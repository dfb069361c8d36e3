import t, { type Test } from 'tap'
import type { ServiceSpec } from '#keelson/api/generated/kinds/core.v1.js'
import { IPRange } from '#keelson/api/network/ip-range.js'
import { formatPortRange, parsePortRange } from '#keelson/api/network/port-range.js'
import { isStatusError } from '#keelson/api/status.js'
import { parseCidr } from '#keelson/api/validation/addresses.js'
import { AllocationBitmap } from '#keelson/registry/core/services/allocator/allocation-bitmap.js'
import { FakeClock } from '../../../support/fake-clock.js'
import { FaultyKV } from '../../../support/faulty-kv.js'
import { MemoryKV } from '../../../support/memory-kv.js'
import { type FixtureOptions, ServiceFixture } from './service-fixture.js'

const PORTS = [{ port: 80 }]

async function open(options: Partial<FixtureOptions> = {}) {
  const clock = new FakeClock()
  const kv = new FaultyKV(new MemoryKV(clock))
  const services = new ServiceFixture({ kv, clock, ...options })
  await services.repairPorts.runOnce(new Map())
  const peer = (more: Partial<FixtureOptions> = {}) => new ServiceFixture({ kv, clock, ...options, ...more })
  return { kv, clock, services, peer }
}

const rejectsWith = async (promise: Promise<unknown>, reason: string, text: RegExp, t: Test): Promise<void> => {
  try {
    await promise
    t.fail(`expected ${reason}`)
  } catch (error) {
    t.ok(isStatusError(error, reason as 'Invalid'), String(error))
    t.match((error as Error).message, text)
  }
}

t.test('a bitmap has the bytes of one large integer, and prefers its upper band', async (t) => {
  const bitmap = new AllocationBitmap(20, 4)
  t.equal(bitmap.toBytes().length, 0, 'nothing taken, no bytes')
  bitmap.take(0)
  bitmap.take(9)
  t.same([...bitmap.toBytes()], [0b10, 0b1])
  t.same([...new AllocationBitmap(20, 4, bitmap.toBytes())], [0, 9])
  t.notOk(bitmap.take(9))
  const given = Array.from({ length: 15 }, () => bitmap.takeNext(Math.random)!)
  t.ok(
    given.every((n) => n >= 4),
    'the upper band first',
  )
  t.same(Array.from({ length: 3 }, () => bitmap.takeNext(Math.random)).sort(), [1, 2, 3])
  t.equal(bitmap.takeNext(Math.random), undefined)
  bitmap.release(9)
  t.equal(bitmap.takeNext(Math.random), 9)
})

t.test(
  'a range gives every address once, neither its first nor the one for broadcasts, the upper band first',
  async (t) => {
    const range = new IPRange(parseCidr('10.0.0.0/24')!)
    const all = [...range.candidates(Math.random)]
    const last = (ip: string): number => Number(ip.split('.')[3])
    t.equal(new Set(all).size, 254)
    t.ok(all.slice(0, 238).every((ip) => last(ip) > 16))
    t.same([range.firstAddress, range.networkAddress], ['10.0.0.1', '10.0.0.0'])
    t.equal([...new IPRange(parseCidr('10.0.0.0/28')!).candidates(Math.random)].length, 14)
    const six = new IPRange(parseCidr('fd00:1::/64')!)
    const [first] = six.candidates(Math.random)
    t.match(first, /^fd00:1::/)
    t.equal(six.firstAddress, 'fd00:1::1')
    const large = new IPRange(parseCidr('10.0.0.0/12')!)
    t.equal(large.candidates(() => 0).next().value, '10.0.1.1', 'the band is never more than 256')
  },
)

t.test('ranges of ports are read as flags write them', async (t) => {
  t.same(parsePortRange('30000-32767'), { base: 30000, size: 2768 })
  t.same(parsePortRange('30000+2'), { base: 30000, size: 3 })
  t.equal(formatPortRange({ base: 30000, size: 2768 }), '30000-32767')
  for (const wrong of ['', 'a-b', '10-9', '1-70000']) t.equal(parsePortRange(wrong), undefined, wrong)
})

t.test('a service gets an address, gives it back when it goes, and may ask for one', async (t) => {
  const { services } = await open()
  const a = await services.create('a', { ports: PORTS })
  t.match(a, { clusterIPs: [a.clusterIP], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
  t.same((await services.taken()).addresses, [a.clusterIP])
  await rejectsWith(services.create('b', { ports: PORTS, clusterIP: a.clusterIP! }), 'Invalid', /already allocated/, t)
  await rejectsWith(services.create('b', { ports: PORTS, clusterIP: '192.168.0.1' }), 'Invalid', /does not match/, t)
  await services.delete('a')
  t.same((await services.taken()).addresses, [])
  t.equal((await services.create('b', { ports: PORTS, clusterIP: a.clusterIP! })).clusterIP, a.clusterIP)
})

t.test('what is taken for a write that fails is given back', async (t) => {
  const { services } = await open()
  await services.create('a', { type: 'NodePort', ports: PORTS })
  const before = await services.taken()
  await rejectsWith(services.create('a', { type: 'NodePort', ports: PORTS }), 'AlreadyExists', /exists/, t)
  const invalid: ServiceSpec = { type: 'NodePort', ports: [{ port: 0 }] }
  await rejectsWith(services.create('b', invalid), 'Invalid', /port/, t)
  const taken = { type: 'NodePort', ports: [{ port: 80, nodePort: before.ports[0]! }] }
  await rejectsWith(services.create('c', taken), 'Invalid', /port is already allocated/, t)
  const outside = { type: 'NodePort', ports: [{ port: 80 }, { port: 81, name: 'b', nodePort: 1 }] }
  await rejectsWith(services.create('c', outside), 'Invalid', /not in the valid range/, t)
  await rejectsWith(
    services.update('a', (spec) => {
      spec.ports = [{ port: 80 }, { port: 0, name: 'x' }]
    }),
    'Invalid',
    /port/,
    t,
  )
  t.same(await services.taken(), before)
})

t.test('a write of which nobody knows whether it happened keeps what it took', async (t) => {
  const { kv, services } = await open()
  // The address, the ports, then the service itself, whose answer is lost.
  let puts = 0
  kv.interfere = (call) => {
    if (call === 'put' && ++puts === 3) kv.failNext({ call: 'put', when: 'after' })
  }
  await t.rejects(services.create('a', { type: 'NodePort', ports: PORTS }))
  const { addresses, ports } = await services.taken()
  t.same([addresses.length, ports.length], [1, 1], 'the service is there, and so is what it has')
})

t.test('a dry run takes nothing', async (t) => {
  const { services } = await open()
  const spec = await services.create('a', { type: 'NodePort', ports: PORTS }, true)
  t.same([spec.clusterIP, spec.ports?.[0]?.nodePort], ['10.0.0.0', 32769])
  await services.create('b', { type: 'NodePort', ports: PORTS })
  const before = await services.taken()
  await services.update('b', (changed) => Object.assign(changed, { type: 'ExternalName', externalName: 'x.y' }), true)
  await services.delete('b', true)
  t.same(await services.taken(), before)
})

t.test('types come and go: each takes what it needs and gives up what it does not', async (t) => {
  const { services } = await open()
  const created = await services.create('a', { ports: PORTS })
  const address = created.clusterIP!
  const nodePort = await services.update('a', (spec) => Object.assign(spec, { type: 'NodePort' }))
  const port = nodePort.ports?.[0]?.nodePort ?? 0
  t.same(await services.taken(), { addresses: [address], ports: [port] })
  const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
  const balancer = await services.update('a', (spec) => Object.assign(spec, local))
  t.same((await services.taken()).ports, [port, balancer.healthCheckNodePort!].sort())
  const resent = await services.update('a', (spec) => {
    spec.ports = [{ port: 80 }]
    delete spec.clusterIP
    delete spec.clusterIPs
    delete spec.healthCheckNodePort
  })
  t.match(resent, {
    clusterIP: address,
    ports: [{ nodePort: port }],
    healthCheckNodePort: balancer.healthCheckNodePort,
  })
  await services.update('a', (spec) => {
    spec.type = 'ClusterIP'
    delete spec.externalTrafficPolicy
  })
  t.same(await services.taken(), { addresses: [address], ports: [] })
  const external = await services.update('a', (spec) =>
    Object.assign(spec, { type: 'ExternalName', externalName: 'example.com' }),
  )
  t.match([external.clusterIP, external.internalTrafficPolicy], [undefined, undefined])
  t.same(await services.taken(), { addresses: [], ports: [] })
  const again = await services.update('a', (spec) => {
    spec.type = 'ClusterIP'
    delete spec.externalName
  })
  t.same((await services.taken()).addresses, [again.clusterIP])
})

t.test('ports of one number share a port of the node; others have their own', async (t) => {
  const { services } = await open()
  const dns = (protocol: string) => ({ name: protocol.toLowerCase(), port: 53, protocol })
  const shared = await services.create('dns', { type: 'NodePort', ports: [dns('TCP'), dns('UDP')] })
  t.equal(shared.ports?.[0]?.nodePort, shared.ports?.[1]?.nodePort)
  t.equal((await services.taken()).ports.length, 1)
  await services.delete('dns')
  t.same((await services.taken()).ports, [])
  const none = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: PORTS }
  t.equal((await services.create('lb', none)).ports?.[0]?.nodePort, undefined)
})

t.test('two families: asked for, preferred, added and given up', async (t) => {
  const { services, peer } = await open({ cidrs: ['10.0.0.0/24', 'fd00::/112'] })
  const both = await services.create('both', { ports: PORTS, ipFamilyPolicy: 'RequireDualStack' })
  t.same(both.ipFamilies, ['IPv4', 'IPv6'])
  t.equal(both.clusterIPs?.length, 2)
  t.match(both.clusterIPs?.[1], /^fd00::/)
  const six = await services.create('six', { ports: PORTS, ipFamilies: ['IPv6'] })
  t.match(six.clusterIP, /^fd00::/)
  const headless = await services.create('none', { ports: PORTS, clusterIP: 'None' })
  t.match(headless, { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' })
  t.equal((await services.taken()).addresses.length, 3)
  const one = await services.update('both', (spec) => Object.assign(spec, { ipFamilyPolicy: 'SingleStack' }))
  t.same([one.clusterIPs, one.ipFamilies], [[both.clusterIP], ['IPv4']])
  t.equal((await services.taken()).addresses.length, 2)
  const two = await services.update('six', (spec) => Object.assign(spec, { ipFamilyPolicy: 'PreferDualStack' }))
  t.same(two.ipFamilies, ['IPv6', 'IPv4'])
  t.equal(two.clusterIPs?.length, 2)
  await rejectsWith(
    services.update('six', (spec) => Object.assign(spec, { clusterIPs: [spec.clusterIP!] })),
    'Invalid',
    /SingleStack/,
    t,
  )
  const single = peer({ cidrs: ['10.0.0.0/24'] })
  await rejectsWith(
    single.create('x', { ports: PORTS, ipFamilyPolicy: 'RequireDualStack' }),
    'Invalid',
    /not configured for dual-stack/,
    t,
  )
})

t.test('processes that share a store never give one address or port twice, down to the last', async (t) => {
  const { services, peer } = await open({ cidrs: ['10.0.0.0/26'] })
  const all = [services, peer(), peer(), peer()]
  const made = await Promise.all(
    Array.from({ length: 62 }, (_, i) => all[i % 4]!.create(`s${i}`, { type: 'NodePort', ports: PORTS })),
  )
  t.equal(new Set(made.map(({ clusterIP }) => clusterIP)).size, 62)
  t.equal(new Set(made.map(({ ports }) => ports?.[0]?.nodePort)).size, 62)
  await rejectsWith(services.create('more', { ports: PORTS }), 'InternalError', /range is full/, t)
  await Promise.all(made.map((_, i) => all[(i + 1) % 4]!.delete(`s${i}`)))
  t.same(await services.taken(), { addresses: [], ports: [] })
})

t.test('changes of ports that come together are one write', async (t) => {
  const { kv, services } = await open()
  await services.nodePorts.allocate((operation) => operation.takeNext())
  kv.calls.length = 0
  await Promise.all(Array.from({ length: 20 }, () => services.nodePorts.allocate((operation) => operation.takeNext())))
  t.ok(kv.calls.filter((call) => call === 'put').length <= 2, kv.calls.join(' '))
})

t.test('repair takes what services have and gives back what nobody has, after a grace', async (t) => {
  const { clock, services } = await open()
  const kept = await services.create('kept', { type: 'NodePort', ports: PORTS })
  const port = kept.ports?.[0]?.nodePort ?? 0
  await services.addresses.create('10.0.0.99', { namespace: 'ns', name: 'gone' })
  await services.nodePorts.release([port])
  await services.nodePorts.allocate((operation) => operation.take(30001))
  await services.addresses.delete(kept.clusterIP!, { namespace: 'ns', name: 'kept' })
  let leaks = await services.repairPorts.runOnce(new Map())
  await services.repairAddresses.runOnce()
  t.same(await services.taken(), { addresses: [kept.clusterIP!, '10.0.0.99'].sort(), ports: [30001, port].sort() })
  await clock.advance(61_000)
  await services.repairAddresses.runOnce()
  t.same((await services.taken()).addresses, [kept.clusterIP])
  leaks = await services.repairPorts.runOnce(leaks)
  t.same((await services.taken()).ports, [30001, port].sort(), 'two passes have seen it')
  await services.repairPorts.runOnce(leaks)
  t.same((await services.taken()).ports, [port])
})

t.test('repair that finds nothing to do writes nothing', async (t) => {
  const { kv, services } = await open()
  await services.create('a', { type: 'NodePort', ports: PORTS })
  kv.calls.length = 0
  await services.repairPorts.runOnce(new Map())
  await services.repairAddresses.runOnce()
  t.same(
    kv.calls.filter((call) => call === 'put' || call === 'delete'),
    [],
  )
})
