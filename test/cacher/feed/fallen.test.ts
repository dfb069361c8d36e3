import t from 'tap'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { TransformError } from '#keelson/storage/contract/transform-error.js'
import { identityTransformer, type Transformer } from '#keelson/storage/contract/transformer.js'
import { until } from '../../support/until.js'
import { bytes, ReflectorFixture as Fixture, object } from './reflector-fixture.js'

async function started(f: Fixture, resource: string, fields = {}, maxObjects?: number): Promise<void> {
  void f.reflector.addResource(f.registration(resource, fields, maxObjects))
  f.reflector.start()
  await f.reflector.synced
}

const partial = (f: Fixture, resource: string): boolean => {
  const arena = f.arenas.get(resource)!
  return arena.partial && !arena.closed && !arena.ready()
}

t.test(
  'an object that becomes unreadable stays as it was last read, and the others are kept up for followers',
  async (t) => {
    const f = new Fixture(t)
    await started(f, 'roles')
    await f.applied(await f.put('/registry/roles/a', object('a')))
    await f.applied(await f.put('/registry/roles/b', object('b')))
    await f.applied(await f.put('/registry/roles/b', bytes('{')))
    t.match(f.reflector.status('roles'), { state: 'fallen', reason: 'corrupt-object' })
    t.ok(partial(f, 'roles'))
    await f.applied(await f.delete('/registry/roles/a'))
    await f.applied(await f.put('/registry/roles/c', object('c')))
    t.same(f.keys('roles'), ['/registry/roles/b', '/registry/roles/c'])
  },
)

t.test('an object that cannot be read from the start hides nobody else', async (t) => {
  const f = new Fixture(t)
  for (const name of ['a', 'c', 'd']) await f.put(`/registry/roles/${name}`, object(name))
  await f.put('/registry/roles/b', bytes('{'))
  await started(f, 'roles')
  t.match(f.reflector.status('roles'), { state: 'fallen', reason: 'corrupt-object' })
  t.ok(partial(f, 'roles'))
  t.same(
    f.keys('roles'),
    ['a', 'c', 'd'].map((name) => `/registry/roles/${name}`),
  )
})

t.test('it is filled anew at once when the last unreadable object is deleted, in memory of its own', async (t) => {
  const f = new Fixture(t)
  await f.put('/registry/roles/a', object('a'))
  await f.put('/registry/roles/bad', bytes('{'))
  await f.put('/registry/roles/worse', bytes('['))
  await started(f, 'roles')
  const before = f.arenas.get('roles')!
  await f.applied(await f.delete('/registry/roles/worse'))
  await f.put('/registry/roles/new', bytes('{'))
  await f.applied(await f.delete('/registry/roles/bad'))
  t.equal(f.state('roles'), 'fallen', 'there is still one')
  await f.applied(await f.delete('/registry/roles/new'))
  // No timer passes.
  await until(() => f.state('roles') === 'ready', { what: 'roles to be ready' })
  t.not(f.arenas.get('roles'), before)
  t.ok(before.closed)
  t.ok(f.arenas.get('roles')!.ready())
  t.same(f.keys('roles'), ['/registry/roles/a'])
})

t.test('a try that finds it unreadable again leaves followers what was last read', async (t) => {
  const f = new Fixture(t)
  await started(f, 'roles')
  await f.applied(await f.put('/registry/roles/a', object('a')))
  await f.applied(await f.put('/registry/roles/a', bytes('{')))
  const before = f.arenas.get('roles')!
  const lists = f.kv.lists.length
  await f.clock.advance(30_000)
  await until(() => f.kv.lists.length > lists && f.state('roles') === 'fallen', {
    what: 'another try that leaves roles fallen',
  })
  t.equal(f.arenas.get('roles'), before)
  t.ok(partial(f, 'roles'))
  await f.applied(await f.put('/registry/roles/b', object('b')))
  t.same(f.keys('roles'), ['/registry/roles/a', '/registry/roles/b'])
  await f.applied(await f.put('/registry/roles/a', object('a')))
  await until(() => f.state('roles') === 'ready', { what: 'roles to be ready' })
})

