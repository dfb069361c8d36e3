/** Resources that come, change and go while requests are served: on both storages, with several threads of each kind. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { compose, type Server } from '#keelson/main/compose.js'
import { complete } from '#keelson/main/flags/config.js'
import { parseFlags } from '#keelson/main/flags/flags.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { until } from '../support/until.js'

const GROUP = 'example.com'
const V1 = '/apis/example.com/v1/namespaces/default/widgets'
const V2 = '/apis/example.com/v2/namespaces/default/widgets'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

type Schema = Record<string, unknown>

const version = (name: string, spec: Record<string, Schema>): object => ({
  name,
  served: true,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: spec }, status: { type: 'object' } },
    },
  },
  subresources: { status: {} },
  selectableFields: [{ jsonPath: '.spec.size' }],
})

const NAME = 'widgets.example.com'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Stores the definition, new or changed, and waits until its last version is served with its newest fields. */
async function define(server: Server, storageVersion: string, ...versions: object[]): Promise<void> {
  const old = await ask(server, 'GET', `${DEFINITIONS}/${NAME}`)
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME, ...(old.status === 200 ? { resourceVersion: old.object.metadata?.resourceVersion } : {}) },
    spec: {
      group: GROUP,
      names: { plural: 'widgets', kind: 'Widget', singular: 'widget', shortNames: ['wd'], categories: ['all'] },
      scope: 'Namespaced',
      versions: versions.map((one) => ({ ...one, storage: (one as { name: string }).name === storageVersion })),
    },
  }
  const stored =
    old.status === 200
      ? await ask(server, 'PUT', `${DEFINITIONS}/${NAME}`, body)
      : await ask(server, 'POST', DEFINITIONS, body)
  if (stored.status > 201) throw new Error(stored.text)
  const last = (versions.at(-1) as { name: string }).name
  await until(
    async () => {
      const { status } = await ask(server, 'GET', `/apis/example.com/${last}/namespaces/default/widgets`)
      return status === 200
    },
    { what: 'the definition to be served' },
  )
}

async function undefine(server: Server): Promise<void> {
  await ask(server, 'DELETE', `${DEFINITIONS}/${NAME}`)
  await until(async () => (await ask(server, 'GET', V1)).status === 404, { what: 'the definition to go' })
}

const SIZE = { size: { type: 'string' } } as const
const COLOR = { ...SIZE, color: { type: 'string' } } as const

async function startServer(flags: readonly string[]): Promise<Server> {
  const parsed = parseFlags(['--secure-port=0', '--insecure-http', '--pool-threads=3', ...flags], FLAGS)
  const result = complete(parsed.values)
  if ('errors' in result) throw new Error(result.errors.join('; '))
  const onFatal = (error: Error): void => {
    throw error
  }
  return compose({ config: result.config, logger: nullLogger, onFatal })
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly object: KubeObject & { spec?: Record<string, unknown>; items?: KubeObject[]; message?: string }
  readonly text: string
}

