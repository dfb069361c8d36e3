import t from 'tap'
import { NO_LEASE } from '#keelson/storage/contract/kv.js'
import { openEngineFolder } from '#keelson/storage/embedded/engine-folder.js'
import { Slab } from '#keelson/storage/embedded/records.js'
import { WriteBatch } from '#keelson/storage/embedded/write-batch.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const LARGE_BYTES = 3 * 1024 * 1024
/** Longer than LMDB's thread takes to put the values into its pages. */
const PREEMPTED_MS = 500

t.test('a large commit is one transaction, however long the thread is kept from its end', async (t) => {
  const folder = await openEngineFolder(temporaryFolder(t, 'transactions'), () => undefined)
  folder.snapshot.release()
  const { database } = folder
  const { meta } = database.tables
  const write = async (name: string, bytes: number): Promise<void> => {
    const snapshot = database.pin()
    const batch = new WriteBatch(snapshot, new Slab())
    for (const key of [`/${name}/a`, `/${name}/b`]) {
      const value = Buffer.alloc(bytes)
      batch.put({ key, value, expectedModRevision: 0, getOnFailure: false, lease: NO_LEASE, draft: undefined })
    }
    await database.commit(batch.writes, batch.state, batch.slab)
    snapshot.release()
  }
  // lmdb-js counts the opening with the first.
  await write('first', 1)
  const ifVersion = meta.ifVersion.bind(meta)
  let blocks = 0
  meta.ifVersion = ((...block: Parameters<typeof ifVersion>) => {
    if (++blocks > 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PREEMPTED_MS)
    return ifVersion(...block)
  }) as typeof meta.ifVersion
  let transactions = 0
  const events = meta as unknown as { on(event: 'aftercommit', listener: () => void): void }
  events.on('aftercommit', () => transactions++)
  await write('large', LARGE_BYTES)
  // Waits for what LMDB has not ended.
  await folder.close()
  t.equal(blocks, 2)
  t.equal(transactions, 1)
})
