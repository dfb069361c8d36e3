/**
 * Thread: any but the owner. The watch cache as a thread attaches to it over a port: a view of each resource, with the
 * clock and the fence of its storage cluster.
 *
 *   attaching ──hello──▶ attached ──detach() or the owner's end──▶ detached (nothing is cached any more)
 */
import type { MessagePort } from 'node:worker_threads'
import { assert } from '../../lib/assert.js'
import { systemClock } from '../../lib/clock.js'
import { Deferred } from '../../lib/deferred.js'
import { PendingCalls } from '../../lib/pending-calls.js'
import type {
  ClusterHandoff,
  HandedDraft,
  OwnerToReader,
  ReaderToOwner,
  ResourceNotice,
} from '../../protocol/reader-owner.js'
import type { RevisionSource } from '../../storage/contract/revision-source.js'
import { ClockTruth } from '../clock/clock-truth.js'
import { FollowingEpoch } from '../clock/following-epoch.js'
import { ReaderFence } from '../clock/reader-fence.js'
import type { SharedArenaReader } from '../memory/arena-reader.js'
import { MemoryReader } from '../memory/memory-reader.js'
import type { ArenaReader } from '../memory/shared-memory.js'
import { ClientView, type ViewCluster } from './client-view.js'
import type { ResourceView } from './resource-view.js'

interface Cluster extends ViewCluster {
  readonly memory: MemoryReader
  readonly kvPort: MessagePort | undefined
}

export interface CacheClientOptions {
  /** How this thread asks each storage cluster for its revision, in their order; where there is none, the owner asks. */
  readonly sources?: readonly (RevisionSource | undefined)[]
  /** Is told how long reads waited for their fence when the owner was not asked. */
  readonly onPassed?: (durationMs: number) => void
}

export class CacheClient {
  readonly #port: MessagePort
  readonly #options: CacheClientOptions
  readonly #clusters: Cluster[] = []
  readonly #resources = new Map<string, ResourceNotice>()
  readonly #views = new Map<string, ClientView>()
  readonly #questions = new PendingCalls<boolean>()
  readonly #attached = new Deferred<void>()
  /** Drafts by cluster, sent when the turn ends. */
  readonly #drafts = new Map<number, HandedDraft[]>()
  #detached = false

  private constructor(port: MessagePort, options: CacheClientOptions) {
    this.#port = port
    this.#options = options
  }

  /**
   * Attaches this thread. Resolves when the owner has answered; rejects when the owner is gone. The port does not keep
   * the thread alive afterwards.
   */
  static async attach(port: MessagePort, options: CacheClientOptions = {}): Promise<CacheClient> {
    const client = new CacheClient(port, options)
    port.on('message', (message: OwnerToReader) => client.#take(message))
    port.on('close', () => client.#end())
    await client.#attached.promise
    port.unref()
    return client
  }

  /** The view of a resource; of one that is not cached, `arena()` is always undefined. */
  resource(name: string): ResourceView {
    let view = this.#views.get(name)
    if (view === undefined) {
      view = new ClientView({
        cluster: () => this.#clusterOf(name),
        standIn: () => this.#cluster(0),
        arena: () => this.#arena(name),
        known: () => this.#known(name),
        fallen: () => this.#detached || this.#resources.get(name)?.state !== 'cached',
      })
      this.#views.set(name, view)
    }
    return view
  }

  /** The port to the embedded engine, for a RemoteKV; undefined on etcd. */
  kvPort(cluster = 0): MessagePort | undefined {
    return this.#cluster(cluster).kvPort
  }

  /**
   * Hands the owner the draft of an object that is about to be written to etcd: the drafts of a turn go as one message.
   */
  handDraft(cluster: number, draft: HandedDraft): void {
    if (this.#detached) return
    const drafts = this.#drafts.get(cluster)
    if (drafts !== undefined) {
      drafts.push(draft)
      return
    }
    const collected = [draft]
    this.#drafts.set(cluster, collected)
    // Sent with setImmediate, as questions are; the writes themselves go to their sockets no sooner.
    setImmediate(() => {
      this.#drafts.delete(cluster)
      this.#send({ type: 'drafts', cluster, drafts: collected })
    })
  }

  /** Ends the attachment; the owner forgets this thread and its pins. */
  detach(): void {
    this.#end()
    this.#port.close()
  }

  #arena(name: string): ArenaReader | undefined {
    const arena = this.#reader(name)
    return arena?.ready() ? arena : undefined
  }

  #known(name: string): ArenaReader | undefined {
    const arena = this.#reader(name)?.known()
    return arena?.ready() ? arena : undefined
  }

  #reader(name: string): SharedArenaReader | undefined {
    const notice = this.#resources.get(name)
    if (notice === undefined || this.#detached) return undefined
    return this.#cluster(notice.cluster).memory.arena(name)
  }

  #clusterOf(name: string): Cluster | undefined {
    const notice = this.#resources.get(name)
    return notice && this.#cluster(notice.cluster)
  }

  #cluster(index: number): Cluster {
    const cluster = this.#clusters[index]
    assert(cluster !== undefined, `there is no storage cluster ${index}`)
    return cluster
  }

  #take(message: OwnerToReader): void {
    switch (message.type) {
      case 'hello':
        for (const [index, handoff] of message.clusters.entries()) this.#clusters.push(this.#open(index, handoff))
        for (const notice of message.resources) this.#resources.set(notice.resource, notice)
        this.#attached.resolve()
        break
      case 'resource':
        this.#resources.set(message.notice.resource, message.notice)
        this.#views.get(message.notice.resource)?.bind()
        break
      case 'fence':
        this.#questions.resolve(message.question, message.passed)
        break
    }
  }

  #open(index: number, { memory, truth, following, kv }: ClusterHandoff): Cluster {
    const reader = MemoryReader.open(memory)
    reader.start()
    const { sources = [], onPassed = () => undefined } = this.#options
    const fence = new ReaderFence({
      truth: new ClockTruth(truth),
      following: new FollowingEpoch(following),
      revisionClock: reader.clock,
      clock: systemClock,
      source: sources[index],
      askOwner: () => this.#ask(index),
      tellWentBack: (revision, epoch) => this.#send({ type: 'went-back', cluster: index, revision, epoch }),
      onPassed,
    })
    return { memory: reader, clock: reader.clock, fence, kvPort: kv }
  }

  #ask(cluster: number): Promise<boolean> {
    if (this.#detached) return Promise.resolve(false)
    const question = this.#questions.nextId()
    this.#send({ type: 'fence', question, cluster })
    return this.#questions.wait(question)
  }

  #send(message: ReaderToOwner): void {
    if (!this.#detached) this.#port.postMessage(message)
  }

  #end(): void {
    if (this.#detached) return
    this.#detached = true
    this.#attached.reject(new Error('the owner closed the port'))
    this.#questions.resolveAll(false)
  }
}
