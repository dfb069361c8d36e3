import t from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { alternate, policySwitch, webhookSwitch } from './rules-in-force-fixture.js'

// As rules-in-force.test.ts, 10,000 times with each storage: half of them with a policy, half with a webhook configuration.

const ALTERNATIONS = 5_000

async function hold(
  t: { teardown(end: () => unknown): void; equal(found: unknown, wanted: unknown): boolean },
  flags: readonly string[],
): Promise<void> {
  const server = await KeelsonProcess.start(['--pool-threads=3', ...flags])
  t.teardown(() => server.close())
  t.equal(await alternate(server, await policySwitch(server), ALTERNATIONS), 0)
  t.equal(await alternate(server, await webhookSwitch(server), ALTERNATIONS), 0)
}

t.test('embedded', (t) => hold(t, []))
t.test('etcd', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  await hold(t, [`--etcd-servers=${etcd.endpoint}`])
})
