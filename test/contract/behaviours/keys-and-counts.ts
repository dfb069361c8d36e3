import { listOptions, makePod, newPod, podCodec } from '../pod.js'
import type { Subject } from '../subject.js'
import { behaviour } from '../suite.js'

const BAD_KEYS = ['', '/', '.', '..', 'pods', '/pods.apps', '/foo/', '/pods/../secrets/a', '/pods/./a', '/pods/a/..']

/** Every call that takes the key of an object. */
const objectCalls = (s: Subject): Record<string, (key: string) => Promise<unknown>> => ({
  create: (key) => s.storage.create(key, makePod('x', 'ns')),
  get: (key) => s.storage.get(key),
  delete: (key) => s.storage.delete(key),
  guaranteedUpdate: (key) => s.storage.guaranteedUpdate(key, () => ({ object: newPod() })),
  'getList of one key': (key) => s.storage.getList(key, listOptions({ recursive: false })),
  'watch of one key': (key) => s.storage.watch(key, listOptions({ recursive: false })),
})

const prefixCalls = (s: Subject): Record<string, (key: string) => Promise<unknown>> => ({
  getList: (key) => s.storage.getList(key, listOptions()),
  watch: (key) => s.storage.watch(key, listOptions()),
  count: (key) => s.storage.count(key),
})

export const keysAndCounts = [
  behaviour(
    'keys that are empty, climb, or belong to no or another resource are refused by every call',
    async (t, s) => {
      for (const [name, call] of Object.entries({ ...objectCalls(s), ...prefixCalls(s) })) {
        for (const key of BAD_KEYS) await t.rejects(call(key), { code: 'invalid-request' }, `${name} ${key}`)
      }
    },
  ),

  behaviour(
    'the bare resource prefix is no object, but what recursive lists, watches and counts take',
    async (t, s) => {
      for (const [name, call] of Object.entries(objectCalls(s))) {
        await t.rejects(call('/pods'), { code: 'invalid-request' }, name)
      }
      await s.create(makePod('a', 'ns'))
      t.equal((await s.list('/pods')).items.length, 1)
      t.equal(await s.storage.count('/pods'), 1)
      const watch = await s.watch('/pods', { resourceVersion: '0' })
      t.equal((await watch.nextObject()).type, 'ADDED')
    },
  ),

  behaviour('objects may lie at the name, below a namespace, and at both', async (t, s) => {
    for (const key of ['/pods/name', '/pods/namespace', '/pods/namespace/name']) {
      await s.storage.create(key, makePod(key.slice(6).replace('/', '.'), ''))
    }
    t.equal((await s.storage.get('/pods/namespace')).metadata?.name, 'namespace')
    t.equal((await s.storage.get('/pods/namespace/name')).metadata?.name, 'namespace.name')
    t.equal((await s.list('/pods/namespace')).items.length, 1)
    t.equal((await s.list('/pods/')).items.length, 3)
    await s.storage.delete('/pods/namespace')
    t.equal((await s.list('/pods/')).items.length, 2)
  }),

  behaviour('names with dots are names', async (t, s) => {
    for (const name of ['kube-root-ca.crt', '...', '.hidden', 'a..b']) await s.create(makePod(name, 'ns'))
    t.equal((await s.list('/pods/ns')).items.length, 4)
    t.equal((await s.storage.get('/pods/ns/kube-root-ca.crt')).metadata?.name, 'kube-root-ca.crt')
  }),

  behaviour('count counts what is below a key', async (t, s) => {
    t.equal(await s.storage.count('/pods'), 0)
    await s.createAll([makePod('a', 'one'), makePod('b', 'one'), makePod('a', 'one-more')])
    await s.increaseRevision()
    t.equal(await s.storage.count('/pods/'), 3)
    t.equal(await s.storage.count('/pods/one'), 2)
    t.equal(await s.storage.count('/pods/none'), 0)
    await s.storage.delete('/pods/one/a')
    t.equal(await s.storage.count('/pods'), 2)
  }),

  behaviour('stats follow creates, updates, deletes and deletes that failed', async (t, s) => {
    const sizeOf = (note: string) =>
      s.opened.transformer.seal('').length + podCodec.encode(makePod('foo', 'ns', { note })).length
    const check = async (objectCount: number, bytes: number, what: string) => {
      await s.list('/pods/')
      const stats = await s.storage.stats()
      t.equal(stats.objectCount, objectCount, what)
      // The mean of what is stored, or of what is held in its stead; 0 is "not known".
      if (!s.cached) t.equal(stats.estimatedAverageObjectSizeBytes, bytes, what)
      else if (objectCount === 0) t.equal(stats.estimatedAverageObjectSizeBytes, 0, what)
      else t.ok(stats.estimatedAverageObjectSizeBytes >= 0, what)
    }
    await check(0, 0, 'empty')
    await s.create(makePod('foo', 'ns', { note: '' }))
    await check(1, sizeOf(''), 'one')
    await s.create(makePod('bar', 'ns', { note: '' }))
    await check(2, sizeOf(''), 'two')
    await s.storage.guaranteedUpdate('/pods/ns/bar', (pod) => ({ object: { ...pod, spec: { note: 'x'.repeat(100) } } }))
    await check(2, sizeOf('') + 50, 'one is larger')
    await s.storage.delete('/pods/ns/foo')
    await check(1, sizeOf('') + 100, 'the small one is gone')
    await t.rejects(s.storage.delete('/pods/ns/foo'), { code: 'key-not-found' })
    await check(1, sizeOf('') + 100, 'a failed delete changes nothing')
    await s.storage.delete('/pods/ns/bar')
    await check(0, 0, 'empty again')
  }),

  behaviour('the current version is that of the whole store', async (t, s) => {
    const created = await s.create(makePod('a', 'ns'))
    t.ok((await s.storage.currentResourceVersion()) >= Number(created.metadata?.resourceVersion))
    const revision = await s.increaseRevision()
    t.equal(await s.storage.currentResourceVersion(), revision)
    const outside = await s.increaseRevisionOutside()
    t.equal(await s.storage.currentResourceVersion(), outside)
  }),

  behaviour('a storage in use is ready; a closed one is not', async (t, s) => {
    await s.list('/pods/')
    t.doesNotThrow(() => s.storage.readinessCheck())
    await s.storage.close()
    t.throws(() => s.storage.readinessCheck(), { code: 'not-ready' })
  }),

  behaviour('versions of objects are read and written by the versioner', async (t, s) => {
    const { versioner } = s.storage
    const pod = makePod('a', 'ns')
    t.equal(versioner.objectResourceVersion(pod), 0)
    versioner.updateObject(pod, 42)
    t.equal(pod.metadata?.resourceVersion, '42')
    t.equal(versioner.objectResourceVersion(pod), 42)
    versioner.prepareObjectForStorage(pod)
    t.same(pod, makePod('a', 'ns'))
    t.equal(versioner.parseResourceVersion(''), 0)
    t.equal(versioner.parseResourceVersion('17'), 17)
    for (const bad of ['a', '-1', '1.0', '0x1', '18446744073709551616']) {
      t.throws(() => versioner.parseResourceVersion(bad), { code: 'invalid-request' }, bad)
    }
  }),
]
