import type { IncomingMessage } from 'node:http'
import { load } from 'js-yaml'
import { StorageError } from '#keelson/storage/contract/errors.js'
import type {
  DeleteOptions,
  GetOptions,
  GuaranteedUpdateOptions,
  ListOptions,
  ListResult,
  Storage,
  StorageStats,
  UpdateFunc,
} from '#keelson/storage/contract/interface.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { listOptions, newPod, type Pod, podKey, versionOf } from '../pod.js'
import { type EventForm, toEvent, toFieldSelector, toPod, toRuntimeClass, Uids } from './event-form.js'
import type { HttpAnswer, HttpClient } from './http-client.js'
import { textOf } from './http-client.js'
import { type StatusForm, storageError } from './http-error.js'
import { HttpWatch } from './http-watch.js'

interface ListForm {
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly EventForm[]
}

export interface HttpStorageOptions {
  readonly http: HttpClient
  /** Objects without namespaces: RuntimeClasses in place of Events. */
  readonly clusterScoped: boolean
  /** How single objects and lists are asked for; watches are JSON always. */
  readonly form: 'json' | 'yaml'
  /** The store's key of a key of the contract, for errors. */
  readonly storedKey: (key: string) => string
  /** Ends the server, and whoever watches it; gives a new one. */
  readonly restart: () => Promise<void>
  /** The store's revision, where it can be asked without the server. */
  readonly currentRevision?: () => Promise<number>
}

/** How long a watch is asked for again while the server says that it is not ready. */
const RETRY_MS = 30_000

/** The storage contract in the words of HTTP: what clients do, they do through this. */
export class HttpStorage implements Storage<Pod> {
  readonly versioner = objectVersioner
  readonly uids = new Uids()
  readonly #options: HttpStorageOptions

  constructor(options: HttpStorageOptions) {
    this.#options = options
  }

  /** As servers do it: where an object lies is what its metadata says. */
  async create(_key: string, pod: Pod): Promise<Pod> {
    const { uid, ...metadata } = pod.metadata ?? {}
    if (uid !== undefined) this.uids.expect(`${metadata.namespace}/${metadata.name}`, uid)
    return this.#write('POST', this.#collection(metadata.namespace), { ...pod, metadata }, podKey(pod))
  }

  asStored(): Pod {
    throw new Error('a dry run over HTTP shows this, not the storage')
  }

