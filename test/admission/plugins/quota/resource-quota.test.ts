import t from 'tap'
import { QuotaLedger, type QuotaStatusStore } from '#keelson/admission/plugins/quota/quota-ledger.js'
import { ResourceQuota } from '#keelson/admission/plugins/quota/resource-quota.js'
import { matchesScopes } from '#keelson/admission/plugins/quota/scopes.js'
import { resourceBehind, usageOfObject } from '#keelson/admission/plugins/quota/usage.js'
import type { ResourceQuota as ResourceQuotaKind } from '#keelson/api/generated/kinds/core.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { systemClock } from '#keelson/lib/clock.js'
import { ask, attributes, FakeObjects, podWith } from '../../fixture.js'

/** One quota, `q` in namespace a; every write gives it a new version. `before` runs between a read and its write. */
class Server {
  readonly objects = new FakeObjects()
  readonly plugin: ResourceQuota
  writes = 0
  before: () => void = () => undefined

  constructor(spec: ResourceQuotaKind['spec'], status: ResourceQuotaKind['status'] = {}) {
    this.#put({ metadata: { name: 'q', namespace: 'a', resourceVersion: '1' }, ...(spec && { spec }), status })
    const store: QuotaStatusStore = {
      update: async (_namespace, _name, change) => {
        for (;;) {
          const quota = this.quota
          const next = await change(structuredClone(quota))
          if (next === undefined) return
          this.before()
          if (this.quota.metadata?.resourceVersion !== quota.metadata?.resourceVersion) continue
          this.#put({ ...quota, status: next })
          return
        }
      },
    }
    const ledger = new QuotaLedger({
      objects: this.objects,
      store,
      clock: {
        ...systemClock,
        after: (_ms, callback) => {
          const handle = setImmediate(callback)
          return { cancel: () => clearImmediate(handle) }
        },
      },
      served: ({ group, resource }) => ({ group, version: 'v1', resource }),
    })
    this.plugin = new ResourceQuota(this.objects, ledger)
  }

  get quota(): ResourceQuotaKind {
    return this.objects.get({ group: '', version: 'v1', resource: 'resourcequotas' }, 'a', 'q')!
  }

  #put(quota: ResourceQuotaKind): void {
    this.writes++
    const metadata = { ...quota.metadata, resourceVersion: String(this.writes) }
    this.objects.put('resourcequotas', { ...quota, metadata })
  }

  used(name: string): string | undefined {
    return this.quota.status?.used?.[name]
  }

  set(used: Record<string, string>): void {
    this.#put({ ...this.quota, status: { hard: this.quota.spec?.hard ?? {}, used } })
  }

  create(name: string, resource = 'configmaps'): Promise<string> {
    return ask(this.plugin, { resource, object: { metadata: { name, namespace: 'a' } } })
  }
}

t.test('a quota is counted when it is first met, filled, and refuses what is too much', async (t) => {
  const server = new Server({ hard: { 'count/configmaps': '3' } })
  server.objects.put('configmaps', { metadata: { name: 'there', namespace: 'a' } })
  t.equal(await server.create('x'), '')
  t.equal(server.used('count/configmaps'), '2')
  server.objects.put('configmaps', { metadata: { name: 'x', namespace: 'a' } })
  t.equal(await server.create('y'), '')
  server.objects.put('configmaps', { metadata: { name: 'y', namespace: 'a' } })
  t.match(
    await server.create('z'),
    /^403 configmaps "z" is forbidden: exceeded quota: q, requested: count\/configmaps=1, used: count\/configmaps=3, limited: count\/configmaps=3/,
  )
  t.equal(await server.create('s', 'secrets'), '', 'what is not counted is let alone')
})

t.test('a write that fails gives back what it took; so does a deletion', async (t) => {
  const server = new Server({ hard: { configmaps: '5' } }, { hard: { configmaps: '5' }, used: { configmaps: '2' } })
  const object = { metadata: { name: 'x', namespace: 'a' } }
  const given = attributes({ resource: 'configmaps', object })
  await server.plugin.validate(given)
  t.equal(server.used('configmaps'), '3')
  await given.outcomes[0]?.(false)
  t.equal(server.used('configmaps'), '2')
  await server.plugin.deleted({ group: '', resource: 'configmaps' }, object)
  t.equal(server.used('configmaps'), '1')
  const dry = { resource: 'configmaps', object, dryRun: true }
  t.equal(await ask(server.plugin, dry), '')
  t.equal(server.used('configmaps'), '1', 'a dry run takes nothing')
})

t.test('many at once: as many as fit, in few writes, whoever else writes', async (t) => {
  const server = new Server({ hard: { configmaps: '50' } }, { hard: { configmaps: '50' }, used: { configmaps: '0' } })
  let foreign = 0
  server.before = () => {
    // Another process takes one at every third attempt.
    if (foreign < 10 && server.writes % 3 === 0) {
      foreign++
      server.set({ configmaps: String(Number(server.used('configmaps')) + 1) })
    }
    for (let i = 0; i < Number(server.used('configmaps')); i++)
      server.objects.put('configmaps', { metadata: { name: `n${i}`, namespace: 'a' } })
  }
  for (let i = 0; i < 50; i++) server.objects.put('configmaps', { metadata: { name: `n${i}`, namespace: 'a' } })
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => server.create(`c${i}`)))
  t.equal(answers.filter((answer) => answer === '').length + foreign, 50)
  t.equal(server.used('configmaps'), '50')
  t.ok(server.writes < 30, `${server.writes} writes`)
})

