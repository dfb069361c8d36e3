/**
 * What is read from memory is what the authorizer saw: for random paths, queries and forms every object that a client is shown
 * is one that the attributes name. (Writes, connections and paths that are no resources:
 * filters/request-info.test.ts.)
 */
import t from 'tap'
import { recordDraft } from '#keelson/api/json/record-scan.js'
import type { RequestInfo } from '#keelson/api/request-info.js'
import type { Attributes } from '#keelson/auth/interface.js'
import type { ResourceView } from '#keelson/cacher/read/resource-view.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import { NonResourcePaths } from '#keelson/main/paths/non-resource-paths.js'
import { FrontEnd, type FrontEndOptions } from '#keelson/main/request/front-end.js'
import { ServedResource } from '#keelson/main/verbs/served-resource.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { FakeClock } from '../../support/fake-clock.js'
import { fuzzRounds, fuzzSeed, Random } from '../../support/fuzz.js'
import { MemoryArena, MemoryClock } from '../../support/memory-arena.js'
import { FakePort, requestHead } from '../http/fake-port.js'

const NAMESPACES = ['default', 'kube-system', 'pods', 'watch']
const NAMES = ['p1', 'p2', 'default', 'namespaces', 'status']
const FIELDS = ['metadata.name', 'metadata.namespace']
interface Kind {
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  readonly isDefined?: boolean
}
const KINDS: readonly Kind[] = [
  { group: '', resource: 'pods', kind: 'Pod', namespaced: true },
  { group: '', resource: 'nodes', kind: 'Node', namespaced: false },
  { group: '', resource: 'namespaces', kind: 'Namespace', namespaced: false },
  { group: 'apps', resource: 'pods', kind: 'OtherPod', namespaced: true },
  { group: 'apps', resource: 'nodes', kind: 'OtherNode', namespaced: true },
  // Of a definition, whose objects say their kind in lists too.
  { group: 'example.com', resource: 'pods', kind: 'DefinedPod', namespaced: true, isDefined: true },
  { group: 'example.com', resource: 'namespaces', kind: 'DefinedNamespace', namespaced: false, isDefined: true },
]

interface Shown {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly of: string
}

/** Objects of every kind in every place: whatever is shown by mistake says where it is from. */
class World {
  readonly clock = new MemoryClock()
  readonly arenas = new Map<string, MemoryArena>()
  readonly resources: ServedResource[] = []
  #revision = 0

  constructor() {
    for (const kind of KINDS) {
      const arena = kind.group === '' ? kind.resource : `${kind.resource}.${kind.group}`
      const memory = new MemoryArena(this.clock)
      memory.setReady(true)
      this.arenas.set(arena, memory)
      this.resources.push(served(arena, kind))
    }
    this.change()
  }

  /** Writes every object anew. */
  change(): void {
    for (const { group, resource, kind, namespaced } of KINDS) {
      const arena = group === '' ? resource : `${resource}.${group}`
      const memory = this.arenas.get(arena)!
      for (const namespace of namespaced ? NAMESPACES : [undefined])
        for (const name of NAMES) {
          const revision = ++this.#revision
          const apiVersion = group === '' ? 'v1' : `${group}/v1`
          const metadata = { name, ...(namespace === undefined ? {} : { namespace }), uid: 'u', resourceVersion: '' }
          const json = Buffer.from(JSON.stringify({ kind, apiVersion, metadata, of: arena }))
          const fields = ['metadata.name', name, 'metadata.namespace', namespace ?? '']
          const key = `/registry/${arena}/${namespace === undefined ? '' : `${namespace}/`}${name}`
          memory.put(key, { ...recordDraft(json, []), fields }, revision, revision)
          memory.publish(revision)
        }
    }
    this.clock.advance(this.#revision)
  }

  readonly view = (arena: string): ResourceView => ({
    clock: this.clock,
    fence: { pass: () => true },
    arena: () => this.arenas.get(arena),
    known: () => this.arenas.get(arena),
    fallen: () => false,
  })
}

const served = (arena: string, { isDefined = false, ...what }: Kind): ServedResource =>
  new ServedResource({
    arena,
    keyPrefix: `/registry/${arena}/`,
    direct: true,
    isCustom: isDefined,
    selectableFields: FIELDS,
    info: {
      ...what,
      version: 'v1',
      singular: what.resource.slice(0, -1),
      verbs: ['get', 'list', 'watch', 'deletecollection'],
      shortNames: [],
      categories: [],
      storageVersionHash: undefined,
      subresources: [{ name: 'status', group: '', version: 'v1', kind: what.kind, verbs: ['get'] }],
      returnsDeleted: false,
      servedByDefault: true,
    },
  })

/** Every object in an answer, whatever its form: of a GET, a list, a Table, a watch. */
function shownIn(text: string): Shown[] {
  const shown: Shown[] = []
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) look(one)
    else if (typeof value === 'object' && value !== null) {
      if ('of' in value) shown.push(value as Shown)
      else for (const one of Object.values(value)) look(one)
    }
  }
  for (const line of text.split('\n')) if (line.trim() !== '') look(JSON.parse(line))
  return shown
}

