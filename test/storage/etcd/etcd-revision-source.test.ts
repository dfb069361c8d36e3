import t, { type Test } from 'tap'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdRevisionSource } from '#keelson/storage/etcd/etcd-revision-source.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'
import { until } from '../../support/until.js'
import { FakeEtcd } from './fake-etcd.js'
import { TcpGate } from './tcp-gate.js'

function open(t: Test, endpoints: readonly string[]): EtcdRevisionSource {
  const source = new EtcdRevisionSource({ endpoints, timeoutMs: 300 })
  t.teardown(() => source.close())
  return source
}

async function answered(source: EtcdRevisionSource): Promise<number> {
  let revision: number | undefined
  await until(
    async () => {
      revision = await source.ask()
      return revision !== undefined
    },
    { what: 'an answer' },
  )
  return revision!
}

t.test('tells the revision with everything that was acknowledged', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const kv = new EtcdKV({ endpoints: [etcd.endpoint] })
  t.teardown(() => kv.close())
  const source = open(t, [etcd.endpoint])
  await answered(source)
  for (let i = 0; i < 20; i++) {
    const { revision } = await kv.optimisticPut(`/k${i}`, Buffer.from('v'), 0)
    t.equal(await source.ask(), revision)
  }
})

t.test('gives nothing while there is no connection, and answers again when there is one', async (t) => {
  const etcd = await FakeEtcd.start('3.5.9')
  t.teardown(() => etcd.stop())
  const gate = await TcpGate.start(Number(new URL(etcd.endpoint).port))
  t.teardown(() => gate.stop())
  const source = open(t, [gate.endpoint])
  t.equal(source.ask(), undefined, 'the first question only makes the connection')
  t.equal(await answered(source), 50)
  const lost = source.ask()
  gate.shut()
  t.equal(await lost, undefined)
  await gate.open()
  etcd.revision = 60
  t.equal(await answered(source), 60)
})

t.test('a server that is silent is passed over for the next one', async (t) => {
  const silent = await FakeEtcd.start('3.5.9')
  const other = await FakeEtcd.start('3.5.9')
  t.teardown(() => Promise.all([silent.stop(), other.stop()]))
  other.revision = 70
  const gate = await TcpGate.start(Number(new URL(silent.endpoint).port))
  t.teardown(() => gate.stop())
  const source = open(t, [gate.endpoint, other.endpoint])
  // Both are connected to at once; the first one is asked from when it is there.
  await until(async () => (await source.ask()) === 50, { what: 'an answer of the first server' })
  gate.freeze()
  t.equal(await source.ask(), undefined)
  t.equal(await answered(source), 70)
})
