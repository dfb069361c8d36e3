import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { everyBehaviour } from './behaviours.js'
import { openCacher } from './cacher-harness.js'
import { runSuite } from './suite.js'

const server = skipWithoutEtcd ? undefined : await EtcdServer.start()
const kv = server && new EtcdKV({ endpoints: [server.endpoint] })
let opened = 0

runSuite(
  {
    name: 'cacher over etcd',
    cached: true,
    skip: skipWithoutEtcd,
    open: () =>
      openCacher({
        kv: kv!,
        pathPrefix: `/registry-${++opened}`,
        progressTrusted: () => kv!.progressTrusted(),
        // etcd's own clock runs.
        passTime: () => Promise.resolve(),
      }),
    async close() {
      await kv?.close()
      await server?.stop()
    },
  },
  everyBehaviour,
)
