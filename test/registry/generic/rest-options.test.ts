import t from 'tap'
import type { GroupResource } from '#keelson/api/group-version.js'
import { storageExceptions } from '#keelson/registry/facts-table.js'
import { StorageFactoryRESTOptionsGetter } from '#keelson/registry/generic/rest-options.js'
import type { StorageDecorator } from '#keelson/storage/factory/decorator.js'
import { newStorageFactory } from '#keelson/storage/factory/factory.js'
import { DEFAULT_ETCD_OPTIONS, type EtcdOptions } from '#keelson/storage/factory/factory-options.js'

const decorator =
  (name: string): StorageDecorator =>
  () => {
    throw new Error(`${name} is not called here`)
  }
const undecorated = decorator('undecorated')
const withCacher = decorator('withCacher')

function getter(options: Partial<EtcdOptions>) {
  const etcdOptions = { ...DEFAULT_ETCD_OPTIONS, etcdServers: ['http://a:1'], ...options }
  const storageFactory = newStorageFactory(etcdOptions, {
    newCodec: () => ({ encode: () => new Uint8Array(0), decode: () => ({}) }),
    versionsOf: (group) => (group === 'nope' ? [] : ['v1']),
    groupEnabled: () => true,
    exceptions: storageExceptions(),
  })
  return new StorageFactoryRESTOptionsGetter({ etcdOptions, storageFactory, undecorated, withCacher })
}

const PODS: GroupResource = { group: '', resource: 'pods' }
const NODES: GroupResource = { group: '', resource: 'nodes' }
const EVENTS: GroupResource = { group: '', resource: 'events' }

t.test('the options of a resource come from the flags and the factory', async (t) => {
  const flags = { deleteCollectionWorkers: 5, enableGarbageCollector: false, etcdCountMetricPollPeriodMs: 7 }
  t.match(getter(flags).getRESTOptions(NODES), {
    resourcePrefix: '/minions',
    deleteCollectionWorkers: 5,
    enableGarbageCollection: false,
    countMetricPollPeriodMs: 7,
    storageConfig: { groupResource: NODES, prefix: '/registry', storageVersion: { group: '', version: 'v1' } },
  })
  t.throws(() => getter({}).getRESTOptions({ group: 'nope', resource: 'nopes' }), { code: 'storage-config' })
})

t.test('resources are cached unless the watch cache is off, or off for them', async (t) => {
  const decoratorOf = (options: Partial<EtcdOptions>, resource: GroupResource) =>
    getter(options).getRESTOptions(resource).decorator
  t.equal(decoratorOf({}, PODS), withCacher)
  t.equal(decoratorOf({}, EVENTS), withCacher)
  t.equal(decoratorOf({ watchCacheSizes: ['events#0'] }, EVENTS), undecorated)
  t.equal(decoratorOf({ watchCacheSizes: ['pods#0'] }, PODS), undecorated)
  t.equal(decoratorOf({ watchCacheSizes: ['pods#0'] }, NODES), withCacher)
  t.equal(decoratorOf({ watchCache: false, watchCacheSizes: ['pods#1'] }, PODS), undecorated)
})
