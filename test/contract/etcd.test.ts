import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { everyBehaviour } from './behaviours.js'
import { openStore } from './store-harness.js'
import { runSuite } from './suite.js'

const server = skipWithoutEtcd ? undefined : await EtcdServer.start()
const kv = server && new EtcdKV({ endpoints: [server.endpoint] })
let opened = 0

runSuite(
  {
    name: 'KVStore over etcd',
    cached: false,
    skip: skipWithoutEtcd,
    async open() {
      const pathPrefix = `/registry-${++opened}`
      const { store, counting, transformer } = openStore(kv!, pathPrefix)
      return {
        storage: store,
        kv: kv!,
        reads: counting.reads,
        transformer,
        pathPrefix,
        // etcd's own clock runs.
        passTime: () => Promise.resolve(),
        progressOnDemand: () => kv!.progressTrusted(),
        now: () => Date.now(),
        close: () => store.close(),
      }
    },
    async close() {
      await kv?.close()
      await server?.stop()
    },
  },
  everyBehaviour,
)
