import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'
type Lease = KubeObject & { spec?: { holderIdentity?: string; leaseTransitions?: number } }

t.test('two servers on one etcd', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoint}`, '--controllers=*']
  const first = await KeelsonProcess.start(flags)
  t.teardown(() => first.close())
  const api = new ApiClient(first)
  const holder = async (client: ApiClient): Promise<string> =>
    (await client.get<Lease>(LEASE))?.spec?.holderIdentity ?? ''
  await until(async () => (await holder(api)) !== '', { what: 'the lease to be taken' })
  const before = await holder(api)
  const second = await KeelsonProcess.start(flags)
  t.teardown(() => second.close())
  const other = new ApiClient(second)

  await t.test('one works, whichever is asked', async (t) => {
    await other.create('/api/v1/namespaces', { metadata: { name: 'shared' } })
    await other.appears('/api/v1/namespaces/shared/serviceaccounts/default')
    t.equal(await holder(other), before)
  })

  await t.test('when it stops it gives the lease up, and the other goes on with what was begun', async (t) => {
    await other.create('/api/v1/namespaces/shared/configmaps', {
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
    })
    await other.delete('/api/v1/namespaces/shared')
    await other.when(
      '/api/v1/namespaces/shared/configmaps/held',
      'the deletion to begin',
      ({ metadata }) => metadata?.deletionTimestamp !== undefined,
    )
    await first.stop('SIGTERM')
    await other.merge('/api/v1/namespaces/shared/configmaps/held', { metadata: { finalizers: null } })
    await other.goes('/api/v1/namespaces/shared')
    const { spec } = (await other.get<Lease>(LEASE))!
    t.not(spec?.holderIdentity, before)
    t.ok((spec?.leaseTransitions ?? 0) >= 1)
  })
})