t.test('after a gap in the stream, memory for followers is what the new list can read', async (t) => {
  const f = new Fixture(t)
  await started(f, 'roles')
  await f.applied(await f.put('/registry/roles/a', object('a')))
  await f.applied(await f.put('/registry/roles/bad', bytes('{')))
  f.kv.breakWatches(new StorageError('unreachable', 'cut'))
  await until(() => !f.reflector.following, { what: 'the reflector to stop following' })
  await f.delete('/registry/roles/a')
  const revision = await f.put('/registry/roles/b', object('b'))
  await f.memoryKv.compact(revision)
  await f.eventually(() => f.reflector.following, 'the reflector to follow again')
  t.match(f.reflector.status('roles'), { state: 'fallen', reason: 'corrupt-object' })
  t.ok(partial(f, 'roles'))
  t.same(f.keys('roles'), ['/registry/roles/b'])
})

t.test(
  'a key service that is away is no corruption: what was read stays for followers, nothing replaces it',
  async (t) => {
    const f = new Fixture(t)
    let down = false
    const transformer: Transformer = {
      ...identityTransformer,
      transformFromStorage: (data) =>
        down ? Promise.reject(new TransformError('kms', 'no answer')) : { data, stale: false },
    }
    await f.put('/registry/secrets/s', object('s'))
    await started(f, 'secrets', { transformer })
    down = true
    await f.applied(await f.put('/registry/secrets/t', object('t')))
    t.match(f.reflector.status('secrets'), { state: 'fallen', reason: 'key-service' })
    t.ok(partial(f, 'secrets'))
    const lists = f.kv.lists.length
    await f.clock.advance(30_000)
    await until(() => f.kv.lists.length > lists && f.state('secrets') === 'fallen', {
      what: 'another try that leaves secrets fallen',
    })
    t.ok(partial(f, 'secrets'))
    t.same(f.keys('secrets'), ['/registry/secrets/s'])
    down = false
    await f.clock.advance(60_000)
    await f.eventually(() => f.state('secrets') === 'ready', 'secrets to be ready')
    t.same(f.keys('secrets'), ['/registry/secrets/s', '/registry/secrets/t'])
  },
)

t.test('a resource that did not fit comes back when objects are deleted', async (t) => {
  const f = new Fixture(t)
  await started(f, 'pods', {}, 2)
  for (const name of ['a', 'b', 'c']) await f.applied(await f.put(`/registry/pods/${name}`, object(name)))
  t.match(f.reflector.status('pods'), { state: 'fallen', reason: 'memory-limit' })
  await f.applied(await f.delete('/registry/pods/b'))
  // No timer passes.
  await until(() => f.state('pods') === 'ready', { what: 'pods to be ready' })
  t.same(f.keys('pods'), ['/registry/pods/a', '/registry/pods/c'])
})

t.test('a resource that did not fit is tried again by and by: what filled its memory may be gone', async (t) => {
  const f = new Fixture(t)
  let room = 2
  const { registration } = f
  const fields = { createArena: () => registration.call(f, 'pods', {}, room).createArena() }
  await started(f, 'pods', fields)
  for (const name of ['a', 'b', 'c']) await f.applied(await f.put(`/registry/pods/${name}`, object(name)))
  t.equal(f.state('pods'), 'fallen')
  const lists = f.kv.lists.length
  await f.clock.advance(30_000)
  await until(() => f.kv.lists.length > lists && f.state('pods') === 'fallen', {
    what: 'another try that leaves pods fallen',
  })
  room = 3
  await f.clock.advance(60_000)
  await f.eventually(() => f.state('pods') === 'ready', 'pods to be ready')
  t.equal(f.keys('pods').length, 3)
})
