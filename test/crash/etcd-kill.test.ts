import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isStorageError } from '#keelson/storage/contract/errors.js'
import type { KvEvent, KvWatch } from '#keelson/storage/contract/kv.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { makePod, podKey } from '../contract/pod.js'
import { openStore } from '../contract/store-harness.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { WithholdingProxy } from '../support/withholding-proxy.js'
import { WRITES_OF_A_KIND } from './etcd-kill-plan.js'

const ROUNDS = 30
const CHILD = fileURLToPath(new URL('./etcd-kill-child.js', import.meta.url))
const indices = Array.from({ length: WRITES_OF_A_KIND }, (_, i) => i)

// Starting processes takes most of it; a busy machine may take several minutes.
t.setTimeout(900_000)

async function take(watch: KvWatch, count: number): Promise<KvEvent[]> {
  const events: KvEvent[] = []
  while (events.length < count) {
    const batch = await watch.next()
    if (batch === undefined) throw new Error('the watch ended early')
    events.push(...batch.events)
  }
  return events
}

const shape = (event: KvEvent): string => `${event.type} ${event.kv.key} ${event.kv.modRevision}`

/** Sets up what a round updates and deletes, at consecutive revisions; gives the first of each. */
async function prepare(kv: EtcdKV, updatedAt: number[]): Promise<{ updatedFrom: number; deletedFrom: number }> {
  const updated: number[] = []
  for (const i of indices)
    updated.push((await kv.optimisticPut(`/registry/updated/${i}`, Buffer.from('old'), updatedAt[i] ?? 0)).revision)
  const deleted: number[] = []
  for (const i of indices)
    deleted.push((await kv.optimisticPut(`/registry/deleted/${i}`, Buffer.from('old'), 0)).revision)
  return { updatedFrom: updated[0]!, deletedFrom: deleted[0]! }
}

/** Has another process write through a proxy that keeps etcd's answers, and kills it once etcd has committed everything. */
async function killBetweenCommitAndAnswer(
  etcd: EtcdServer,
  args: readonly string[],
  committed: () => Promise<unknown>,
) {
  const proxy = await WithholdingProxy.start(etcd.port)
  const child = spawn(process.execPath, [CHILD, `http://127.0.0.1:${proxy.port}`, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  proxy.withhold()
  child.stdin.write('go')
  await committed()
  const exited = once(child, 'close')
  child.kill('SIGKILL')
  await exited
  await proxy.close()
  return { output, withheldBytes: proxy.withheldBytes }
}

t.test(
  `${ROUNDS} processes killed between etcd’s commit and its answer leave each write exactly once`,
  { skip: skipWithoutEtcd },
  async (t) => {
    const etcd = await EtcdServer.start()
    t.teardown(() => etcd.stop())
    const witness = new EtcdKV({ endpoints: [etcd.endpoint] })
    t.teardown(() => witness.close())
    let updatedAt: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { updatedFrom, deletedFrom } = await prepare(witness, updatedAt)
      const before = await witness.currentRevision()
      const live = witness.watch({ key: '/registry/', prefix: true, startRevision: before + 1 })
      let seen: KvEvent[] = []
      const args = [round, updatedFrom, deletedFrom].map(String)
      const { output, withheldBytes } = await killBetweenCommitAndAnswer(etcd, args, async () => {
        seen = await take(live, 3 * WRITES_OF_A_KIND)
      })
      if (output !== 'ready\n') t.fail(`round ${round}: the process heard of its writes: ${output}`)
      if (withheldBytes === 0) t.fail(`round ${round}: etcd had not answered yet`)

      const successor = new EtcdKV({ endpoints: [etcd.endpoint] })
      const { store } = openStore(successor, '/registry')
      const after = await successor.currentRevision()
      if (after !== before + 3 * WRITES_OF_A_KIND) t.fail(`round ${round}: revision ${before} became ${after}`)
      const replay = successor.watch({ key: '/registry/', prefix: true, startRevision: before + 1 })
      const replayed = await take(replay, 3 * WRITES_OF_A_KIND)
      t.same(replayed.map(shape), seen.map(shape), `round ${round}: a new watch sees the same events`)
      t.same(
        replayed.map((event) => event.kv.modRevision),
        Array.from({ length: 3 * WRITES_OF_A_KIND }, (_, i) => before + 1 + i),
        'each write has one revision, and they follow one another',
      )
      const keys = new Set(replayed.map((event) => event.kv.key))
      t.equal(keys.size, 3 * WRITES_OF_A_KIND, 'each write is there once')
      const listed = (await successor.list('/registry/', {})).kvs.filter((kv) => keys.has(kv.key))
      t.equal(
        listed.length,
        2 * WRITES_OF_A_KIND,
        'what was created and updated is listed once, what was deleted is not',
      )

      for (const i of indices) {
        const pod = makePod(`round-${round}`, `ns-${i}`)
        const created: unknown = await store.create(podKey(pod), pod).catch((error: unknown) => error)
        if (!isStorageError(created, 'key-exists'))
          t.fail(`round ${round}: a repeated creation gave ${String(created)}`)
        const updated = await successor.optimisticPut(`/registry/updated/${i}`, Buffer.from('again'), updatedFrom + i)
        if (updated.succeeded) t.fail(`round ${round}: a repeated update went through`)
        const deleted = await successor.optimisticDelete(`/registry/deleted/${i}`, deletedFrom + i)
        if (deleted.succeeded) t.fail(`round ${round}: a repeated deletion went through`)
      }
      t.equal(await successor.currentRevision(), after, 'repeating them changed nothing')
      updatedAt = indices.map((i) => listed.find((kv) => kv.key === `/registry/updated/${i}`)!.modRevision)
      live.close()
      replay.close()
      await successor.close()
    }
  },
)
