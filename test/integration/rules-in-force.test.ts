import t from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { alternate, policySwitch, refused, webhookSwitch } from './rules-in-force-fixture.js'

// A request that begins after the write of a policy or webhook configuration was acknowledged is subject to it, whichever thread
// gets it. rules-in-force.long.ts alternates 10,000 times.

const ALTERNATIONS = 60

t.test('embedded: every write of a rule is in force when it is acknowledged', async (t) => {
  const server = await KeelsonProcess.start(['--pool-threads=3'])
  t.teardown(() => server.close())
  t.equal(await alternate(server, await policySwitch(server), ALTERNATIONS), 0)
  t.equal(await alternate(server, await webhookSwitch(server), ALTERNATIONS), 0)
})

t.test('etcd: the same, and other servers follow', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoint}`, '--pool-threads=3']
  const server = await KeelsonProcess.start(flags)
  t.teardown(() => server.close())
  const other = await KeelsonProcess.start(flags)
  t.teardown(() => other.close())
  for (const rule of [await policySwitch(server), await webhookSwitch(server)]) {
    t.equal(await alternate(server, rule, ALTERNATIONS), 0, rule.name)
    for (const refuse of [true, false]) {
      await rule.set(refuse)
      await until(async () => (await refused(other, 3)) === (refuse ? 3 : 0), {
        what: `${rule.name} on another server`,
      })
    }
  }
})
