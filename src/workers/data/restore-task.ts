/** Thread: data. Makes a store of a backup: a folder of the embedded engine, or keys in etcd. */
import type { DataPlace, DataTask, TellData } from '../../protocol/main-data.js'
import { BackupError, type BackupHead, type BackupLease } from '../../storage/backup/backup-format.js'
import { readBackup, verifyBackup } from '../../storage/backup/backup-reader.js'
import { type KeyValue, type LeaseId, NO_LEASE } from '../../storage/contract/kv.js'
import { RestoredStore } from '../../storage/embedded/restored-store.js'
import { EtcdKV } from '../../storage/etcd/etcd-kv.js'
import { loadTlsOptions } from '../../storage/etcd/tls-options.js'

type RestoreTask = Extract<DataTask, { type: 'restore' }>
type EtcdPlace = Extract<DataPlace, { type: 'etcd' }>

const PARALLEL_WRITES = 64
const PROGRESS_KEYS = 2_000

export async function restore(task: RestoreTask, tell: TellData): Promise<void> {
  const { target } = task
  const head = verified(task.file, tell)
  const summary =
    target.type === 'embedded'
      ? await intoFolder(task, target.dataDir, head, tell)
      : await new EtcdRestore(task, target, head, tell).run()
  tell({ type: 'done', sound: true, summary })
}

/** A backup is read to its end before anything is made of it. */
function verified(file: string, tell: TellData): BackupHead {
  try {
    return verifyBackup(file, (done, total) => tell({ type: 'progress', what: 'check of the backup', done, total }))
  } catch (error) {
    throw error instanceof BackupError ? new Error(`${file} ${error.message}; nothing was restored`) : error
  }
}

async function intoFolder(task: RestoreTask, dataDir: string, head: BackupHead, tell: TellData): Promise<string> {
  const store = await RestoredStore.create({ dataDir, format: task.format })
  try {
    let done = 0
    for (const item of readBackup(task.file)) {
      if (item.type === 'lease') store.addLease(item.lease.lease, item.lease)
      if (item.type !== 'key') continue
      await store.addKey(item.kv)
      if (++done % PROGRESS_KEYS === 0) tell({ type: 'progress', what: 'restore', done, total: head.keys })
    }
    if (done !== head.keys) throw new Error(`${task.file} changed while it was restored`)
    const { revision, renumbered } = await store.finish(head.revision, task.bumpRevision)
    const changed = renumbered > 0 ? `; ${renumbered} keys that shared a revision got new ones` : ''
    return `${dataDir} holds ${done} keys, at revision ${revision} (the backup's is ${head.revision})${changed}`
  } catch (error) {
    await store.abandon()
    throw error instanceof BackupError ? new Error(`${task.file} ${error.message}`) : error
  }
}

/** Writes keys that are not there. What is there otherwise than in the backup ends it: nothing is ever written over. */
class EtcdRestore {
  readonly #task: RestoreTask
  readonly #target: EtcdPlace
  readonly #total: number
  readonly #tell: TellData
  readonly #kv: EtcdKV
  readonly #leases = new Map<LeaseId, BackupLease & { granted?: Promise<LeaseId> }>()
  #written = 0
  #present = 0
  #ended = 0

  constructor(task: RestoreTask, target: EtcdPlace, head: BackupHead, tell: TellData) {
    this.#task = task
    this.#target = target
    this.#total = head.keys
    this.#tell = tell
    this.#kv = new EtcdKV({ endpoints: target.transport.servers, tls: loadTlsOptions(target.transport) })
  }

  async run(): Promise<string> {
    try {
      await this.#requireEmpty()
      await this.#writeAll()
      const revision = await this.#kv.currentRevision()
      const present = this.#present > 0 ? `, ${this.#present} were there` : ''
      const ended = this.#ended > 0 ? `, ${this.#ended} had ended with their leases` : ''
      return `etcd has ${this.#written} keys more${present}${ended}; it is at revision ${revision}, and so are the objects' versions new`
    } finally {
      await this.#kv.close()
    }
  }

  async #requireEmpty(): Promise<void> {
    const count = await this.#kv.count(this.#target.prefix)
    if (count > 0 && !this.#task.resume)
      throw new Error(
        `etcd has ${count} keys below ${this.#target.prefix} already; nothing was written. A restore that was cut short goes on with --resume`,
      )
  }

  async #writeAll(): Promise<void> {
    const running = new Set<Promise<void>>()
    const failures: unknown[] = []
    for (const item of readBackup(this.#task.file)) {
      if (item.type === 'lease') this.#leases.set(item.lease.lease, item.lease)
      if (item.type !== 'key') continue
      const write: Promise<void> = this.#write(item.kv)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(write))
      running.add(write)
      if (running.size >= PARALLEL_WRITES) await Promise.race(running)
      if (failures.length > 0) break
    }
    await Promise.all(running)
    if (failures.length > 0) throw failures[0]
  }

  async #write(kv: KeyValue): Promise<void> {
    const lease = await this.#leaseOf(kv)
    if (lease === undefined) {
      this.#ended++
      return
    }
    const result = await this.#kv.optimisticPut(kv.key, kv.value, 0, { lease, getOnFailure: true })
    if (result.succeeded) this.#written++
    else if (result.kv !== undefined && Buffer.compare(result.kv.value, kv.value) === 0) this.#present++
    else throw new Error(`${kv.key} is in etcd already, and is not what the backup has; it was let be`)
    const done = this.#written + this.#present + this.#ended
    if (done % PROGRESS_KEYS === 0) this.#tell({ type: 'progress', what: 'restore', done, total: this.#total })
  }

  /** The key's lease in this etcd, for the time that it has left; undefined when that is over. */
  async #leaseOf({ lease }: KeyValue): Promise<LeaseId | undefined> {
    if (lease === NO_LEASE) return NO_LEASE
    const known = this.#leases.get(lease)
    if (known === undefined) return undefined
    const leftSeconds = Math.ceil((known.expiresAtMs - Date.now()) / 1000)
    if (known.granted === undefined && leftSeconds <= 0) return undefined
    known.granted ??= this.#kv.grantLease(leftSeconds)
    return known.granted
  }
}
