/** Thread: owner. The threads that read the watch cache: they attach and detach while everything runs. */
import type { MessagePort } from 'node:worker_threads'
import type { Logger } from '../../lib/logger.js'
import type { OwnerToReader, ReaderToOwner, ResourceNotice } from '../../protocol/reader-owner.js'
import type { OwnerCluster } from './owner-cluster.js'

interface Reader {
  readonly port: MessagePort
  /** The number of the thread in each cluster. */
  readonly numbers: readonly number[]
}

export class OwnerReaders {
  readonly #clusters: readonly OwnerCluster[]
  readonly #logger: Logger
  readonly #readers = new Set<Reader>()
  readonly #notices = new Map<string, ResourceNotice>()

  constructor(clusters: readonly OwnerCluster[], logger: Logger) {
    this.#clusters = clusters
    this.#logger = logger
  }

  get size(): number {
    return this.#readers.size
  }

  attach(port: MessagePort): void {
    const connections = this.#clusters.map((cluster) => cluster.connect())
    const reader = { port, numbers: connections.map(({ handoff }) => handoff.memory.reader) }
    this.#readers.add(reader)
    port.on('message', (message: ReaderToOwner) => void this.#answer(reader, message))
    port.on('close', () => this.#release(reader))
    const hello: OwnerToReader = {
      type: 'hello',
      clusters: connections.map(({ handoff }) => handoff),
      resources: [...this.#notices.values()],
    }
    port.postMessage(
      hello,
      connections.flatMap(({ transfer }) => transfer),
    )
  }

  notify(notice: ResourceNotice): void {
    if (notice.state === 'removed') this.#notices.delete(notice.resource)
    else this.#notices.set(notice.resource, notice)
    const message: OwnerToReader = { type: 'resource', notice }
    for (const { port } of this.#readers) port.postMessage(message)
  }

  stop(): void {
    for (const reader of [...this.#readers]) {
      reader.port.close()
      this.#release(reader)
    }
  }

  async #answer({ port, numbers }: Reader, message: ReaderToOwner): Promise<void> {
    if (message.type === 'drafts') {
      this.#clusters[message.cluster]?.cacher.handDrafts(message.drafts, numbers[message.cluster]!)
      return
    }
    if (message.type === 'went-back') {
      this.#clusters[message.cluster]?.cacher.hearWentBack(message.revision, message.epoch)
      return
    }
    const { question, cluster } = message
    const passed = await this.#passed(cluster)
    port.postMessage({ type: 'fence', question, passed } satisfies OwnerToReader)
  }

  /** A fence that fails was not passed: whoever asked reads the storage. */
  async #passed(cluster: number): Promise<boolean> {
    try {
      return (await this.#clusters[cluster]?.cacher.fence.pass()) ?? false
    } catch (error) {
      this.#logger.error({ err: error, cluster }, 'the fence of a storage cluster failed')
      return false
    }
  }

  #release(reader: Reader): void {
    if (!this.#readers.delete(reader)) return
    for (const [index, number] of reader.numbers.entries()) this.#clusters[index]?.cacher.release(number)
  }
}
