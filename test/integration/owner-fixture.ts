import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Test } from 'tap'
import { nullLogger } from '#keelson/lib/logger.js'
import type { OwnerConfig, OwnerEvent } from '#keelson/protocol/main-owner.js'
import type { StorageConfig } from '#keelson/storage/factory/storage-config.js'
import { OwnerClient } from '#keelson/workers/owner/owner-client.js'
import { type OpenedReader, openReader } from './owner-reader.js'
import type { ReaderAnswer, ReaderCall } from './owner-reader-thread.js'

export interface OwnerFixtureOptions {
  /** Empty: the embedded engine. */
  readonly etcdServers?: readonly string[]
  readonly dataDir?: string
  readonly cacheMemoryLimitBytes?: number
}

/** A real owner thread, with this thread and any number of others attached to it. */
export class OwnerFixture {
  readonly owner: OwnerClient
  readonly events: OwnerEvent[]
  readonly reader: OpenedReader
  readonly etcdServers: readonly string[]
  readonly #t: Test

  private constructor(
    t: Test,
    owner: OwnerClient,
    events: OwnerEvent[],
    reader: OpenedReader,
    servers: readonly string[],
  ) {
    this.#t = t
    this.owner = owner
    this.events = events
    this.reader = reader
    this.etcdServers = servers
  }

  static async open(t: Test, options: OwnerFixtureOptions = {}): Promise<OwnerFixture> {
    const { etcdServers = [] } = options
    const events: OwnerEvent[] = []
    const owner = await OwnerClient.start({
      config: ownerConfig(t, options),
      logger: nullLogger,
      onEvent: (event) => events.push(event),
      onExit: (error) => t.fail(`the owner ended: ${error.message}`),
    })
    const reader = await openReader(await owner.attach(), etcdServers)
    const fixture = new OwnerFixture(t, owner, events, reader, etcdServers)
    t.teardown(async () => {
      await reader.close()
      await owner.stop()
    })
    return fixture
  }

  /** A thread of its own that reads. */
  async thread(): Promise<ReaderThread> {
    const port = await this.owner.attach()
    const worker = new Worker(new URL('./owner-reader-thread.js', import.meta.url), {
      workerData: { port, etcdServers: this.etcdServers },
      transferList: [port],
      execArgv: [],
    })
    await once(worker, 'message')
    const thread = new ReaderThread(worker)
    this.#t.teardown(() => thread.end())
    return thread
  }
}

export class ReaderThread {
  readonly #worker: Worker

  constructor(worker: Worker) {
    this.#worker = worker
  }

  async call(call: ReaderCall): Promise<ReaderAnswer> {
    const answer = once(this.#worker, 'message') as Promise<[ReaderAnswer]>
    this.#worker.postMessage(call)
    return (await answer)[0]
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

export function ownerConfig(t: Test, options: OwnerFixtureOptions): OwnerConfig {
  const { etcdServers = [], cacheMemoryLimitBytes = 0 } = options
  const cluster: StorageConfig = {
    type: etcdServers.length > 0 ? 'etcd3' : 'embedded',
    prefix: '/registry',
    transport: { servers: etcdServers, keyFile: '', certFile: '', trustedCaFile: '' },
    dataDir: options.dataDir ?? (etcdServers.length > 0 ? '' : temporaryFolder(t)),
    compactionIntervalMs: 0,
    countMetricPollPeriodMs: 0,
    dbMetricPollIntervalMs: 0,
    healthcheckTimeoutMs: 2_000,
    readycheckTimeoutMs: 2_000,
    leaseReuseDurationSeconds: 60,
  }
  return {
    clusters: [cluster],
    resources: [
      { resource: 'pods', resourcePrefix: '/pods', cluster: 0 },
      { resource: 'nodes', resourcePrefix: '/nodes', cluster: 0 },
    ],
    cacheMemoryLimitBytes,
    resourceModule: new URL('./plain-resources.js', import.meta.url).href,
  }
}

export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-owner-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
