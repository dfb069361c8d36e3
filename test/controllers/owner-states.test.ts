import t from 'tap'
import type { KubeObject, OwnerReference } from '#keelson/api/object.js'
import { ControlledResources } from '#keelson/controllers/framework/controlled-resource.js'
import type { ControllerContext } from '#keelson/controllers/framework/controller.js'
import { ObjectReader } from '#keelson/controllers/framework/object-reader.js'
import type { PoolRequests } from '#keelson/controllers/framework/pool-requests.js'
import { RemoteObjects } from '#keelson/controllers/framework/remote-objects.js'
import { SeenObject } from '#keelson/controllers/framework/seen-object.js'
import { AstrayOwners } from '#keelson/controllers/garbage-collector/astray-owners.js'
import { ownerStates } from '#keelson/controllers/garbage-collector/owner-states.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { FakeClock } from '../support/fake-clock.js'

const path = (resource: string, kind: string) => ({
  info: {
    group: '',
    version: 'v1',
    resource,
    kind,
    singularName: '',
    namespaced: true,
    verbs: ['delete'],
    storageVersionHash: 'x',
    subresources: [],
  },
  arena: resource,
  keyPrefix: `/registry/${resource}/`,
  direct: true,
})
const resources = new ControlledResources(() => [path('configmaps', 'ConfigMap'), path('secrets', 'Secret')] as never)
const reference = (i: number, kind = i % 2 === 0 ? 'ConfigMap' : 'Secret'): OwnerReference => ({
  apiVersion: 'v1',
  kind,
  name: `o${i}`,
  uid: `uid-${i}`,
})
const remotes = new RemoteObjects(
  { resources: async () => ({ resources: [], failures: [] }), send: () => Promise.reject(new Error('not asked')) },
  { authorize: () => ({ decision: 'allow', reason: '' }) },
  { name: 'collector', uid: '', groups: [], extra: {} },
  new FakeClock(),
)
const THOUSANDS = Array.from({ length: 6_000 }, (_, i) => reference(i))

t.test('thousands of owners of two kinds are read behind two fences, and the loop turns meanwhile', async (t) => {
  let fences = 0
  const stored = new Map<string, object>([['/registry/configmaps/default/o0', { uid: 'uid-0' }]])
  const snapshot = {
    get: (key: string) => stored.get(key) && { ...stored.get(key), key, body: () => Buffer.from('{"metadata":{}}') },
    release: () => undefined,
  }
  const view = {
    fence: { pass: () => Promise.resolve(++fences > 0) },
    arena: () => ({ snapshot: () => snapshot, ready: () => true }),
  }
  const objects = new ObjectReader(() => view as never, {} as PoolRequests)
  let turns = 0
  const count = (): void => {
    turns++
    turning = setImmediate(count)
  }
  let turning = setImmediate(count)
  t.teardown(() => clearImmediate(turning))
  const states = await ownerStates({ resources, objects, remotes }, 'default', THOUSANDS)
  t.equal(fences, 2)
  t.ok(turns > 50, `the loop turned ${turns} times`)
  t.same(
    states.solid.map(({ name }) => name),
    ['o0'],
  )
  t.notOk(states.unsure)
  t.same(
    [...states.missing.values()].map(({ length }) => length),
    [3_000, 2_999],
  )
})

t.test('an owner of an unknown kind leaves everything undecided', async (t) => {
  const objects = { lookLive: () => Promise.resolve() } as unknown as ObjectReader
  const states = await ownerStates({ resources, objects, remotes }, 'default', [reference(1, 'Nobody')])
  t.ok(states.unsure)
  t.notOk(states.elsewhere)
})

t.test('an owner in another server is asked of it; one that does not answer leaves everything undecided', async (t) => {
  const objects = { lookLive: () => Promise.resolve() } as unknown as ObjectReader
  const far = { group: 'far', version: 'v1', resource: 'x', kind: 'Far', namespaced: true, verbs: ['get'] }
  const servers = (status: number) =>
    new RemoteObjects(
      {
        resources: async () => ({
          resources: [far],
          failures: [{ groupVersion: 'silent/v1', why: 'dead' }],
        }),
        send: async ({ path }) => {
          t.equal(path, '/apis/far/v1/namespaces/default/x/o1')
          return { status, body: Buffer.from('{"metadata":{"uid":"uid-1"}}') }
        },
      },
      { authorize: () => ({ decision: 'allow', reason: '' }) },
      { name: 'collector', uid: '', groups: [], extra: {} },
      new FakeClock(),
    )
  const ask = (status: number, apiVersion = 'far/v1', uid = 'uid-1') =>
    ownerStates({ resources, objects, remotes: servers(status) }, 'default', [
      { ...reference(1, 'Far'), apiVersion, uid },
    ])
  t.match(await ask(200), { unsure: false, elsewhere: true, solid: [{ name: 'o1' }] })
  t.match(await ask(200, 'far/v1', 'other'), { unsure: false, solid: [] })
  t.match(await ask(404), { unsure: false, solid: [] })
  t.match(await ask(503), { unsure: true, elsewhere: true })
  t.match(await ask(200, 'silent/v1'), { unsure: true, elsewhere: true })
})

t.test('whatever objects name, a resource is read once a second and no more; what is found is told', async (t) => {
  const clock = new FakeClock()
  const readings: string[] = []
  const told: string[] = []
  const context = {
    clock,
    logger: nullLogger,
    objects: {
      visitInTurns: async (resource: { id: string; keyPrefix: string }, visit: (object: SeenObject) => boolean) => {
        readings.push(resource.id)
        const object: KubeObject = { metadata: { uid: 'uid-3', namespace: 'far', name: 'o3' } }
        visit(SeenObject.of(resource as never, 'far/o3', object))
      },
    },
    events: { record: (_subject: unknown, _type: string, _reason: string, message: string) => void told.push(message) },
  } as unknown as ControllerContext
  const astray = new AstrayOwners(context)
  const [maps, secrets] = [resources.find('configmaps')!, resources.find('secrets')!]
  const subject = (name: string) => ({ resource: maps, object: { metadata: { namespace: 'default', name } } })
  for (let i = 0; i < 1_000; i++) {
    astray.ask(subject(`a${i}`), i % 2 === 0 ? maps : secrets, THOUSANDS)
    await clock.advance(1)
  }
  t.same(readings, ['configmaps'], 'one reading in the first second')
  await clock.advance(10_000)
  t.same(readings, ['configmaps', 'secrets', 'configmaps'], 'one reading for all that wait')
  t.ok(told.length > 1)
  t.match(
    told[0],
    'ownerRef [v1/Secret, namespace: default, name: o3, uid: uid-3] does not exist in namespace "default"',
  )
  astray.stop()
})
