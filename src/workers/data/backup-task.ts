/**
 * Thread: data. Backs up a store while it runs: of the embedded engine its file under a read transaction of LMDB's, of etcd
 * the pages of one revision. Either is the state of one moment.
 */
import path from 'node:path'
import type { DataPlace, DataTask, TellData } from '../../protocol/main-data.js'
import { BackupError } from '../../storage/backup/backup-format.js'
import { BackupWriter } from '../../storage/backup/backup-writer.js'
import { isTooOld } from '../../storage/contract/errors.js'
import { type KeyValue, NO_LEASE } from '../../storage/contract/kv.js'
import { readFormat } from '../../storage/embedded/data-directory.js'
import { openPinned } from '../../storage/embedded/file/pinned-file.js'
import { checkStore, type StoreReport } from '../../storage/embedded/file/store-check.js'
import { DATA_FILE } from '../../storage/embedded/tables.js'
import { EtcdKV } from '../../storage/etcd/etcd-kv.js'
import { loadTlsOptions } from '../../storage/etcd/tls-options.js'

type BackupTask = Extract<DataTask, { type: 'backup' }>
type EtcdPlace = Extract<DataPlace, { type: 'etcd' }>

const PAGE_KEYS = 2_000
/** A lease whose end etcd did not tell, because it came meanwhile. */
const ENDED = -1

export async function backUp(task: BackupTask, tell: TellData): Promise<void> {
  const { source } = task
  const writer = openWriter(task.file)
  try {
    const skipped =
      source.type === 'embedded'
        ? await fromFolder(source.dataDir, task, writer, tell)
        : await fromEtcd(source, writer, tell)
    writer.finish()
    const left = skipped > 0 ? `; what is damaged was left out (${skipped} problems, above)` : ''
    tell({ type: 'done', sound: skipped === 0, summary: `${task.file} holds ${writer.keys} keys${left}` })
  } catch (error) {
    writer.abandon()
    throw error instanceof BackupError ? new Error(`${task.file} ${error.message}`) : error
  }
}

function openWriter(file: string): BackupWriter {
  try {
    return new BackupWriter(file)
  } catch (error) {
    throw error instanceof BackupError ? new Error(`${file} ${error.message}`) : error
  }
}

/** Gives the number of problems. */
async function fromFolder(dataDir: string, task: BackupTask, writer: BackupWriter, tell: TellData): Promise<number> {
  readFormat(dataDir)
  const pinned = openPinned(path.join(dataDir, DATA_FILE))
  let report: StoreReport
  try {
    report = checkStore(pinned.file, {
      onState: ({ revision }, keys) =>
        writer.begin({ source: 'embedded', revision, keys, createdAt: new Date().toISOString() }),
      onLease: (lease, record) => writer.add({ type: 'lease', lease: { lease, ...record } }),
      onLive: (kv) => writer.add({ type: 'key', kv }),
      onProgress: (done, total) => tell({ type: 'progress', what: 'backup', done, total }),
    })
  } finally {
    await pinned.release()
  }
  for (const problem of report.problems) tell({ type: 'problem', problem })
  if (report.state === undefined) throw new Error(`nothing of ${dataDir} can be saved: its state cannot be read`)
  if (report.problemCount > 0 && !task.skipDamaged)
    throw new Error(
      `${dataDir} is damaged (${report.problemCount} problems); --skip-damaged saves what is sound, and no backup was written`,
    )
  return report.problemCount
}

async function fromEtcd(source: EtcdPlace, writer: BackupWriter, tell: TellData): Promise<number> {
  const kv = new EtcdKV({ endpoints: source.transport.servers, tls: loadTlsOptions(source.transport) })
  try {
    const first = await kv.list(source.prefix, { limit: PAGE_KEYS })
    const { revision } = first
    writer.begin({ source: 'etcd', revision, keys: first.count, createdAt: new Date().toISOString() })
    const known = new Set<bigint>()
    let done = 0
    for (let page = first; ; ) {
      for (const found of page.kvs) {
        await addLease(kv, found, known, writer)
        writer.add({ type: 'key', kv: found })
      }
      done += page.kvs.length
      tell({ type: 'progress', what: 'backup', done, total: first.count })
      const last = page.kvs.at(-1)
      if (!page.more || last === undefined) return 0
      page = await kv.list(source.prefix, { limit: PAGE_KEYS, revision, startKey: `${last.key}\0` })
    }
  } catch (error) {
    if (isTooOld(error)) throw new Error('etcd compacted the revision that was being read; try again')
    throw error
  } finally {
    await kv.close()
  }
}

async function addLease(kv: EtcdKV, { lease }: KeyValue, known: Set<bigint>, writer: BackupWriter): Promise<void> {
  if (lease === NO_LEASE || known.has(lease)) return
  known.add(lease)
  const { ttlSeconds, remainingSeconds } = await kv.leaseTimeToLive(lease)
  if (remainingSeconds !== ENDED)
    writer.add({ type: 'lease', lease: { lease, ttlSeconds, expiresAtMs: Date.now() + remainingSeconds * 1000 } })
}
