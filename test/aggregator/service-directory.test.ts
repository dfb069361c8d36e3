import t from 'tap'
import type { RemoteService } from '#keelson/aggregator/api-service.js'
import { availability } from '#keelson/aggregator/availability.js'
import { ServiceDirectory } from '#keelson/aggregator/service-directory.js'
import type { ResourceView } from '#keelson/cacher/read/resource-view.js'
import { MemoryArena, MemoryClock } from '../support/memory-arena.js'

type Arena = Pick<ResourceView, 'arena'>

function view(objects: object): Arena {
  const clock = new MemoryClock()
  const arena = new MemoryArena(clock)
  let revision = 0
  const entries = Object.entries(objects as Record<string, { labels?: readonly string[] }>)
  for (const [key, { labels = [], ...object }] of entries) {
    const text = JSON.stringify({ metadata: { name: key.split('/').at(-1), resourceVersion: '' }, ...object })
    const revisionOffset = text.indexOf('"resourceVersion":""') + '"resourceVersion":"'.length
    arena.put(`/r/${key}`, { uid: key, labels, fields: [], body: Buffer.from(text), revisionOffset }, ++revision, 1)
    arena.publish(revision)
  }
  arena.setReady(true)
  clock.advance(revision)
  return { arena: () => arena }
}

const SERVICES = {
  'ns/plain': { spec: { clusterIP: '10.0.0.7', ports: [{ name: 'https', port: 443 }] } },
  'ns/headless': { spec: { clusterIP: 'None', ports: [{ port: 443 }] } },
  'ns/named': { spec: { type: 'ExternalName', externalName: 'elsewhere.example.com' } },
}
const SLICES = {
  'ns/plain-1': {
    labels: ['kubernetes.io/service-name', 'plain'],
    addressType: 'IPv4',
    ports: [{ name: 'https', port: 8443 }],
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: false } }, { addresses: ['10.1.0.2'] }],
  },
  'ns/other-1': {
    labels: ['kubernetes.io/service-name', 'other'],
    ports: [{ name: 'https', port: 1 }],
    endpoints: [{ addresses: ['10.9.9.9'] }],
  },
}

const directory = (byEndpoints: boolean, services: object = SERVICES, slices: object = SLICES): ServiceDirectory =>
  new ServiceDirectory({
    services: { view: view(services), keyPrefix: '/r/' },
    endpointSlices: { view: view(slices), keyPrefix: '/r/' },
    byEndpoints,
    random: () => 0.99,
  })

const at = (name: string, port = 443) => ({ namespace: 'ns', name, port })
const unreachable = (message: RegExp) => ({ code: 'service-unreachable', message })

t.test('a service is at its cluster IP, or where its name leads', (t) => {
  const services = directory(false)
  t.same(services.resolve(at('plain')), { host: '10.0.0.7', port: 443 })
  t.same(services.resolve(at('named', 8443)), { host: 'elsewhere.example.com', port: 8443 })
  t.throws(() => services.resolve(at('plain', 80)), unreachable(/no service port 80/))
  t.throws(() => services.resolve(at('headless')), unreachable(/ClusterIP "None"/))
  t.throws(() => services.resolve(at('absent')), unreachable(/not found/))
  t.end()
})

t.test('by endpoints it is at one that is ready', (t) => {
  const services = directory(true)
  t.same(services.resolve(at('plain')), { host: '10.1.0.2', port: 8443 })
  t.throws(() => services.resolve(at('headless')), unreachable(/no endpoints available/))
  t.throws(() => services.resolve(at('named')), unreachable(/unsupported service type/))
  t.end()
})

t.test('availability says what is missing first', async (t) => {
  const remote = (name: string, port = 443): RemoteService => ({
    name: 'v1.a',
    group: 'a',
    version: 'v1',
    service: at(name, port),
    caBundle: '',
    insecureSkipTLSVerify: false,
    groupPriority: 1,
    versionPriority: 1,
    available: false,
  })
  const fine = async (): Promise<void> => undefined
  const reason = async (name: string, port?: number, slices: object = SLICES): Promise<string> =>
    (await availability(remote(name, port), directory(false, SERVICES, slices), fine)).reason
  t.equal(await reason('absent'), 'ServiceNotFound')
  t.equal(await reason('plain', 80), 'ServicePortError')
  t.equal(await reason('plain', 443, {}), 'EndpointsNotFound')
  t.equal(
    await reason('plain', 443, { 'ns/plain-1': { ...SLICES['ns/plain-1'], ports: [{ name: 'http', port: 1 }] } }),
    'MissingEndpoints',
  )
  t.equal(await reason('plain'), 'Passed')
  t.equal(await reason('named'), 'Passed')
  t.same(await availability(remote('plain'), directory(false), () => Promise.reject(new Error('no answer'))), {
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: 'no answer',
  })
})
