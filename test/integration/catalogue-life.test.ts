/**
 * Every resource that is served has its life, on both storages: create, get, list, watch, four patches, status, delete.
 * The catalogue says which there are; one that nobody wrote a sample for, and that needs one, fails here.
 */
import t, { type Test } from 'tap'
import { Catalogue, type ResourceInfo } from '#keelson/api/catalogue.js'
import { formatGroupVersion } from '#keelson/api/group-version.js'
import type { JsonObject, KubeObject } from '#keelson/api/object.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { SAMPLES } from '../support/sample-objects.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

const LIVES_AT_ONCE = 6
const resources = Catalogue.builtin()
  .servedByDefault()
  .resources.filter(({ verbs }) => verbs.includes('create') && verbs.includes('get'))

const PATCHES: readonly {
  readonly type: string
  readonly body: (object: KubeObject) => unknown
  readonly query?: string
}[] = [
  { type: 'application/merge-patch+json', body: () => ({ metadata: { labels: { merge: 'yes' } } }) },
  {
    type: 'application/json-patch+json',
    body: () => [{ op: 'add', path: '/metadata/labels/json', value: 'yes' }],
  },
  { type: 'application/strategic-merge-patch+json', body: () => ({ metadata: { labels: { strategic: 'yes' } } }) },
  {
    type: 'application/apply-patch+yaml',
    body: ({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      metadata: { name: metadata?.name, labels: { apply: 'yes' } },
    }),
    query: '?fieldManager=life',
  },
]

/** One resource, as a client would take it through its life. */
class Life {
  readonly #server: KeelsonProcess
  readonly #info: ResourceInfo
  readonly #name: string
  readonly #sample: JsonObject
  readonly #status: JsonObject | undefined
  readonly #collection: string

  constructor(server: KeelsonProcess, info: ResourceInfo) {
    this.#server = server
    this.#info = info
    const sample = SAMPLES[`${info.group}/${info.resource}`] ?? {}
    this.#name = sample.name ?? `life-${info.version}`
    this.#sample = sample.object ?? {}
    this.#status = sample.status
    const root = info.group === '' ? `/api/${info.version}` : `/apis/${info.group}/${info.version}`
    this.#collection = `${root}${info.namespaced ? '/namespaces/default' : ''}/${info.resource}`
  }

