import type { KeelsonProcess } from '../../support/keelson-process.js'
import { PrefixTransformer } from '../../support/prefix-transformer.js'
import type { Opened, Scope } from '../subject.js'
import { EventsKV, type WithEngine } from './events-kv.js'
import { HttpClient } from './http-client.js'
import { HttpStorage } from './http-storage.js'

const PREFIX = '/registry'

/** What the suite's objects need: any namespace, stored as JSON, and nobody but the test who writes. */
export const SERVER_FLAGS = [
  '--disable-admission-plugins=ServiceAccount,NamespaceLifecycle',
  '--storage-media-type=application/json',
  '--endpoint-reconciler-type=none',
  '--enable-garbage-collector=false',
  '--shutdown-delay-duration=0s',
  // A behaviour may leave a thousand objects.
  '--delete-collection-workers=32',
]

export interface ServedEngine {
  /** The server of the moment. */
  server(): KeelsonProcess
  /** Ends the server and starts another one on the same data. */
  restart(): Promise<void>
  readonly withEngine: WithEngine
  /** The store answers for writes outside of what the server knows; else a write of another resource stands for them. */
  readonly shared: boolean
  progressOnDemand(): Promise<boolean>
}

/** Subjects that are one real server, emptied after every behaviour. */
export class HttpHarness {
  readonly #engine: ServedEngine
  readonly #form: 'json' | 'yaml'
  #http: HttpClient | undefined
  #bumps = 0

  constructor(engine: ServedEngine, form: 'json' | 'yaml') {
    this.#engine = engine
    this.#form = form
  }

  open = async (scope: Scope): Promise<Opened> => {
    const { server, restart, withEngine, shared, progressOnDemand } = this.#engine
    this.#http ??= new HttpClient(() => server())
    const http = this.#http
    const storage: HttpStorage = new HttpStorage({
      http,
      form: this.#form,
      clusterScoped: scope === 'cluster',
      storedKey: (key) => PREFIX + key,
      restart: () => restart(),
      // To a list that must be current the server may write a mark first: where others can be asked, they are.
      ...(shared ? { currentRevision: () => withEngine((kv) => kv.currentRevision()) } : {}),
    })
    const kv = new EventsKV({
      withEngine,
      served: storage,
      ...(shared ? {} : { bump: () => this.#bump(http) }),
    })
    return {
      storage,
      kv,
      reads: { gets: 0, lists: [] },
      transformer: new PrefixTransformer(),
      pathPrefix: PREFIX,
      passTime: () => Promise.resolve(),
      progressOnDemand: () => progressOnDemand(),
      now: () => Date.now(),
      close: async () => {
        await kv.deleteUnreadable()
        await empty(http)
      },
    }
  }

  close(): void {
    this.#http?.close()
  }

  async #bump(http: HttpClient): Promise<number> {
    const metadata = { name: `counter-${process.pid}-${this.#bumps++}` }
    const form = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
    const answer = await http.ask('POST', '/api/v1/namespaces/default/configmaps', form)
    if (answer.status !== 201) throw new Error(`a configmap was not created: ${answer.text}`)
    return Number((JSON.parse(answer.text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion)
  }
}

/** Deletes all that a behaviour has left. */
async function empty(http: HttpClient): Promise<void> {
  await http.ask('DELETE', '/apis/node.k8s.io/v1/runtimeclasses')
  const answer = await http.ask('GET', '/api/v1/events')
  if (answer.status !== 200) throw new Error(`what a behaviour left cannot be listed: ${answer.text}`)
  const { items } = JSON.parse(answer.text) as { items: { metadata: { namespace: string } }[] }
  for (const namespace of new Set(items.map((item) => item.metadata.namespace))) {
    await http.ask('DELETE', `/api/v1/namespaces/${namespace}/events`)
  }
  // A consistent read: memory has the deletions, and a watch from "any version" does not begin before them.
  await http.ask('GET', '/api/v1/events?limit=1')
}
