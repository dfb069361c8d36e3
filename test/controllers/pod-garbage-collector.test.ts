import t from 'tap'
import type { Pod } from '#keelson/api/generated/kinds/core.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const server = await KeelsonProcess.start([
  '--controllers=podgc',
  '--terminated-pod-gc-threshold=3',
  '--disable-admission-plugins=ServiceAccount',
])
t.teardown(() => server.close())
const api = new ApiClient(server)
const PODS = '/api/v1/namespaces/default/pods'

const pod = (name: string, nodeName: string, metadata: object = {}): Promise<KubeObject> =>
  api.create(PODS, { metadata: { name, ...metadata }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }] } })

t.test('a deleted pod on a node out of service is ended, others are left to their kubelets', async (t) => {
  await api.create('/api/v1/nodes', { metadata: { name: 'dead' } })
  await api.create('/api/v1/nodes', { metadata: { name: 'alive' } })
  for (const [name, node] of [
    ['lost', 'dead'],
    ['kept', 'dead'],
    ['normal', 'alive'],
  ] as const)
    await pod(name, node)
  await api.delete(`${PODS}/lost`)
  await api.delete(`${PODS}/normal`)
  await api.merge('/api/v1/nodes/dead', {
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
  })
  await api.goes(`${PODS}/lost`)
  t.equal((await api.get(`${PODS}/kept`))?.metadata?.deletionTimestamp, undefined)
  t.ok((await api.get(`${PODS}/normal`))?.metadata?.deletionTimestamp, 'its kubelet will end it')
})

t.test('a deleted pod that no node has goes, when its finalizers let it', async (t) => {
  await pod('unscheduled', '', { finalizers: ['example.com/hold'] })
  await api.delete(`${PODS}/unscheduled`)
  const { status } = await api.when<Pod & KubeObject>(
    `${PODS}/unscheduled`,
    'the pod to be failed',
    (found) => found.status?.phase === 'Failed',
  )
  t.ok(status)
  await api.merge(`${PODS}/unscheduled`, { metadata: { finalizers: null } })
  await api.goes(`${PODS}/unscheduled`)
})

t.test('of pods that ended the oldest go beyond the threshold, evicted ones first', async (t) => {
  const end = async (name: string, reason?: string): Promise<void> => {
    await pod(name, 'alive')
    await api.merge(`${PODS}/${name}/status`, { status: { phase: 'Failed', ...(reason ? { reason } : {}) } })
  }
  for (const name of ['a', 'b', 'c']) await end(name)
  t.equal((await api.list(PODS)).filter(({ metadata }) => /^[abc]$/.test(metadata?.name ?? '')).length, 3)
  await end('evicted', 'Evicted')
  await api.goes(`${PODS}/evicted`)
  await end('d')
  await until(async () => (await api.get(`${PODS}/a`)) === undefined, { what: 'the oldest to go' })
  for (const name of ['b', 'c', 'd']) t.ok(await api.get(`${PODS}/${name}`), name)
})
