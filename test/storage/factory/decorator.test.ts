import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { MapAttributes } from '#keelson/api/selector.js'
import { systemClock } from '#keelson/lib/clock.js'
import type { Storage } from '#keelson/storage/contract/interface.js'
import {
  type Backend,
  RawStorages,
  type StorageDecoratorOptions,
  storageWithCacher,
  undecoratedStorage,
} from '#keelson/storage/factory/decorator.js'
import { DEFAULT_ETCD_OPTIONS, storageConfigOf } from '#keelson/storage/factory/factory-options.js'
import { openShared, SharedHandles } from '#keelson/storage/factory/shared-handle.js'
import type { StorageConfig } from '#keelson/storage/factory/storage-config.js'
import { encryptCheckTransformer } from '#keelson/storage/transformers/encrypt-check.js'
import { jsonCodec } from '../../support/json-store.js'
import { MemoryKV } from '../../support/memory-kv.js'

const base = storageConfigOf({ ...DEFAULT_ETCD_OPTIONS, etcdServers: ['http://a:1', 'http://b:1'] })

function optionsFor(resource: string, servers = base.transport.servers): StorageDecoratorOptions {
  return {
    config: {
      ...base,
      transport: { ...base.transport, servers },
      groupResource: { group: '', resource },
      mediaType: 'application/json',
      storageVersion: { group: '', version: 'v1' },
      codec: jsonCodec,
      transformer: encryptCheckTransformer,
    },
    resourcePrefix: `/${resource}`,
    keyOf: (object) => `/${resource}/${object.metadata?.name}`,
    newObject: () => ({}),
    getAttributes: () => ({ labels: new MapAttributes({}), fields: new MapAttributes({}) }),
  }
}

/** Backends that say when they are opened and closed. */
function rig() {
  const log: string[] = []
  const kvs: MemoryKV[] = []
  const openBackend = (config: StorageConfig): Backend => {
    const name = config.transport.servers.join()
    log.push(`open ${name}`)
    const kv = new MemoryKV(systemClock)
    kvs.push(kv)
    return {
      kv,
      leases: { getLease: (ttlSeconds) => kv.grantLease(ttlSeconds) },
      close: () => void log.push(`close ${name}`),
    }
  }
  return { log, kvs, rawStorages: new RawStorages({ openBackend }) }
}

t.test('a bare storage writes below its prefixes', async (t) => {
  const { rawStorages, kvs } = rig()
  const handle = undecoratedStorage(rawStorages)(optionsFor('pods'))
  await handle.value.create('/pods/default/a', { metadata: { name: 'a' } })
  t.ok((await kvs[0]!.get('/registry/pods/default/a')).kv)
  await handle.release()
})

t.test('resources with the same servers, in whatever order, share one backend; it closes with the last', async (t) => {
  const { log, rawStorages } = rig()
  const open = undecoratedStorage(rawStorages)
  const pods = open(optionsFor('pods'))
  const nodes = open(optionsFor('nodes', ['http://b:1', 'http://a:1']))
  const events = open(optionsFor('events', ['http://c:1']))
  t.same(log, ['open http://a:1,http://b:1', 'open http://c:1'])
  await pods.release()
  await events.release()
  t.same(log.slice(2), ['close http://c:1'])
  await nodes.release()
  t.same(log.slice(3), ['close http://a:1,http://b:1'])
})

t.test('however many subresources share a storage, it is closed once, by the last', async (t) => {
  const { log, rawStorages } = rig()
  const pods = undecoratedStorage(rawStorages)(optionsFor('pods'))
  const users = [pods, pods.retain(), pods.retain()]
  users.push(users[2]!.retain())
  t.ok(users.every((user) => user.value === pods.value))
  const last = users.pop()!
  for (const user of users) await Promise.all([user.release(), user.release()])
  t.equal(log.length, 1, 'nothing is closed while anybody uses it')
  t.throws(() => pods.retain(), { name: 'AssertionError' })
  await last.release()
  await last.release()
  t.same(log.slice(1), ['close http://a:1,http://b:1'])
})

t.test('a cacher is closed before the storage under it, and each once', async (t) => {
  const { log, rawStorages } = rig()
  const under: Storage<KubeObject>[] = []
  const decorate = storageWithCacher(rawStorages, (_options, storage) => {
    under.push(storage)
    const cacher = Object.create(storage) as Storage<KubeObject>
    cacher.close = async () => void log.push('close cacher')
    return cacher
  })
  const handle = decorate(optionsFor('pods'))
  t.not(handle.value, under[0])
  const status = handle.retain()
  await handle.release()
  await handle.release()
  t.same(log, ['open http://a:1,http://b:1'])
  await status.release()
  await status.release()
  t.same(log.slice(1), ['close cacher', 'close http://a:1,http://b:1'])
})

t.test('a cacher that fails to close does not keep the backend open', async (t) => {
  const { log, rawStorages } = rig()
  const decorate = storageWithCacher(rawStorages, (_options, storage) => {
    const cacher = Object.create(storage) as Storage<KubeObject>
    cacher.close = async () => {
      throw new Error('stuck')
    }
    return cacher
  })
  await t.rejects(decorate(optionsFor('pods')).release(), AggregateError)
  t.same(log.slice(1), ['close http://a:1,http://b:1'])
})

t.test('what was closed can be opened again, but not while it closes', async (t) => {
  let finish = (): void => undefined
  const closed = new Promise<void>((resolve) => {
    finish = resolve
  })
  const handles = new SharedHandles<{ close: () => Promise<void> }>()
  const open = () => ({ close: () => closed })
  const first = handles.acquire('a', open)
  t.equal(handles.acquire('a', open).value, first.value)
  const other = handles.acquire('b', open)
  t.not(other.value, first.value)
  const released = other.release()
  t.throws(() => handles.acquire('b', open), { name: 'AssertionError' })
  finish()
  await released
  t.not(handles.acquire('b', open).value, other.value)
})

t.test('a handle that was taken from a released one still works', async (t) => {
  let closes = 0
  const first = openShared('thing', () => void closes++)
  const second = first.retain()
  await first.release()
  const third = second.retain()
  await second.release()
  t.equal(closes, 0)
  await third.release()
  t.equal(closes, 1)
})
