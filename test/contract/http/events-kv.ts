import { isStorageError } from '#keelson/storage/contract/errors.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import { type Pod, podCodec } from '../pod.js'
import { type EventForm, toEvent, toPod, type Uids } from './event-form.js'
import type { HttpStorage } from './http-storage.js'

/** How a test gets at the engine of a server. */
export type WithEngine = <Result>(work: (kv: KV) => Promise<Result>) => Promise<Result>

/** The word that the suite's transformer puts before what it has encrypted. */
const SEAL = 'one:'
/** What a server without keys takes for encrypted. */
const ENCRYPTED = 'k8s:enc:aescbc:v1:lost:'

const PREFIX = '/registry'
const encoder = new TextEncoder()

/** The engine below a server, in the suite's keys and values: its pods are events there, and stored as JSON. */
export class EventsKV implements Pick<KV, 'get' | 'optimisticPut' | 'compact' | 'currentRevision'> {
  readonly #withEngine: WithEngine
  /** Who is asked first, where the engine can be asked only while the server is stopped. */
  readonly #served: HttpStorage
  readonly #uids: Uids
  readonly #written = new Set<string>()
  /** Moves the revision by writing something else; by the engine when absent. */
  readonly #bump: (() => Promise<number>) | undefined

  constructor(options: { withEngine: WithEngine; served: HttpStorage; bump?: () => Promise<number> }) {
    this.#withEngine = options.withEngine
    this.#served = options.served
    this.#uids = options.served.uids
    this.#bump = options.bump
  }

  get: KV['get'] = async (key) => {
    if (this.#isCounter(key) || (this.#bump !== undefined && (await this.#state(key)) === 'absent')) {
      return { kv: undefined, revision: 0 }
    }
    const { kv, revision } = await this.#withEngine((engine) => engine.get(storedKey(key)))
    if (kv === undefined || storedKey(key) === key) return { kv, revision }
    return {
      kv: { ...kv, key, value: encoder.encode(SEAL + this.#suiteText(Buffer.from(kv.value).toString())) },
      revision,
    }
  }

  /** For the end of a behaviour that has written by this: deletes what the server cannot, because it cannot read it. */
  async deleteUnreadable(): Promise<void> {
    const keys: string[] = []
    for (const key of this.#written) if ((await this.#state(key)) === 'unreadable') keys.push(storedKey(key))
    this.#written.clear()
    if (keys.length === 0) return
    await this.#withEngine(async (engine) => {
      for (const key of keys) {
        const { kv } = await engine.get(key)
        if (kv !== undefined) await engine.optimisticDelete(key, kv.modRevision)
      }
    })
  }

  optimisticPut: KV['optimisticPut'] = async (key, value, expected) => {
    if (this.#isCounter(key)) return { succeeded: true, revision: await this.#bump!(), kv: undefined }
    const stored = storedKey(key) === key ? value : encoder.encode(this.#storedText(Buffer.from(value).toString()))
    if (storedKey(key) !== key) this.#written.add(key)
    return this.#withEngine((engine) => engine.optimisticPut(storedKey(key), stored, expected))
  }

  compact: KV['compact'] = (revision) => this.#withEngine((engine) => engine.compact(revision))

  currentRevision: KV['currentRevision'] = () =>
    this.#bump === undefined
      ? this.#withEngine((engine) => engine.currentRevision())
      : this.#served.currentResourceVersion()

  async #state(key: string): Promise<'absent' | 'readable' | 'unreadable'> {
    try {
      await this.#served.get(key.slice(PREFIX.length))
      return 'readable'
    } catch (error) {
      if (isStorageError(error, 'key-not-found')) return 'absent'
      if (isStorageError(error, 'corrupt-object')) return 'unreadable'
      throw error
    }
  }

  #isCounter(key: string): boolean {
    return this.#bump !== undefined && storedKey(key) === key
  }

  /** What the server writes is one line; what was written with spaces stays as it is. */
  #suiteText(text: string): string {
    if (text.trimEnd().includes('\n')) return text
    return Buffer.from(podCodec.encode(toPod(JSON.parse(text) as EventForm, this.#uids))).toString()
  }

  #storedText(text: string): string {
    if (!text.startsWith(SEAL)) return ENCRYPTED + text
    const opened = text.slice(SEAL.length)
    try {
      const pod = JSON.parse(opened) as Pod
      // With spaces, where the suite writes with spaces: the server writes none.
      if (pod.kind === 'Pod') return JSON.stringify(toEvent(pod, this.#uids), undefined, opened.includes('\n') ? 2 : 0)
    } catch {
      // What cannot be decoded is stored as it is.
    }
    return opened
  }
}

const storedKey = (key: string): string => key.replace(/^\/registry\/pods\//, '/registry/events/')
