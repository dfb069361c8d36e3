/** The load of a soak: writers, readers, watchers that read and watchers that hardly do, definitions and namespaces that come and go. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { AdminAnswer, AttackedServer } from '../attack/attacked-server.js'
import { Random } from '../support/fuzz.js'
import { SoakWatcher } from './soak-watcher.js'

const SMALL = '/api/v1/namespaces/default'
const LARGE = '/api/v1/namespaces/large/configmaps'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'

const WRITERS = 6
/** Names of each kind that a writer makes and removes: some half of them exist, after a minute and at the end alike. */
const SLOTS = 120
const READERS = 2
const FAST_WATCHERS = 40
const SLOW_WATCHERS = 8
const PASSING_WATCHERS = 4
const PAUSE = { write: 15, read: 60, large: 600, definition: 15_000, namespace: 15_000, watch: 8_000 } as const
const LARGE_SLOTS = 12
const LARGE_LEAST_BYTES = 200_000
const LARGE_MORE_BYTES = 600_000
const CHURNED_OBJECTS = 10

export class SoakLoad {
  /** How often what was done. */
  readonly done = new Map<string, number>()
  /** Answers that nobody should get. */
  readonly wrong: string[] = []
  readonly #server: AttackedServer
  readonly #over = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor(server: AttackedServer) {
    this.#server = server
  }

  async start(): Promise<void> {
    // Every lane listens for the end while it pauses.
    setMaxListeners(0, this.#over.signal)
    await this.#server.make('/api/v1/namespaces', { metadata: { name: 'large' } })
    const lanes = [
      ...Array.from({ length: WRITERS }, (_, i) => this.#write(i)),
      ...Array.from({ length: READERS }, (_, i) => this.#read(i)),
      ...Array.from({ length: FAST_WATCHERS }, (_, i) => this.#watch(i, 0)),
      ...Array.from({ length: SLOW_WATCHERS }, (_, i) => this.#watch(i, 3_000)),
      ...Array.from({ length: PASSING_WATCHERS }, () => this.#watchInPassing()),
      this.#writeLarge(),
      this.#define(),
      this.#nameSpaces(),
    ]
    this.#running = Promise.all(lanes)
    // A lane that breaks is told by stop(), not as a rejection that nobody waits for.
    this.#running.catch((error: unknown) => this.#say(`a lane broke: ${String(error)}`))
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await this.#running.catch(() => undefined)
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted
  }

  #say(what: string): void {
    if (this.wrong.length < 50) this.wrong.push(what.slice(0, 400))
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#over.signal }).catch(() => undefined)
  }

  /** `name`: under which it is counted. */
  async #ask(
    name: string,
    right: readonly number[],
    method: string,
    target: string,
    body?: unknown,
    type?: string,
  ): Promise<AdminAnswer> {
    const answer = await this.#server.admin(method, target, body, type)
    this.done.set(name, (this.done.get(name) ?? 0) + 1)
    if (!right.includes(answer.status)) this.#say(`${method} ${target}: ${answer.status} ${answer.text.slice(0, 200)}`)
    return answer
  }

  /** A writer has names of its own: it knows what exists. */
  async #write(lane: number): Promise<void> {
    const random = new Random(lane + 1)
    const exists = new Set<string>()
    for (let n = 0; !this.#isOver; n++) {
      const kind = random.pick(['pods', 'configmaps'] as const)
      const name = `${kind}-${lane}-${random.below(SLOTS)}`
      await (exists.has(name) ? this.#change(random, kind, name, n, exists) : this.#make(random, kind, name, n, exists))
      await this.#pause(random.below(PAUSE.write * 2))
    }
  }

  async #make(random: Random, kind: Kind, name: string, n: number, exists: Set<string>): Promise<void> {
    const object = small(kind, name, n)
    if (random.chance(30)) await this.#apply('create by apply', [201], kind, object)
    else await this.#ask('create', [201], 'POST', `${SMALL}/${kind}`, object)
    exists.add(name)
  }

  async #change(random: Random, kind: Kind, name: string, n: number, exists: Set<string>): Promise<void> {
    const target = `${SMALL}/${kind}/${name}`
    const way = random.below(5)
    if (way === 0) {
      await this.#ask('delete', [200], 'DELETE', target, { gracePeriodSeconds: 0 })
      exists.delete(name)
    } else if (way === 1) await this.#apply('apply', [200], kind, small(kind, name, n))
    else if (way === 2 && kind === 'configmaps') await this.#ask('update', [200], 'PUT', target, small(kind, name, n))
    else if (way === 3 && kind === 'pods') {
      const status = { phase: 'Running', message: `at ${n}`, podIP: '10.0.0.1' }
      await this.#ask('status patch', [200], 'PATCH', `${target}/status`, { status }, MERGE)
    } else {
      const metadata = { annotations: { n: String(n) } }
      await this.#ask('merge patch', [200], 'PATCH', target, { metadata }, MERGE)
    }
  }

  async #apply(name: string, right: readonly number[], kind: Kind, object: SmallObject): Promise<void> {
    const target = `${SMALL}/${kind}/${object.metadata.name}?fieldManager=soak&force=true`
    await this.#ask(name, right, 'PATCH', target, object, APPLY)
  }

  /** Of many lengths, so that memory in size classes is used and given back in all of them. */
  async #writeLarge(): Promise<void> {
    const random = new Random(77)
    const exists = new Set<string>()
    while (!this.#isOver) {
      const name = `large-${random.below(LARGE_SLOTS)}`
      const data = { text: 'x'.repeat(LARGE_LEAST_BYTES + random.below(LARGE_MORE_BYTES)) }
      if (!exists.has(name)) {
        await this.#ask('create a large one', [201], 'POST', LARGE, { metadata: { name }, data })
        exists.add(name)
      } else if (random.chance(40)) {
        await this.#ask('delete a large one', [200], 'DELETE', `${LARGE}/${name}`)
        exists.delete(name)
      } else await this.#ask('update a large one', [200], 'PUT', `${LARGE}/${name}`, { metadata: { name }, data })
      await this.#pause(PAUSE.large)
    }
  }

  async #read(lane: number): Promise<void> {
    const random = new Random(lane + 100)
    while (!this.#isOver) {
      const kind = random.pick(['pods', 'configmaps'])
      const query = random.pick(['', '', '?resourceVersion=0', '?labelSelector=part%3Da', '?limit=100'])
      if (random.chance(60))
        await this.#ask('get', [200, 404], 'GET', `${SMALL}/${kind}/${kind}-${random.below(WRITERS)}-1`)
      else if (random.chance(5)) await this.#ask('list large ones', [200], 'GET', LARGE)
      else if (query === '?limit=100') await this.#page(kind)
      else await this.#ask('list', [200], 'GET', `${SMALL}/${kind}${query}`)
      await this.#pause(PAUSE.read)
    }
  }

  async #page(kind: string): Promise<void> {
    let next = ''
    do {
      const target = `${SMALL}/${kind}?limit=100${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`
      // The window of memory may have passed a page that waited for long.
      const { status, text } = await this.#ask('list a page', [200, 410], 'GET', target)
      next = status === 200 ? ((JSON.parse(text) as { metadata: { continue?: string } }).metadata.continue ?? '') : ''
    } while (next !== '' && !this.#isOver)
  }

  /** Reads for a moment, then nothing for `restMs`; opens another when the server has given it up. */
  async #watch(i: number, restMs: number): Promise<void> {
    const target = `${i % 4 === 0 ? LARGE : `${SMALL}/${i % 2 === 0 ? 'pods' : 'configmaps'}`}?watch=1&allowWatchBookmarks=true`
    while (!this.#isOver) {
      const watcher = new SoakWatcher(this.#server, target)
      while (!this.#isOver && !watcher.closed)
        if (restMs === 0) await this.#pause(500)
        else await watcher.rest(() => this.#pause(restMs)).then(() => this.#pause(50))
      this.#count(restMs === 0 ? 'events read' : 'events read slowly', watcher.events)
      watcher.close()
      if (!this.#isOver) await this.#pause(200)
    }
  }

  async #watchInPassing(): Promise<void> {
    const target = `${SMALL}/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`
    while (!this.#isOver) {
      const watcher = new SoakWatcher(this.#server, target)
      await this.#pause(PAUSE.watch)
      this.#count('events read in passing', watcher.events)
      watcher.close()
    }
  }

  #count(name: string, by: number): void {
    this.done.set(name, (this.done.get(name) ?? 0) + by)
  }

  async #define(): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const plural = `soak${n}s`
      const name = `${plural}.soak.example.com`
      await this.#ask('create a definition', [201], 'POST', DEFINITIONS, definition(plural, name))
      const things = `/apis/soak.example.com/v1/namespaces/default/${plural}`
      const isServed = async (): Promise<boolean> =>
        (await this.#ask('wait for a definition', [200, 404], 'GET', `${things}?limit=1`)).status === 200
      while (!this.#isOver && !(await isServed())) await this.#pause(100)
      if (this.#isOver) return
      for (let i = 0; i < CHURNED_OBJECTS; i++) {
        const object = { apiVersion: 'soak.example.com/v1', kind: `Soak${n}`, metadata: { name: `t${i}` }, spec: { i } }
        await this.#ask('create a custom object', [201], 'POST', things, object)
      }
      await this.#ask('delete a definition', [200], 'DELETE', `${DEFINITIONS}/${name}`)
      await this.#pause(PAUSE.definition)
    }
  }

  async #nameSpaces(): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const name = `soak-${n}`
      await this.#ask('create a namespace', [201], 'POST', '/api/v1/namespaces', { metadata: { name } })
      for (let i = 0; i < CHURNED_OBJECTS; i++) {
        const object = { metadata: { name: `s${i}` }, stringData: { text: 'x'.repeat(1000) } }
        await this.#ask('create a secret', [201], 'POST', `/api/v1/namespaces/${name}/secrets`, object)
      }
      await this.#ask('delete a namespace', [200], 'DELETE', `/api/v1/namespaces/${name}`)
      await this.#pause(PAUSE.namespace)
    }
  }
}

type Kind = 'pods' | 'configmaps'

interface SmallObject {
  readonly metadata: { readonly name: string }
}

function small(kind: Kind, name: string, n: number): SmallObject {
  const labels = { part: n % 2 === 0 ? 'a' : 'b' }
  if (kind === 'configmaps')
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels },
      data: { n: String(n), text: 'x'.repeat(900) },
    } as SmallObject
  const containers = [{ name: 'main', image: 'registry.example.com/app:1' }]
  const metadata = { name, labels, annotations: { padding: 'x'.repeat(2600) } }
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } } as SmallObject
}

const definition = (plural: string, name: string): object => {
  const singular = plural.slice(0, -1)
  const kind = `S${singular.slice(1)}`
  const spec = { type: 'object', properties: { i: { type: 'integer', minimum: 0 }, text: { type: 'string' } } }
  const openAPIV3Schema = { type: 'object', properties: { spec } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group: 'soak.example.com',
      scope: 'Namespaced',
      names: { plural, singular, kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}
