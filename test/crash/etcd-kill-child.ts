/** Writes to etcd and waits for answers that never come; says so if one does. */
import { once } from 'node:events'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { makePod, podKey } from '../contract/pod.js'
import { openStore } from '../contract/store-harness.js'
import { WRITES_OF_A_KIND } from './etcd-kill-plan.js'

const [endpoint, round, updatedFrom, deletedFrom] = process.argv.slice(2) as [string, string, string, string]
const kv = new EtcdKV({ endpoints: [endpoint] })
const { store } = openStore(kv, '/registry')
// Connected before the answers stop.
await kv.get('/any')
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const writes = Array.from({ length: WRITES_OF_A_KIND }, (_, i) => {
  const pod = makePod(`round-${round}`, `ns-${i}`)
  return [
    store.create(podKey(pod), pod),
    kv.optimisticPut(`/registry/updated/${i}`, Buffer.from(`round ${round}`), Number(updatedFrom) + i),
    kv.optimisticDelete(`/registry/deleted/${i}`, Number(deletedFrom) + i),
  ]
})
await Promise.race(writes.flat())
process.stdout.write('answered\n')