  get #path(): string {
    return `${this.#collection}/${this.#name}`
  }

  async run(t: Test): Promise<void> {
    const watch = await this.#watch()
    const created = await this.#call(t, 'POST', this.#collection, 201, this.#object())
    const found = await this.#call(t, 'GET', this.#path, 200)
    // The server itself may have written its status by now: that of flow schemas.
    const isSame = found.metadata?.resourceVersion === created.metadata?.resourceVersion
    if (isSame) t.same(found, created, 'what was created is what is read')
    else t.same(found['spec'], created['spec'], 'what was created is what is read')
    const list = (await this.#call(t, 'GET', this.#collection, 200)) as { items?: KubeObject[] }
    t.ok(
      (list.items ?? []).some(({ metadata }) => metadata?.uid === created.metadata?.uid),
      'it is in the list',
    )
    await this.#patch(t, created)
    if (this.#info.subresources.some(({ name }) => name === 'status')) await this.#setStatus(t)
    await this.#delete(t)
    await this.#checkWatch(t, watch)
  }

  #object(): KubeObject {
    const { kind } = this.#info
    return {
      apiVersion: formatGroupVersion(this.#info),
      kind,
      metadata: { name: this.#name, labels: { a: 'b' } },
      ...this.#sample,
    }
  }

  async #watch(): Promise<WatchClient> {
    const { json } = await this.#server.request('GET', `${this.#collection}?limit=1`)
    const { resourceVersion } = (json as { metadata: { resourceVersion: string } }).metadata
    const selector = encodeURIComponent(`metadata.name=${this.#name}`)
    const target = `${this.#collection}?watch=1&resourceVersion=${resourceVersion}&fieldSelector=${selector}`
    return new WatchClient(this.#server.url, target)
  }

  async #patch(t: Test, created: KubeObject): Promise<void> {
    for (const { type, body, query = '' } of PATCHES)
      await this.#call(t, 'PATCH', `${this.#path}${query}`, 200, body(created), { 'content-type': type })
    const { metadata } = await this.#call(t, 'GET', this.#path, 200)
    t.match(metadata?.labels, { a: 'b', merge: 'yes', json: 'yes', strategic: 'yes', apply: 'yes' })
    t.equal(metadata?.uid, created.metadata?.uid)
  }

  /** The status is set there, and nowhere else; nothing else is set there. */
  async #setStatus(t: Test): Promise<void> {
    const before = await this.#call(t, 'GET', `${this.#path}/status`, 200)
    const wanted = { ...before, status: this.#status ?? before['status'] ?? {} }
    const after = await this.#call(t, 'PUT', `${this.#path}/status`, 200, wanted)
    if (this.#status !== undefined) t.match(after['status'], this.#status)
    t.same(after['spec'], before['spec'])
    const kept = await this.#call(t, 'PUT', this.#path, 200, { ...after, status: {} })
    t.same(kept['status'], after['status'], 'the resource itself leaves the status alone')
  }

  async #delete(t: Test): Promise<void> {
    await this.#call(t, 'DELETE', this.#path, 200)
    const { status, json } = await this.#server.request('GET', this.#path)
    if (status === 200) await this.#finalize(t, json as KubeObject)
    t.equal((await this.#server.request('GET', this.#path)).status, 404, 'it is gone')
  }

  /** What a controller would do: whatever holds the object lets it go. */
  async #finalize(t: Test, object: KubeObject): Promise<void> {
    t.ok(object.metadata?.deletionTimestamp, 'it is ending')
    if (this.#info.kind === 'Namespace') {
      await this.#call(t, 'PUT', `${this.#path}/finalize`, 200, { ...object, spec: {} })
      return
    }
    if (this.#info.kind === 'CustomResourceDefinition') {
      const isGone = async (): Promise<boolean> => (await this.#server.request('GET', this.#path)).status === 404
      await until(isGone, { what: 'the server to let the definition go, whose objects it deletes itself' })
      return
    }
    const headers = { 'content-type': 'application/merge-patch+json' }
    await this.#call(t, 'PATCH', this.#path, 200, { metadata: { finalizers: null } }, headers)
  }

  async #checkWatch(t: Test, watch: WatchClient): Promise<void> {
    await until(() => watch.closed || watch.events.some(({ type }) => type === 'DELETED'), {
      what: 'the deletion to be seen',
    })
    const events = watch.events
    watch.close()
    const types = events.map(({ type }) => type)
    t.equal(types[0], 'ADDED')
    t.equal(types.at(-1), 'DELETED')
    t.ok(types.filter((type) => type === 'MODIFIED').length >= PATCHES.length, 'every patch is an event')
    t.ok(
      events.every(({ revision }, i) => i === 0 || revision > events[i - 1]!.revision),
      'in the order of revisions',
    )
  }

  async #call(
    t: Test,
    method: string,
    path: string,
    expected: number,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<KubeObject> {
    const { status, text } = await this.#server.request(method, path, body, headers)
    t.equal(status, expected, `${method} ${path}: ${status === expected ? status : text}`)
    return JSON.parse(text) as KubeObject
  }
}

async function liveAll(t: Test, server: KeelsonProcess): Promise<void> {
  const queue = resources.values()
  const live = async (): Promise<void> => {
    for (const info of queue)
      await t.test(`${formatGroupVersion(info)} ${info.resource}`, (t) => new Life(server, info).run(t))
  }
  await Promise.all(Array.from({ length: LIVES_AT_ONCE }, live))
}

t.setTimeout(900_000)
t.jobs = LIVES_AT_ONCE

t.test('every resource lives on the embedded engine', { jobs: LIVES_AT_ONCE }, async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  await liveAll(t, server)
})

t.test('every resource lives on etcd', { skip: skipWithoutEtcd, jobs: LIVES_AT_ONCE }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const server = await KeelsonProcess.start([`--etcd-servers=${etcd.endpoint}`])
  t.teardown(() => server.close())
  await liveAll(t, server)
})
