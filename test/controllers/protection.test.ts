import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const server = await KeelsonProcess.start([
  '--controllers=pvc-protection,pv-protection,ttl-after-finished',
  '--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection',
])
t.teardown(() => server.close())
const api = new ApiClient(server)
const CORE = '/api/v1/namespaces/default'

const claim = (name: string): Promise<KubeObject> =>
  api.create(`${CORE}/persistentvolumeclaims`, {
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
const pod = (name: string, claimName: string, nodeName: string): Promise<KubeObject> =>
  api.create(`${CORE}/pods`, {
    metadata: { name },
    spec: {
      nodeName,
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
    },
  })
const finalizer = async (path: string, name: string): Promise<void> => {
  await api.when(path, `${name} on ${path}`, ({ metadata }) => metadata?.finalizers?.includes(name) === true)
}

t.test('a claim stays while a pod on a node uses it', async (t) => {
  const path = `${CORE}/persistentvolumeclaims/data`
  await claim('data')
  await finalizer(path, 'kubernetes.io/pvc-protection')
  await pod('user', 'data', 'node')
  await pod('waits', 'data', '')
  t.equal(await api.delete(path), 200)
  // Something else is deleted meanwhile, so that the controller has had its turn.
  await claim('unused')
  await finalizer(`${CORE}/persistentvolumeclaims/unused`, 'kubernetes.io/pvc-protection')
  await api.delete(`${CORE}/persistentvolumeclaims/unused`)
  await api.goes(`${CORE}/persistentvolumeclaims/unused`)
  t.ok((await api.get(path))?.metadata?.deletionTimestamp)
  await api.delete(`${CORE}/pods/user?gracePeriodSeconds=0`)
  await api.goes(path)
})

t.test('a volume stays while it is bound', async (t) => {
  const path = '/api/v1/persistentvolumes/disk'
  await api.create('/api/v1/persistentvolumes', {
    metadata: { name: 'disk' },
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/tmp/disk' } },
  })
  await finalizer(path, 'kubernetes.io/pv-protection')
  await api.merge(`${path}/status`, { status: { phase: 'Bound' } })
  await api.delete(path)
  await claim('turn')
  await finalizer(`${CORE}/persistentvolumeclaims/turn`, 'kubernetes.io/pvc-protection')
  t.ok((await api.get(path))?.metadata?.deletionTimestamp)
  await api.merge(`${path}/status`, { status: { phase: 'Released' } })
  await api.goes(path)
})

t.test('a job that has finished goes after its time, and not before', async (t) => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs'
  const job = async (name: string, ttlSecondsAfterFinished: number): Promise<void> => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    await api.create(jobs, { metadata: { name }, spec: { ttlSecondsAfterFinished, template } })
    const time = new Date(Date.now() - 5_000).toISOString().replace(/\.\d+/, '')
    const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
      type,
      status: 'True',
      lastProbeTime: time,
      lastTransitionTime: time,
    }))
    await api.merge(`${jobs}/${name}/status`, { status: { startTime: time, completionTime: time, conditions } })
  }
  await job('later', 3600)
  await job('soon', 1)
  await until(
    async () => {
      const soon = await api.get(`${jobs}/soon`)
      return soon === undefined || soon.metadata?.deletionTimestamp !== undefined
    },
    { what: 'the job to be deleted' },
  )
  t.equal((await api.get(`${jobs}/later`))?.metadata?.deletionTimestamp, undefined)
})