  async get(key: string, options: GetOptions = {}): Promise<Pod> {
    const { resourceVersion = '', ignoreNotFound } = options
    const query = resourceVersion === '' ? '' : `?resourceVersion=${encodeURIComponent(resourceVersion)}`
    try {
      return toPod(await this.#read<EventForm>(this.#object(key) + query, key), this.uids)
    } catch (error) {
      if (ignoreNotFound === true && isCode(error, 'key-not-found')) return newPod()
      throw error
    }
  }

  async getList(key: string, options: ListOptions<Pod>): Promise<ListResult<Pod>> {
    const { collection, query } = this.#selection(key, options)
    const { limit, continueToken } = options.predicate
    if (limit > 0) query.set('limit', String(limit))
    if (continueToken !== '') query.set('continue', continueToken)
    if (options.resourceVersionMatch !== '') query.set('resourceVersionMatch', options.resourceVersionMatch)
    const asked = options.resourceVersion === '' ? {} : { resourceVersion: Number(options.resourceVersion) }
    const { metadata, items } = await this.#read<ListForm>(`${collection}?${query}`, key, asked)
    return {
      items: items.map((item) => toPod(item, this.uids)),
      resourceVersion: Number(metadata.resourceVersion),
      continueToken: metadata.continue ?? '',
      remainingItemCount: metadata.remainingItemCount,
    }
  }

  async watch(key: string, options: ListOptions<Pod>): Promise<HttpWatch> {
    const { sendInitialEvents, deadline, signal, predicate } = options
    if (signal?.aborted === true) return new HttpWatch(undefined, this.uids, key)
    const { collection, query } = this.#selection(key, options)
    query.set('watch', 'true')
    if (predicate.allowWatchBookmarks) query.set('allowWatchBookmarks', 'true')
    if (sendInitialEvents !== undefined) {
      query.set('sendInitialEvents', String(sendInitialEvents))
      query.set('resourceVersionMatch', 'NotOlderThan')
    }
    if (deadline !== undefined) query.set('timeoutSeconds', String(Math.ceil((deadline - Date.now()) / 1000)))
    const target = `${collection}?${query}`
    const response = await this.#opened(target)
    if (response.statusCode === 200) return new HttpWatch(response, this.uids, target, signal)
    throw this.#error({ status: response.statusCode ?? 0, text: await textOf(response) }, key)
  }

  /** As client libraries do, it asks again after 429 (memory is being filled), within a limit. */
  async #opened(target: string): Promise<IncomingMessage> {
    const endsAt = Date.now() + RETRY_MS
    for (;;) {
      const response = await this.#options.http.open(target)
      if (response.statusCode !== 429 || Date.now() >= endsAt) return response
      await textOf(response)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** What clients do who want no change to be lost: read, write at the version that was read, again when that is old. */
  async guaranteedUpdate(
    key: string,
    tryUpdate: UpdateFunc<Pod>,
    options: GuaranteedUpdateOptions<Pod> = {},
  ): Promise<Pod> {
    const { ignoreNotFound = false, preconditions = {} } = options
    for (;;) {
      const current = await this.get(key, { ignoreNotFound })
      const { resourceVersion } = current.metadata ?? {}
      const before = structuredClone(current)
      const { object } = await tryUpdate(current, { resourceVersion: versionOf(current), ttlSeconds: undefined })
      const metadata = { ...object.metadata }
      if (preconditions.uid !== undefined) metadata.uid = preconditions.uid
      else if (before.metadata?.uid === undefined) delete metadata.uid
      if (preconditions.resourceVersion !== undefined) metadata.resourceVersion = preconditions.resourceVersion
      else if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion
      try {
        return await this.#write('PUT', this.#object(key), { ...object, metadata }, key)
      } catch (error) {
        const demanded = preconditions.uid !== undefined || preconditions.resourceVersion !== undefined
        if (!isCode(error, 'conflict') && !isCode(error, 'invalid-object')) throw error
        if (demanded) throw new StorageError('invalid-object', (error as Error).message)
      }
    }
  }

  /** A deletion is answered with a Status: its version is what a watch tells of it. */
  async delete(key: string, options: DeleteOptions<Pod> = {}): Promise<Pod> {
    const { validateDeletion, preconditions = {} } = options
    for (;;) {
      const current = await this.get(key)
      await validateDeletion?.(structuredClone(current))
      const demanded = {
        ...(preconditions.uid === undefined ? {} : { uid: this.uids.toServer(preconditions.uid) }),
        ...(preconditions.resourceVersion === undefined ? {} : { resourceVersion: preconditions.resourceVersion }),
        ...(validateDeletion === undefined ? {} : { resourceVersion: String(versionOf(current)) }),
      }
      const resourceVersion = String(await this.currentResourceVersion())
      const watch = await this.watch(key, listOptions({ recursive: false, resourceVersion }))
      try {
        await this.#delete(key, { preconditions: demanded })
        return await lastState(watch)
      } catch (error) {
        if (validateDeletion === undefined || !isCode(error, 'invalid-object')) throw error
      } finally {
        watch.stop()
      }
    }
  }

  async count(key: string): Promise<number> {
    const { items, remainingItemCount = 0 } = await this.getList(key, listOptions({ limit: 1 }))
    return items.length + remainingItemCount
  }

  async stats(): Promise<StorageStats> {
    return { objectCount: await this.count('/pods/'), estimatedAverageObjectSizeBytes: 0 }
  }

  readinessCheck(): void {
    throw new Error('/readyz is asked, and answers later')
  }

  /** Clients cannot ask for progress. */
  requestWatchProgress(): Promise<void> {
    return Promise.resolve()
  }

  async currentResourceVersion(): Promise<number> {
    const { currentRevision } = this.#options
    if (currentRevision !== undefined) return currentRevision()
    return (await this.getList('/pods/', listOptions({ limit: 1 }))).resourceVersion
  }

  compactRevision(): number {
    throw new Error('no client is told this')
  }

  close(): Promise<void> {
    return this.#options.restart()
  }

  async #delete(key: string, options: object): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...options }
    const answer = await this.#options.http.ask('DELETE', this.#object(key), body)
    if (answer.status === 200) return
    const error = this.#error(answer, key)
    throw isCode(error, 'conflict') ? new StorageError('invalid-object', error.message) : error
  }

  async #write(method: 'POST' | 'PUT', target: string, pod: Pod, key: string): Promise<Pod> {
    const form = this.#options.clusterScoped ? toRuntimeClass(pod, this.uids) : toEvent(pod, this.uids)
    const answer = await this.#options.http.ask(method, target, form)
    if (answer.status !== 200 && answer.status !== 201) throw this.#error(answer, key)
    return toPod(JSON.parse(answer.text) as EventForm, this.uids)
  }