t.test('a status that says too much is mended before somebody is refused', async (t) => {
  const server = new Server({ hard: { configmaps: '2' } }, { hard: { configmaps: '2' }, used: { configmaps: '2' } })
  t.equal(await server.create('x'), '', 'nothing is there')
  t.equal(server.used('configmaps'), '1')
})

t.test('pods: what they must state, and what they use', async (t) => {
  const hard = { pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi' }
  const server = new Server({ hard })
  const pod = (resources: object): KubeObject => podWith({ containers: [{ name: 'c', resources }] })
  t.match(await ask(server.plugin, { object: pod({}) }), /must specify requests.cpu for: c; limits.memory for: c/)
  const fits = pod({ requests: { cpu: '600m' }, limits: { memory: '512Mi' } })
  t.equal(await ask(server.plugin, { object: fits }), '')
  t.same(server.quota.status?.used, { pods: '1', 'requests.cpu': '600m', 'limits.memory': '512Mi' })
  server.objects.put('pods', fits)
  t.match(await ask(server.plugin, { object: fits }), /exceeded quota.*requested: requests.cpu=600m/)
  const ended = { ...fits, status: { phase: 'Succeeded' } }
  await ask(server.plugin, { resource: 'pods/status', object: ended, oldObject: fits })
  t.same(server.quota.status?.used, { pods: '0', 'requests.cpu': '0', 'limits.memory': '0' })
})

t.test('usage of objects', (t) => {
  const shown = (resource: string, object: KubeObject, group = ''): Record<string, string> =>
    Object.fromEntries([...usageOfObject({ group, resource }, object)].map(([name, q]) => [name, q.toString()]))
  t.same(shown('services', { spec: { type: 'LoadBalancer', ports: [{}, {}] } }), {
    'count/services': '1',
    services: '1',
    'services.loadbalancers': '1',
    'services.nodeports': '2',
  })
  t.same(
    shown('persistentvolumeclaims', {
      spec: { storageClassName: 'gold', resources: { requests: { storage: '1Gi' } } },
    }),
    {
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'requests.storage': '1Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
    },
  )
  t.same(shown('pods', podWith({ containers: [{ resources: { requests: { 'example.com/gpu': '2' } } }] })), {
    'count/pods': '1',
    pods: '1',
    'requests.example.com/gpu': '2',
  })
  const devices = { requests: [{ exactly: { deviceClassName: 'gpu', count: 9223372036854775807n } }] }
  t.match(
    shown('resourceclaims', { spec: { devices } }, 'resource.k8s.io'),
    { 'gpu.deviceclass.resource.k8s.io/devices': '9223372036854775807' },
    'a count of any int64',
  )
  const behind: [string, string | undefined][] = [
    ['count/deployments.apps', 'deployments'],
    ['cpu', 'pods'],
    ['requests.example.com/gpu', 'pods'],
    ['requests.storage', 'persistentvolumeclaims'],
    ['services.nodeports', 'services'],
    ['gpu.deviceclass.resource.k8s.io/devices', 'resourceclaims'],
    ['secrets', 'secrets'],
    ['nonsense', undefined],
  ]
  for (const [name, resource] of behind) t.equal(resourceBehind(name)?.resource, resource, name)
  t.end()
})

t.test('scopes', (t) => {
  const burstable = { containers: [{ resources: { requests: { cpu: '1' } } }] }
  const crossing = {
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaceSelector: {} }] } },
  }
  const cases: [string, object, boolean][] = [
    ['Terminating', { activeDeadlineSeconds: 5 }, true],
    ['Terminating', {}, false],
    ['NotTerminating', {}, true],
    ['BestEffort', {}, true],
    ['NotBestEffort', {}, false],
    ['NotBestEffort', burstable, true],
    ['PriorityClass', { priorityClassName: 'x' }, true],
    ['PriorityClass', {}, false],
    ['CrossNamespacePodAffinity', crossing, true],
    ['CrossNamespacePodAffinity', {}, false],
    ['VolumeAttributesClass', {}, false],
  ]
  for (const [scope, spec, matches] of cases)
    t.equal(
      matchesScopes({ spec: { scopes: [scope] } }, 'pods', podWith(spec)),
      matches,
      `${scope} ${JSON.stringify(spec)}`,
    )
  const selector = (operator: string, ...values: string[]): ResourceQuotaKind => ({
    spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] } },
  })
  const high = podWith({ priorityClassName: 'high' })
  t.equal(matchesScopes(selector('In', 'high'), 'pods', high), true)
  t.equal(matchesScopes(selector('NotIn', 'high'), 'pods', high), false)
  t.equal(matchesScopes(selector('DoesNotExist'), 'pods', high), false)
  const claim = { spec: {}, status: { currentVolumeAttributesClassName: 'v' } }
  t.equal(matchesScopes({ spec: { scopes: ['VolumeAttributesClass'] } }, 'persistentvolumeclaims', claim), true)
  t.equal(matchesScopes({ spec: { scopes: ['BestEffort'] } }, 'services', {}), false, 'a scope is for pods or claims')
  t.end()
})
