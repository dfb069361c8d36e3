/** Writes to the embedded engine with many in flight and reports every acknowledgement, until it is killed. */
import { once } from 'node:events'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'

const [dataDir, round] = [process.argv[2]!, process.argv[3]!]
const WRITERS = 48
/** Shared by all writers, so that updates, deletions and creations of the same keys race. */
const SHARED_KEYS = 12

// Started ahead of its round: the folder is the previous writer's until the parent says go.
await once(process.stdin, 'data')
process.stdin.destroy()
const engine = await EmbeddedEngine.open({ dataDir })
// A pipe as stdout is written synchronously: what write() has taken reaches the parent even when this process dies right after.
const report = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
report({ start: await engine.currentRevision() })

async function writer(id: number): Promise<never> {
  for (let i = 0; ; i++) {
    const shared = i % 3 === 0
    const key = shared ? `/k/shared-${(id + i) % SHARED_KEYS}` : `/k/${id}-${i % 4}`
    const current = (await engine.get(key)).kv
    // Unique by its start; the rest gives it a size.
    const name = `${round}/${id}/${i}/`
    const remove = current !== undefined && i % 5 === 4
    const result = remove
      ? await engine.optimisticDelete(key, current.modRevision)
      : await engine.optimisticPut(key, Buffer.from(name.padEnd((id * 37) % 1800, 'x')), current?.modRevision ?? 0)
    if (result.succeeded) report({ revision: result.revision, key, value: remove ? null : name })
  }
}
// Compaction runs too: a kill must find it at any stage.
async function compactor(): Promise<never> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    const revision = (await engine.currentRevision()) - 400
    if (revision > engine.compactedRevision() + 50) await engine.compact(revision)
  }
}
await Promise.all([compactor(), ...Array.from({ length: WRITERS }, (_, id) => writer(id))])
