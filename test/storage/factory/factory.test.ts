import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { Catalogue } from '#keelson/api/catalogue.js'
import {
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  parseGroupResource,
} from '#keelson/api/group-version.js'
import { storageExceptions } from '#keelson/registry/facts-table.js'
import {
  CustomResourceStorageFactory,
  newStorageFactory,
  type StorageFactoryDependencies,
} from '#keelson/storage/factory/factory.js'
import { DEFAULT_ETCD_OPTIONS, type EtcdOptions, storageConfigOf } from '#keelson/storage/factory/factory-options.js'
import type { StorageCodecConfig } from '#keelson/storage/factory/storage-config.js'
import { AesGcmTransformer } from '#keelson/storage/transformers/aes-gcm.js'
import { encryptCheckTransformer } from '#keelson/storage/transformers/encrypt-check.js'
import { StaticTransformers } from '#keelson/storage/transformers/resource-transformers.js'
import { jsonCodec } from '../../support/json-store.js'

const catalogue = Catalogue.builtin()
const dependencies: StorageFactoryDependencies = {
  newCodec: () => jsonCodec,
  versionsOf: (group) => catalogue.versions(group),
  groupEnabled: (group) => catalogue.versions(group).length > 0,
  exceptions: storageExceptions(),
}
const ETCD: EtcdOptions = { ...DEFAULT_ETCD_OPTIONS, etcdServers: ['https://etcd:2379'] }
const factoryWith = (options: Partial<EtcdOptions> = {}, changed: Partial<StorageFactoryDependencies> = {}) =>
  newStorageFactory({ ...ETCD, ...options }, { ...dependencies, ...changed })

/** `ingresses.networking.k8s.io` → `networking.k8s.io/v1`. */
function storedAs(factory: ReturnType<typeof factoryWith>, resource: string): string {
  return formatGroupVersion(factory.newConfig(parseGroupResource(resource)).storageVersion)
}

t.test('resources are under their plural name, but for those with a past', async (t) => {
  const factory = factoryWith()
  const expected = {
    pods: 'pods',
    nodes: 'minions',
    services: 'services/specs',
    endpoints: 'services/endpoints',
    replicationcontrollers: 'controllers',
    'ingresses.networking.k8s.io': 'ingress',
    'ingresses.extensions': 'ingress',
    'networkpolicies.extensions': 'networkpolicies',
    'deployments.apps': 'deployments',
    'events.events.k8s.io': 'events',
    'leases.coordination.k8s.io': 'leases',
    'customresourcedefinitions.apiextensions.k8s.io': 'apiextensions.k8s.io/customresourcedefinitions',
    'apiservices.apiregistration.k8s.io': 'apiregistration.k8s.io/apiservices',
  }
  for (const [resource, prefix] of Object.entries(expected)) {
    t.equal(factory.resourcePrefix(parseGroupResource(resource)), prefix, resource)
  }
  factory.setResourceEtcdPrefix({ group: 'apps', resource: '*' }, 'all-apps')
  factory.setResourceEtcdPrefix({ group: 'apps', resource: 'daemonsets' }, 'daemons')
  t.equal(factory.resourcePrefix({ group: 'apps', resource: 'deployments' }), 'all-apps')
  t.equal(factory.resourcePrefix({ group: 'apps', resource: 'daemonsets' }), 'daemons')
})

t.test('the storage version of every resource is the one whose hash kube-apiserver publishes', async (t) => {
  const factory = factoryWith()
  const stored = catalogue.resources.filter((r) => r.storageVersionHash !== undefined)
  t.ok(stored.length > 60)
  for (const { group, resource, kind, storageVersionHash } of stored) {
    const { storageVersion } = factory.newConfig({ group, resource })
    const text = `${storageVersion.group}/${storageVersion.version}/${kind}`
    const hash = createHash('sha256').update(text).digest().subarray(0, 8).toString('base64')
    t.equal(hash, storageVersionHash, `${resource}.${group}: ${text}`)
  }
})

t.test('a group that is not there has no storage', async (t) => {
  t.throws(() => factoryWith().newConfig({ group: 'nope.io', resource: 'nopes' }), {
    code: 'storage-config',
    message: /no storage destination for nopes\.nope\.io/,
  })
})

t.test('resources that share their objects are stored as the first of the enabled groups has it', async (t) => {
  const enabled = (...groups: string[]) =>
    factoryWith({}, { groupEnabled: (group) => groups.includes(group), versionsOf: () => ['v1beta1'] })
  t.equal(storedAs(enabled('', 'events.k8s.io'), 'events.events.k8s.io'), 'v1beta1')
  t.equal(storedAs(enabled('events.k8s.io'), 'events'), 'events.k8s.io/v1beta1')
  t.equal(storedAs(enabled('extensions', 'apps'), 'deployments.extensions'), 'apps/v1beta1')
  t.equal(storedAs(enabled('extensions'), 'deployments.apps'), 'extensions/v1beta1')
  t.equal(storedAs(enabled('networking.k8s.io', 'extensions'), 'ingresses.extensions'), 'networking.k8s.io/v1beta1')
  t.equal(storedAs(enabled(), 'deployments.apps'), 'apps/v1beta1', 'with no group enabled, as it was asked for')
})