async function ask(server: Server, method: string, url: string, body?: object, accept?: string): Promise<Answer> {
  const response = await fetch(server.url + url, {
    method,
    headers: { ...(accept ? { accept } : {}), ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  const object = text.startsWith('{') ? (JSON.parse(text) as Answer['object']) : {}
  return { status: response.status, headers: response.headers, object, text }
}

const widget = (name: string, spec: object, apiVersion = 'example.com/v1'): object => ({
  apiVersion,
  kind: 'Widget',
  metadata: { name },
  spec,
})

/** A client that never stops: it creates, reads and deletes objects and notes what it was answered. */
class Load {
  readonly statuses = new Map<string, number>()
  readonly #clients: Promise<void>[]
  #stopped = false

  constructor(server: Server, name: string, collection: string, body: (name: string) => object) {
    const note = async (what: string, answer: Promise<Answer>): Promise<void> => {
      const { status, text } = await answer
      // What failed says why.
      const key = `${what} ${status}${status >= 500 ? ` ${text}` : ''}`
      this.statuses.set(key, (this.statuses.get(key) ?? 0) + 1)
    }
    this.#clients = [0, 1, 2].map(async (client) => {
      for (let i = 0; !this.#stopped; i++) {
        const one = `${name}-${client}-${i}`
        await note('create', ask(server, 'POST', collection, body(one)))
        await note('get', ask(server, 'GET', `${collection}/${one}`))
        await note('list', ask(server, 'GET', `${collection}?limit=5`))
        await note('delete', ask(server, 'DELETE', `${collection}/${one}`))
      }
    })
  }

  /** What was answered, without how often. */
  async stop(): Promise<string[]> {
    this.#stopped = true
    await Promise.all(this.#clients)
    return [...this.statuses.keys()].sort()
  }
}

const WELL = ['create 201', 'delete 200', 'get 200', 'list 200']

/** A watch that has begun; `end` resolves with all that it brought when it has ended. */
async function startWatch(server: Server, url: string): Promise<{ end: Promise<string> }> {
  const response = await fetch(`${server.url}${url}?watch=true`)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const first = await reader.read()
  const rest = async (): Promise<string> => {
    const chunks = [Buffer.from(first.value ?? [])]
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(chunks).toString()
      chunks.push(Buffer.from(value))
    }
  }
  return { end: rest() }
}

async function appears(t: Test, server: Server): Promise<void> {
  t.equal((await ask(server, 'GET', V1)).status, 404)
  const before = await ask(server, 'GET', '/apis', undefined, AGGREGATED)
  await define(server, 'v1', version('v1', SIZE))
  const after = await ask(server, 'GET', '/apis', undefined, AGGREGATED)
  t.not(after.headers.get('etag'), before.headers.get('etag'), 'discovery says so')
  t.match(after.text, /"resource":"widgets","responseKind":\{"group":"example.com","version":"v1","kind":"Widget"\}/)
  t.match((await ask(server, 'GET', '/apis/example.com')).object, { kind: 'APIGroup', name: GROUP })
  const openApi = await ask(server, 'GET', '/openapi/v3/apis/example.com/v1')
  t.match(openApi.text, /com\.example\.v1\.Widget/)
  t.match(await ask(server, 'GET', '/metrics'), {
    text: /keelson_cache_ready\{group="example.com",resource="widgets"\} 1/,
  })
}

async function isServed(t: Test, server: Server): Promise<void> {
  const created = await ask(server, 'POST', V1, widget('a', { size: 'large', unknown: 1 }))
  t.equal(created.status, 201, created.text)
  t.same(created.object.spec, { size: 'large' }, 'fields that nobody defined are pruned')
  t.match(created.headers.get('warning'), /unknown field \\"spec.unknown\\"/)
  await ask(server, 'POST', V1, widget('b', { size: 'small' }))
  t.match((await ask(server, 'GET', `${V1}/a`)).object, { kind: 'Widget', spec: { size: 'large' } })
  const list = await ask(server, 'GET', `${V1}?fieldSelector=spec.size%3Dsmall`)
  t.match(list.object, { kind: 'WidgetList', items: [{ kind: 'Widget', metadata: { name: 'b' } }] })
  t.equal(list.object.items?.length, 1)
  const status = await ask(server, 'PUT', `${V1}/a/status`, { ...created.object, status: {} })
  t.equal(status.status, 200, status.text)
}

async function changes(t: Test, server: Server): Promise<void> {
  const load = new Load(server, 'changing', V1, (name) => widget(name, { size: 'any' }))
  await define(server, 'v1', version('v1', COLOR), version('v2', COLOR))
  t.match((await ask(server, 'GET', `${V2}/a`)).object, { apiVersion: 'example.com/v2', spec: { size: 'large' } })
  const created = await ask(server, 'POST', V2, widget('c', { color: 'red' }, 'example.com/v2'))
  t.same(created.object.spec, { color: 'red' }, 'the new field is there')
  t.match((await ask(server, 'GET', `${V1}/c`)).object, { apiVersion: 'example.com/v1', spec: { color: 'red' } })
  const watch = await startWatch(server, V1)
  await define(server, 'v2', version('v1', COLOR), version('v2', COLOR))
  t.match(await watch.end, /"name":"a"/, 'memory is made anew: who watches is told to begin again')
  const other = await ask(server, 'POST', V1, widget('d', { size: 'small' }))
  t.match(other.object, { apiVersion: 'example.com/v1' })
  t.match((await ask(server, 'GET', `${V2}/a`)).object, { apiVersion: 'example.com/v2', spec: { size: 'large' } })
  t.same(await load.stop(), WELL, 'nobody noticed')
}

async function goes(t: Test, server: Server): Promise<void> {
  const load = new Load(server, 'going', V1, (name) => widget(name, { size: 'any' }))
  const builtin = new Load(server, 'staying', '/api/v1/namespaces/default/configmaps', (name) => ({
    metadata: { name },
  }))
  const watch = await startWatch(server, V2)
  await undefine(server)
  t.equal((await ask(server, 'GET', '/apis/example.com')).status, 404)
  t.match(await watch.end, /"name":"a"/, 'the watch ended')
  const left = (await load.stop()).filter((answer) => !WELL.includes(answer))
  t.ok(
    left.every((answer) => answer.endsWith('404') || answer.endsWith('create 403')),
    `what came too late was not found: ${left.join(', ')}`,
  )
  t.same(await builtin.stop(), WELL, 'other resources were served all the time')
  t.notMatch(
    (await ask(server, 'GET', '/metrics')).text,
    /_cache_(ready|objects|memory_bytes)\{[^}]*"widgets"/,
    'its memory is freed',
  )
  await define(server, 'v1', version('v1', COLOR))
  t.equal((await ask(server, 'GET', `${V1}/a`)).status, 404, 'its objects have gone with it')
  await undefine(server)
}

async function life(t: Test, flags: readonly string[]): Promise<void> {
  const server = await startServer(flags)
  t.teardown(() => server.close())
  await t.test('a resource appears', (t) => appears(t, server))
  await t.test('is served', (t) => isServed(t, server))
  await t.test('changes while it is used', (t) => changes(t, server))
  await t.test('and goes while it is used', (t) => goes(t, server))
}

t.test('resources come and go, on the embedded engine', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-open-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  await life(t, ['--data-dir', folder])
})

t.test('and on etcd, with two front ends', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  await life(t, [`--etcd-servers=${etcd.endpoint}`, '--front-ends=2'])
})
