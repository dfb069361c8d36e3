import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'
type Lease = KubeObject & { spec?: { holderIdentity?: string } }

t.test(
  'when the server that works is killed, the other takes over after the lease has run out',
  { skip: skipWithoutEtcd },
  async (t) => {
    const etcd = await EtcdServer.start()
    t.teardown(() => etcd.stop())
    const flags = [`--etcd-servers=${etcd.endpoint}`, '--controllers=*']
    const first = await KeelsonProcess.start(flags)
    t.teardown(() => first.close())
    const api = new ApiClient(first)
    await until(async () => (await api.get<Lease>(LEASE))?.spec?.holderIdentity !== undefined, { what: 'a holder' })
    const before = (await api.get<Lease>(LEASE))?.spec?.holderIdentity
    const second = await KeelsonProcess.start(flags)
    t.teardown(() => second.close())
    const other = new ApiClient(second)
    await other.create('/api/v1/namespaces', { metadata: { name: 'begun' } })
    await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        other.create('/api/v1/namespaces/begun/configmaps', { metadata: { name: `c${i}` } }),
      ),
    )
    await other.delete('/api/v1/namespaces/begun')
    await first.stop('SIGKILL')
    const killed = performance.now()
    await until(async () => (await other.get<Lease>(LEASE))?.spec?.holderIdentity !== before, {
      what: 'the other to take over',
      deadlineMs: 120_000,
    })
    const took = performance.now() - killed
    t.ok(took > 10_000, `not before the lease has run out: ${Math.round(took)} ms`)
    t.comment(`taken over after ${Math.round(took)} ms`)
    await other.goes('/api/v1/namespaces/begun')
    t.same(await other.list('/api/v1/namespaces/begun/configmaps'), [])
  },
)
