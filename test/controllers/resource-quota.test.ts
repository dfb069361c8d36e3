import t from 'tap'
import type { ResourceQuota } from '#keelson/api/generated/kinds/core.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'

const server = await KeelsonProcess.start([
  '--controllers=resourcequota',
  '--disable-admission-plugins=ServiceAccount,ResourceQuota',
])
t.teardown(() => server.close())
const api = new ApiClient(server)
const CORE = '/api/v1/namespaces/default'
type Quota = ResourceQuota & KubeObject

const quota = (name: string, spec: object): Promise<KubeObject> =>
  api.create(`${CORE}/resourcequotas`, { metadata: { name }, spec })
const used = async (name: string, wanted: Record<string, string>): Promise<Quota> =>
  api.when<Quota>(`${CORE}/resourcequotas/${name}`, `${name} to use ${JSON.stringify(wanted)}`, ({ status }) =>
    Object.entries(wanted).every(([key, amount]) => status?.used?.[key] === amount),
  )
const pod = (name: string, spec: object = {}): Promise<KubeObject> =>
  api.create(`${CORE}/pods`, {
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m', memory: '1Gi' } } }], ...spec },
  })

// Admission does not count here: whatever the status says was counted by the controller.
t.test('a new quota is counted, objects that were there before included', async (t) => {
  await pod('before')
  await api.create(`${CORE}/configmaps`, { metadata: { name: 'before' } })
  await quota('all', {
    hard: { pods: '10', 'requests.cpu': '4', configmaps: '20', 'count/secrets': '5', services: '3' },
  })
  const { status, spec } = await used('all', { pods: '1', 'requests.cpu': '500m', 'count/secrets': '0', services: '1' })
  t.same(status?.hard, spec?.hard)
  t.ok(Number(status?.used?.['configmaps']) >= 1)
})

t.test('changed limits are taken into the status, and what is new in them is counted', async () => {
  await api.merge(`${CORE}/resourcequotas/all`, { spec: { hard: { memory: '8Gi', services: null } } })
  await api.when<Quota>(
    `${CORE}/resourcequotas/all`,
    'the new limits',
    ({ status }) =>
      status?.hard?.['memory'] === '8Gi' && status.used?.['memory'] === '1Gi' && status.hard['services'] === undefined,
  )
})

t.test('what goes is given back, a pod that has ended too', async () => {
  await pod('second')
  await api.merge(`${CORE}/pods/second`, { metadata: { labels: { changed: 'yes' } } })
  await used('all', { pods: '2', 'requests.cpu': '1' })
  await api.merge(`${CORE}/pods/second/status`, { status: { phase: 'Succeeded' } })
  await used('all', { pods: '1', 'requests.cpu': '500m' })
  await api.delete(`${CORE}/pods/before?gracePeriodSeconds=0`)
  await used('all', { pods: '0', 'requests.cpu': '0' })
})

t.test('scopes count what is in them', async () => {
  await quota('best', { hard: { pods: '5' }, scopes: ['BestEffort'] })
  await quota('ends', { hard: { pods: '5' }, scopes: ['Terminating'] })
  await quota('class', {
    hard: { pods: '5' },
    scopeSelector: {
      matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
    },
  })
  await api.create(`${CORE}/pods`, { metadata: { name: 'best' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
  await pod('ends', { activeDeadlineSeconds: 60 })
  // Without admission a new pod is noticed when it changes.
  for (const name of ['best', 'ends']) await api.merge(`${CORE}/pods/${name}`, { metadata: { labels: { a: 'b' } } })
  await used('best', { pods: '1' })
  await used('ends', { pods: '1' })
  await used('class', { pods: '0' })
})

t.test('a status that somebody wrote wrongly is put right', async () => {
  const path = `${CORE}/resourcequotas/best`
  const { status } = (await api.get<Quota>(path))!
  await api.merge(`${path}/status`, { status: { ...status, used: { pods: '4' } } })
  await api.merge(`${CORE}/pods/best`, { metadata: { labels: { a: 'c' } } })
  await used('best', { pods: '1' })
})
