import t from 'tap'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'
import { kvSuite } from '../../support/kv-suite.js'

if (skipWithoutEtcd !== false) t.pass('the contract on etcd', { skip: skipWithoutEtcd })
else {
  const server = await EtcdServer.start()
  const probe = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(async () => {
    await probe.close()
    await server.stop()
  })
  kvSuite(t, 'etcd', {
    /** One etcd for all: starting one takes longer than any test, and each test leaves little behind. */
    async open() {
      const kv = new EtcdKV({ endpoints: [server.endpoint] })
      for (const { key, modRevision } of (await kv.list('/', { keysOnly: true })).kvs)
        await kv.optimisticDelete(key, modRevision)
      return kv
    },
    progressTrusted: () => probe.progressTrusted(),
  })
}