  async #read<Form>(target: string, key: string, fields: { resourceVersion?: number } = {}): Promise<Form> {
    const { http, form } = this.#options
    const answer = await http.ask('GET', target, undefined, { accept: `application/${form}` })
    if (answer.status !== 200) throw this.#error(answer, key, fields)
    return (form === 'yaml' ? load(answer.text) : JSON.parse(answer.text)) as Form
  }

  #error(answer: HttpAnswer, key: string, fields: { resourceVersion?: number } = {}): Error {
    const status = parseStatus(answer)
    const message = this.uids.inWords(status.message ?? '')
    return storageError({ ...status, message }, { key: this.#options.storedKey(key), ...fields })
  }

  #collection(namespace: string | undefined): string {
    if (this.#options.clusterScoped) return '/apis/node.k8s.io/v1/runtimeclasses'
    return namespace === undefined ? '/api/v1/events' : `/api/v1/namespaces/${namespace}/events`
  }

  #object(key: string): string {
    const [namespace, name] = this.#segments(key)
    return `${this.#collection(namespace)}/${name}`
  }

  /** The namespace and the name in a key. */
  #segments(key: string): [string | undefined, string | undefined] {
    const [, , first, second] = key.split('/')
    return this.#options.clusterScoped ? [undefined, first || undefined] : [first || undefined, second || undefined]
  }

  /** A key that is one object is a list of its name, as in Kubernetes. */
  #selection(key: string, options: ListOptions<Pod>): { collection: string; query: URLSearchParams } {
    const { label, field } = options.predicate
    const [namespace, name] = this.#segments(key)
    const fields = [
      ...(options.recursive || name === undefined ? [] : [`metadata.name=${name}`]),
      ...(field.empty() ? [] : [toFieldSelector(field.toString())]),
    ]
    // A single segment below a resource with namespaces is the name of none of its objects.
    const collection = this.#collection(options.recursive || name !== undefined ? namespace : undefined)
    if (!options.recursive && name === undefined && namespace !== undefined) fields.push(`metadata.name=${namespace}`)
    const query = new URLSearchParams()
    if (!label.empty()) query.set('labelSelector', label.toString())
    if (fields.length > 0) query.set('fieldSelector', fields.join(','))
    if (options.resourceVersion !== '') query.set('resourceVersion', options.resourceVersion)
    return { collection, query }
  }
}

async function lastState(watch: HttpWatch): Promise<Pod> {
  for (;;) {
    const result = await watch.next()
    if (result.done === true) throw new Error('the watch ended before it told the deletion')
    if (result.value.type === 'ERROR') throw result.value.error
    if (result.value.type === 'DELETED') return result.value.object
  }
}

function parseStatus({ status, text }: HttpAnswer): StatusForm {
  try {
    const parsed = load(text) as StatusForm
    if (parsed.kind === 'Status') return parsed
  } catch {
    // What is no Status is said as it is.
  }
  return { code: status, message: text }
}

function isCode(error: unknown, code: StorageError['code']): boolean {
  return error instanceof StorageError && error.code === code
}