function mayBeShown(
  { verb, apiGroup, resource, namespace, name, subresource }: Attributes,
  { metadata, of }: Shown,
): boolean {
  const arena = apiGroup === '' ? resource : `${resource}.${apiGroup}`
  if (of !== arena || subresource !== '' || !['get', 'list', 'watch'].includes(verb)) return false
  // A namespace at its own path is authorized in itself.
  const isOwn = resource === 'namespaces' && apiGroup === '' && namespace === metadata.name
  if (namespace !== '' && metadata.namespace !== namespace && !isOwn) return false
  return name === '' ? verb !== 'get' : name === metadata.name
}

function scene() {
  const world = new World()
  const seen: Attributes[] = []
  const pooled: RequestInfo[] = []
  const pool = {
    run: async (
      type: string,
      input: { bodies?: Uint8Array[]; info?: RequestInfo; request?: { info: RequestInfo } },
    ) => {
      if (type === 'convert') return { shown: input.bodies }
      if (type === 'tableColumns') return Buffer.from('[]')
      pooled.push((input.info ?? input.request?.info)!)
      throw new Error('far enough')
    },
  }
  const clock = new FakeClock()
  const server = new FrontEnd({
    views: world.view,
    pool: pool as unknown as FrontEndOptions['pool'],
    clock,
    random: () => 0,
    logger: nullLogger,
    nonResourcePaths: new NonResourcePaths(),
    requestTimeoutMs: 60_000,
    minRequestTimeoutSeconds: 1800,
    authenticator: { authenticate: () => ({ user: { name: 'alice', uid: '', groups: [], extra: {} } }) },
    authorizer: {
      authorize: (attributes) => {
        seen.push(attributes)
        return { decision: 'allow', reason: '' }
      },
    },
    gate: { enter: () => () => undefined },
    recorder: noRecorder(),
  })
  server.serve(world.resources)
  return { world, seen, pooled, server }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A path and a query that may lead anywhere: half of them begin as right ones do. */
function randomRequest(random: Random): { method: string; rawPath: string; query: string; accept: string } {
  const words = [
    '',
    'watch',
    'namespaces',
    'pods',
    'nodes',
    'status',
    '..',
    '.',
    'p1',
    'default',
    'kube-system',
    'a%2fb',
    '%00',
  ]
  const group = random.pick([
    ['api', 'v1'],
    ['apis', 'apps', 'v1'],
    ['apis', 'example.com', 'v1'],
  ])
  const scope = random.pick([[], ['namespaces', random.pick(NAMESPACES)], [random.pick(words)]])
  const rest = random.pick([[], [random.pick(NAMES)], [random.pick(NAMES), random.pick(words)], [random.pick(words)]])
  const watch = random.chance(25) ? ['watch'] : []
  const segments = [...group, ...watch, ...scope, random.pick(['pods', 'nodes', 'namespaces']), ...rest]
  const written = (text: string): string =>
    text.includes('%')
      ? text
      : [...text].map((c) => (random.chance(10) ? `%${c.charCodeAt(0).toString(16).padStart(2, '0')}` : c)).join('')
  const query = new URLSearchParams()
  if (random.chance(30)) query.append('watch', random.pick(['1', 'true', '0', 'false', '']))
  if (random.chance(10)) query.append('watch', random.pick(['1', 'true']))
  if (random.chance(30))
    query.append(
      'fieldSelector',
      random.pick([
        'metadata.name=p1',
        'metadata.name=p2,metadata.name=p1',
        'metadata.namespace=kube-system',
        'metadata.name!=p1',
        'metadata.name=p1,metadata.namespace=default',
      ]),
    )
  if (random.chance(10)) query.append('fieldSelector', 'metadata.name=p2')
  if (random.chance(20)) query.append('limit', random.pick(['1', '3', '0']))
  if (random.chance(20)) query.append('resourceVersion', random.pick(['0', '', '1']))
  return {
    method: random.pick(['GET', 'GET', 'GET', 'HEAD']),
    rawPath: `/${segments.map(written).join(random.pick(['/', '/', '/', '//', '%2F']))}`,
    query: query.toString(),
    accept: random.pick([
      '',
      'application/json',
      'application/yaml',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
    ]),
  }
}

t.test('what is read from memory is what the authorizer saw', async (t) => {
  const { world, seen, pooled, server } = scene()
  const random = new Random(fuzzSeed())
  const counts = { get: 0, list: 0, watch: 0, pool: 0, defined: 0 }
  for (let round = 0; round < fuzzRounds(4000); round++) {
    const request = randomRequest(random)
    const before = { seen: seen.length, pooled: pooled.length }
    const port = new FakePort()
    server.handle(new Exchange(requestHead(request), port))
    await turn()
    const attributes = seen[before.seen]
    const isStream = !port.ended && port.status === '200 OK'
    if (isStream) {
      world.change()
      await turn()
    }
    const name = JSON.stringify(request)
    const shown = port.status === '200 OK' ? shownIn(port.body) : []
    if (isStream) port.abort()
    for (const one of shown)
      if (attributes === undefined || !mayBeShown(attributes, one))
        t.fail(`${name}: ${JSON.stringify(one)} was shown to one who was asked about ${JSON.stringify(attributes)}`)
    for (const info of pooled.slice(before.pooled)) {
      counts.pool++
      const { verb, apiGroup, apiVersion, namespace, resource, name: object, subresource } = info
      const carried = { verb, apiGroup, apiVersion, namespace, resource, name: object, subresource }
      t.match(attributes, carried, `${name}: the pool is given what was authorized`)
    }
    t.equal(seen.length - before.seen <= 1, true, `${name}: asked once`)
    if (shown.length > 0) counts[attributes!.verb as 'get' | 'list' | 'watch']++
    if (shown.length > 0 && attributes!.apiGroup === 'example.com') counts.defined++
  }
  t.comment(JSON.stringify(counts))
  for (const [route, count] of Object.entries(counts)) t.ok(count > 50, `${count} went by ${route}`)
  t.equal(
    [...world.arenas.values()].reduce((sum, { pins }) => sum + pins, 0),
    0,
    'and nothing is held',
  )
})

t.test('a path below /watch/ follows the one object that it names, and nothing else', async (t) => {
  const { world, server } = scene()
  const port = new FakePort()
  server.handle(new Exchange(requestHead({ rawPath: '/api/v1/watch/namespaces/default/pods/p1' }), port))
  await turn()
  world.change()
  await turn()
  const shown = shownIn(port.body)
  t.ok(shown.length > 0)
  t.ok(shown.every(({ metadata, of }) => of === 'pods' && metadata.name === 'p1' && metadata.namespace === 'default'))
  port.abort()
})