t.test('the codec is made for the resource as served and the version as stored', async (t) => {
  const asked: StorageCodecConfig[] = []
  const factory = factoryWith(
    {},
    {
      newCodec: (config) => {
        asked.push(config)
        return jsonCodec
      },
    },
  )
  const config = factory.newConfig({ group: 'events.k8s.io', resource: 'events' })
  t.equal(config.codec, jsonCodec)
  t.same(asked, [
    {
      groupResource: { group: 'events.k8s.io', resource: 'events' },
      mediaType: 'application/vnd.kubernetes.protobuf',
      storageVersion: { group: '', version: 'v1' },
    },
  ])
})

t.test('media types: the flag for all, JSON for definitions and API services, an override for one', async (t) => {
  const mediaType = (factory: ReturnType<typeof factoryWith>, resource: string) =>
    factory.newConfig(parseGroupResource(resource)).mediaType
  t.equal(mediaType(factoryWith(), 'pods'), 'application/vnd.kubernetes.protobuf')
  t.equal(mediaType(factoryWith(), 'customresourcedefinitions.apiextensions.k8s.io'), 'application/json')
  t.equal(mediaType(factoryWith(), 'apiservices.apiregistration.k8s.io'), 'application/json')
  const json = factoryWith({ storageMediaType: 'application/json' })
  t.equal(mediaType(json, 'pods'), 'application/json')
  json.setMediaType({ group: '', resource: 'pods' }, 'application/yaml')
  t.equal(mediaType(json, 'pods'), 'application/yaml')
})

t.test('servers: those of all, of one resource, and one configuration for each set of them', async (t) => {
  const events = ['https://a:2379', 'https://b:2379']
  const factory = factoryWith({
    etcdServersOverrides: [`/events#${events.join(';')}`, 'apps/deployments#https://b:2379;https://a:2379'],
    etcdKeyFile: 'key',
    etcdCertFile: 'cert',
  })
  const servers = (resource: string) => factory.newConfig(parseGroupResource(resource)).transport.servers
  t.same(servers('events'), events)
  t.same(servers('events.events.k8s.io'), events, 'shared objects are in one place')
  t.same(servers('pods'), ['https://etcd:2379'])
  t.same(factory.newConfig(parseGroupResource('events')).transport.keyFile, 'key')
  t.same(
    factory.configs().map((c) => c.transport.servers.length),
    [1, 2],
    'two overrides with the same servers are one',
  )
})

t.test('the transformer is that of the resource as stored', async (t) => {
  const transformer = new AesGcmTransformer(randomBytes(32))
  const factory = factoryWith({}, { transformers: new StaticTransformers(new Map([['events', transformer]])) })
  const of = (resource: string) => factory.newConfig(parseGroupResource(resource)).transformer
  t.equal(of('events'), transformer)
  t.equal(of('events.events.k8s.io'), transformer)
  t.equal(of('pods'), encryptCheckTransformer)
  t.equal(factoryWith().newConfig(parseGroupResource('events')).transformer, encryptCheckTransformer)
})

t.test('custom resources are JSON under group and resource, in the version of their definition', async (t) => {
  const factory = new CustomResourceStorageFactory({
    config: storageConfigOf(ETCD),
    newCodec: () => jsonCodec,
    storageVersionOf: ({ resource }) => (resource === 'pandas' ? 'v1alpha1' : undefined),
  })
  const pandas: GroupResource = { group: 'bears.example', resource: 'pandas' }
  t.equal(factory.resourcePrefix(pandas), 'bears.example/pandas')
  t.match(factory.newConfig(pandas), {
    mediaType: 'application/json',
    storageVersion: { group: 'bears.example', version: 'v1alpha1' },
    prefix: '/registry',
  })
  t.throws(() => factory.newConfig({ group: 'x', resource: 'y' }), { code: 'storage-config' })
  t.equal(factory.configs().length, 1)
})

/** Key and envelope of objects that a real kube-apiserver has stored, where they are at hand. */
const recorded = ['../shared', '../../shared']
  .map((folder) => `${folder}/testdata/stored-objects.jsonl`)
  .find(existsSync)
const absent = recorded === undefined ? 'no recorded objects here' : false
t.test('keys and versions are those of a real kube-apiserver', { skip: absent }, async (t) => {
  const factory = factoryWith()
  const lines = readFileSync(recorded!, 'utf8').trim().split('\n')
  for (const line of lines) {
    const { path, key, value } = JSON.parse(line) as { path: string; key: string; value: string }
    const parts = path.split('/').slice(1)
    const group = parts[0] === 'api' ? '' : parts[1]!
    const rest = parts.slice(parts[0] === 'api' ? 2 : 3)
    const namespaced = rest[0] === 'namespaces' && rest.length > 2
    const resource = { group, resource: namespaced ? rest[2]! : rest[0]! }
    const name = (namespaced ? [rest[1], rest[3]] : [rest[1]]).join('/')
    const config = factory.newConfig(resource)
    t.equal(`${config.prefix}/${factory.resourcePrefix(resource)}/${name}`, key, formatGroupResource(resource))
    const bytes = Buffer.from(value, 'base64')
    t.equal(bytes.subarray(0, 4).toString('latin1'), 'k8s\0', `${key} is protobuf`)
    // The envelope's first field is a TypeMeta, and that one's first is the apiVersion.
    const length = bytes.readUInt8(7)
    t.equal(bytes.subarray(8, 8 + length).toString(), formatGroupVersion(config.storageVersion), key)
  }
  t.ok(lines.length > 50)
})
