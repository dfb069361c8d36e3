/**
 * Writes to the embedded engine one group of keys after another, compacts now and then, and notes every acknowledgement in a
 * file: by a plain write, which survives the process, and which is seen among the calls of the engine.
 */
import { appendFileSync } from 'node:fs'
import { isStorageError } from '#keelson/storage/contract/errors.js'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'

const [dataDir, acks, groups] = [process.argv[2]!, process.argv[3]!, Number(process.argv[4])]
const KEYS_A_GROUP = 4

const note = (line: object): void => appendFileSync(acks, `${JSON.stringify(line)}\n`)

async function write(engine: EmbeddedEngine, group: number, place: number): Promise<void> {
  const key = `/k/${(group * 3 + place) % 10}`
  const value = `${group}/${place}/`.padEnd((group * 397 + place * 911) % 6000, 'x')
  try {
    const current = (await engine.get(key)).kv
    const remove = current !== undefined && (group + place) % 5 === 4
    const { succeeded, revision } = remove
      ? await engine.optimisticDelete(key, current.modRevision)
      : await engine.optimisticPut(key, Buffer.from(value), current?.modRevision ?? 0)
    if (succeeded) note({ revision, key, value: remove ? null : value })
  } catch (error) {
    // Whether a write that failed otherwise is there or not is not known.
    note({ refused: isStorageError(error, 'no-space'), key, value })
  }
}

const engine = await EmbeddedEngine.open({ dataDir })
note({ started: true })
for (let group = 0; group < groups; group++) {
  await Promise.all(Array.from({ length: KEYS_A_GROUP }, (_, place) => write(engine, group, place)))
  if (group % 6 === 5)
    await engine
      .compact((await engine.currentRevision()) - 3)
      .catch((error: unknown) => note({ compaction: String(error) }))
}
await engine.close().catch((error: unknown) => note({ close: String(error) }))
note({ ended: true })
