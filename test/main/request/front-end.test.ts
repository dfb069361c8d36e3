import t from 'tap'
import type { RequestInfo } from '#keelson/api/request-info.js'
import { type Attributes, type Authenticator, type Authorizer, InvalidCredentials } from '#keelson/auth/interface.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import type { RequestHead } from '#keelson/main/http/request-head.js'
import { NonResourcePaths } from '#keelson/main/paths/non-resource-paths.js'
import { FrontEnd, type FrontEndOptions } from '#keelson/main/request/front-end.js'
import { type GatedRequest, type Leave, RequestRefused } from '#keelson/main/request/request-gate.js'
import type { ObservedRequest, RequestOutcome } from '#keelson/main/request/request-observer.js'
import { ServedResource } from '#keelson/main/verbs/served-resource.js'
import { FakeClock } from '../../support/fake-clock.js'
import { Random } from '../../support/fuzz.js'
import { FakePort, requestHead } from '../http/fake-port.js'

const ALICE = { name: 'alice', uid: '', groups: [], extra: {} }
const known: Authenticator = { authenticate: () => ({ user: ALICE }) }
const deciding = (decision: 'allow' | 'deny' | 'no-opinion', reason = '', asked: Attributes[] = []): Authorizer => ({
  authorize: (attributes) => {
    asked.push(attributes)
    return { decision, reason }
  },
})
const open = { enter: (): Leave => () => undefined }

function frontEnd(options: Partial<FrontEndOptions> = {}) {
  const paths = new NonResourcePaths()
  const clock = new FakeClock()
  const ran: string[] = []
  paths.exact('/x', (exchange) => {
    ran.push('x')
    exchange.respond({ status: 200, contentType: 'text/plain' }, 'ok')
    return undefined
  })
  paths.exact('/never', () => new Promise<void>(() => undefined))
  const unused = new Proxy({}, { get: () => () => t.fail('not for this request') })
  const server = new FrontEnd({
    views: () => unused as ReturnType<FrontEndOptions['views']>,
    pool: unused as FrontEndOptions['pool'],
    clock,
    random: () => 0,
    logger: nullLogger,
    nonResourcePaths: paths,
    requestTimeoutMs: 60_000,
    minRequestTimeoutSeconds: 1800,
    authenticator: known,
    gate: open,
    ...options,
  })
  const send = (head: Partial<RequestHead>): FakePort => {
    const port = new FakePort()
    server.handle(new Exchange(requestHead(head), port))
    return port
  }
  return { send, ran, clock, server }
}
const STREAMS = ['exec', 'log', 'proxy', 'attach']
const POD_RESOURCE = new ServedResource({
  arena: 'pods',
  keyPrefix: '/registry/pods/',
  direct: true,
  itemsCarryKind: false,
  selectableFields: [],
  connects: Object.fromEntries(STREAMS.map((name) => [name, name === 'proxy' ? { subpath: true } : {}])),
  info: {
    group: '',
    version: 'v1',
    resource: 'pods',
    kind: 'Pod',
    namespaced: true,
    singular: 'pod',
    verbs: ['get', 'list', 'watch'],
    shortNames: [],
    categories: [],
    storageVersionHash: undefined,
    subresources: STREAMS.map((name) => ({
      name,
      group: '',
      version: 'v1',
      kind: 'Pod',
      verbs: ['create', 'get', 'update', 'patch', 'delete'],
    })),
    returnsDeleted: false,
    servedByDefault: true,
  },
})
const message = (port: FakePort): string => (JSON.parse(port.body) as { message: string }).message
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('what answers at once keeps a request in its turn', async (t) => {
  const asked: Attributes[] = []
  const { send, ran } = frontEnd({ authorizer: deciding('allow', '', asked) })
  t.equal(send({ rawPath: '/x' }).body, 'ok')
  t.same(ran, ['x'])
  t.match(asked, [{ user: ALICE, verb: 'get', path: '/x', isResourceRequest: false }])
})

t.test('nobody, and who is wrong about themselves, get 401', async (t) => {
  for (const authenticate of [
    () => undefined,
    async () => undefined,
    () => {
      throw new InvalidCredentials('expired')
    },
    async () => {
      throw new InvalidCredentials('expired')
    },
  ]) {
    const { send, ran } = frontEnd({ authenticator: { authenticate } })
    const port = send({ rawPath: '/x' })
    await turn()
    t.equal(port.status, '401 Unauthorized')
    t.equal(message(port), 'Unauthorized')
    t.same(ran, [])
  }
})

t.test('who may not is told so in Kubernetes’ words', async (t) => {
  const { send, ran } = frontEnd({ authorizer: deciding('no-opinion') })
  const words = (method: string, rawPath: string): string => message(send({ method, rawPath }))
  t.equal(words('GET', '/x'), 'forbidden: User "alice" cannot get path "/x"')
  t.equal(
    words('GET', '/api/v1/namespaces/default/pods/x'),
    'pods "x" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace "default"',
  )
  t.equal(
    words('PUT', '/apis/apps/v1/namespaces/n/deployments/x/scale'),
    'deployments.apps "x" is forbidden: User "alice" cannot update resource "deployments/scale" in API group "apps" in the namespace "n"',
  )
  t.equal(
    words('GET', '/api/v1/nodes'),
    'nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope',
  )
  t.equal(words('GET', '/<b>'), 'forbidden: User "alice" cannot get path "/&lt;b&gt;"')
  const reasoned = frontEnd({ authorizer: deciding('deny', 'because') }).send({ rawPath: '/x' })
  t.equal(reasoned.status, '403 Forbidden')
  t.equal(message(reasoned), 'forbidden: User "alice" cannot get path "/x": because')
  t.same(JSON.parse(reasoned.body).details, {})
  t.same(ran, [])
})

t.test('an authorizer that fails is a 500, not a no', async (t) => {
  const { send } = frontEnd({
    authorizer: { authorize: async () => ({ decision: 'no-opinion', reason: '', error: 'no route' }) },
  })
  const port = send({ rawPath: '/x', query: 'a=b' })
  await turn()
  t.equal(port.status, '500 Internal Server Error')
  t.equal(port.body, 'Internal Server Error: "/x?a=b": no route\n')
})

t.test('a place is held as long as the request, however it ends', async (t) => {
  let inside = 0
  const gate = {
    enter: (): Leave => {
      inside++
      return () => inside--
    },
  }
  const { send } = frontEnd({ gate })
  send({ rawPath: '/x' })
  t.equal(inside, 0, 'answered')
  send({ rawPath: '/apis/none/v1/things' })
  t.equal(inside, 0, 'not found')
  const refusing = frontEnd({
    gate: {
      enter: () => {
        throw new RequestRefused(1)
      },
    },
  })
  const port = refusing.send({ rawPath: '/x' })
  t.equal(port.status, '429 Too Many Requests')
  t.equal(port.body, 'Too many requests, please try again later.\n')
  t.same(
    port.headers.find(([name]) => name === 'Content-Type'),
    ['Content-Type', 'text/plain; charset=utf-8'],
  )
  t.same(
    port.headers.find(([name]) => name === 'Retry-After'),
    ['Retry-After', '1'],
  )
  t.same(refusing.ran, [])
})

t.test('who went away while waiting at the gate does not run and gives its place back at once', async (t) => {
  let admit: (leave: Leave) => void = () => t.fail('nobody came')
  let left = 0
  let told = 0
  const gate = {
    enter: (request: GatedRequest): Promise<Leave> => {
      request.onGone(() => told++)
      return new Promise<Leave>((resolve) => {
        admit = resolve
      })
    },
  }
  const { send, ran } = frontEnd({ gate })
  const gone = send({ rawPath: '/x' })
  gone.abort()
  t.equal(told, 1, 'the queue can forget it')
  admit(() => left++)
  await turn()
  t.equal(left, 1)
  t.same(ran, [])
  const patient = send({ rawPath: '/x' })
  admit(() => left++)
  await turn()
  t.equal(patient.body, 'ok')
  t.equal(left, 2)
})

t.test('the body of a request that waits is not lost', async (t) => {
  let decide: () => void = () => t.fail('nobody asked')
  let body = ''
  const paths = new NonResourcePaths()
  paths.exact('/post', async (exchange) => {
    body = Buffer.from(await exchange.readBody(1000)).toString()
    exchange.respond({ status: 200, contentType: 'text/plain' }, 'ok')
  })
  const { send } = frontEnd({
    nonResourcePaths: paths,
    authenticator: {
      authenticate: () =>
        new Promise((resolve) => {
          decide = () => resolve({ user: ALICE })
        }),
    },
  })
  for (const contentLength of ['5', '100000']) {
    const port = send({ method: 'POST', rawPath: '/post', contentLength })
    t.equal(port.paused, contentLength === '100000', 'what is large waits in the socket')
    port.send('hel', false)
    decide()
    await turn()
    t.equal(port.paused, false)
    port.send('lo', true)
    await turn()
    t.equal(body, 'hello')
    t.equal(port.body, 'ok')
  }
})

t.test('observers learn who asked for what and how it ended', async (t) => {
  const seen: [ObservedRequest, RequestOutcome | undefined][] = []
  const observer = {
    onRequest: (request: ObservedRequest) => void seen.push([request, undefined]),
    onFinished: (request: ObservedRequest, outcome: RequestOutcome) => void seen.push([request, outcome]),
  }
  const { send } = frontEnd({ observer, authorizer: deciding('allow') })
  send({ rawPath: '/x' })
  send({ rawPath: '/api/v1/namespaces/n/pods', query: 'dryRun=All', method: 'POST' })
  const [first, finished, second] = seen
  t.equal(first?.[0], finished?.[0], 'one object')
  t.match(finished?.[0], { user: ALICE, scope: '', verdict: { decision: 'allow' } })
  t.match(finished?.[1], { status: 200, bytes: 2, durationMs: 0 })
  t.match(second?.[0], { scope: 'resource', dryRun: true, info: { verb: 'create' } })
})

t.test('a request that takes too long gets 504, when the client says so sooner', async (t) => {
  for (const [query, limitMs] of [
    ['', 60_000],
    ['timeout=2s', 2000],
    ['timeout=0s', 60_000],
    ['timeout=1h', 60_000],
  ] as const) {
    const { send, clock } = frontEnd()
    const port = send({ rawPath: '/never', query })
    await clock.advance(limitMs - 1)
    t.equal(port.status, '', query)
    await clock.advance(1)
    t.equal(port.status, '504 Gateway Timeout', query)
    t.match(JSON.parse(port.body), {
      reason: 'Timeout',
      message: 'Timeout: request did not complete within the allotted timeout',
    })
  }
  const { send, ran } = frontEnd()
  const bad = send({ rawPath: '/x', query: 'timeout=soon' })
  t.equal(bad.status, '400 Bad Request')
  t.equal(message(bad), 'invalid timeout specified in the request URL - time: invalid duration "soon"')
  t.same(ran, [])
})

t.test('who waits at the gate for too long does not run when its turn comes', async (t) => {
  let admit: (leave: Leave) => void = () => t.fail('nobody came')
  let left = 0
  const gate = {
    enter: (): Promise<Leave> =>
      new Promise<Leave>((resolve) => {
        admit = resolve
      }),
  }
  const { send, ran, clock } = frontEnd({ gate })
  const port = send({ rawPath: '/x' })
  await clock.advance(60_000)
  t.equal(port.status, '504 Gateway Timeout')
  admit(() => left++)
  await turn()
  t.equal(left, 1)
  t.same(ran, [])
})

t.test('an answer that its client does not take is broken off in the end', async (t) => {
  const paths = new NonResourcePaths()
  let released = 0
  paths.exact('/large', (exchange) => {
    exchange.respondSized(
      { status: 200, contentType: 'text/plain' },
      1000,
      () => Buffer.alloc(100),
      () => released++,
    )
    return undefined
  })
  const { server, clock } = frontEnd({ nonResourcePaths: paths })
  const port = new FakePort()
  port.room = 10
  server.handle(new Exchange(requestHead({ rawPath: '/large' }), port))
  await clock.advance(60_000)
  t.ok(port.closed)
  t.equal(released, 1)
})

t.test('a watch while memory fills is told to come again', async (t) => {
  const filling = { arena: () => undefined, fallen: () => false }
  const { send, server } = frontEnd({ views: () => filling as unknown as ReturnType<FrontEndOptions['views']> })
  const info = {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    kind: 'ConfigMap',
    namespaced: true,
    singular: 'configmap',
    verbs: ['watch'],
    shortNames: [],
    categories: [],
    storageVersionHash: undefined,
    subresources: [],
    returnsDeleted: false,
    servedByDefault: true,
  }
  const options = { arena: 'configmaps', keyPrefix: '/registry/configmaps/', direct: true, itemsCarryKind: false }
  server.serve([new ServedResource({ ...options, info, selectableFields: [] })])
  const port = send({ rawPath: '/api/v1/configmaps', query: 'watch=1' })
  await turn()
  t.equal(port.status, '429 Too Many Requests')
  t.equal(message(port), 'storage is (re)initializing')
  t.equal(Object.fromEntries(port.headers)['Retry-After'], '1')
})

t.test(
  'a watch by path is a GET of a collection or a name; all else there is nothing, whoever may watch',
  async (t) => {
    const connected: string[] = []
    const asked: Attributes[] = []
    const { send, server } = frontEnd({
      authorizer: deciding('allow', '', asked),
      connector: { connect: async ({ info }) => void connected.push(`${info.verb} ${info.subresource}`) },
    })
    server.serve([POD_RESOURCE])
    const paths = [
      '/api/v1/watch/namespaces/default/pods/p1/exec',
      '/api/v1/watch/namespaces/default/pods/p1/proxy/x',
      '/api/v1/watch%2Fnamespaces/default/pods/p1/proxy',
      '/api/v1/watch/namespaces/default/pods/p1/log',
      '/api/v1/proxy/namespaces/default/pods/p1',
    ]
    for (const rawPath of paths)
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
        const port = send({ method, rawPath })
        await turn()
        t.equal(port.status, '404 Not Found', `${method} ${rawPath}`)
      }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
      t.equal(send({ method, rawPath: '/api/v1/watch/pods' }).status, '404 Not Found', method)
    t.same(connected, [])
  },
)

t.test('what is passed on is what the authorizer saw, however it is written', async (t) => {
  let seen: Attributes | undefined
  let carried: RequestInfo | undefined
  const { send, server } = frontEnd({
    authorizer: {
      authorize: (attributes) => {
        seen = attributes
        return { decision: 'allow', reason: '' }
      },
    },
    connector: {
      connect: async ({ info }, input) => {
        t.equal(input.info, info, 'the pool gets the same value')
        carried = info
      },
    },
  })
  server.serve([POD_RESOURCE])
  let state = 1
  const random = (below: number): number => {
    state = (state * 48271) % 2147483647
    return state % below
  }
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!
  const written = (text: string): string =>
    [...text].map((c) => (random(6) === 0 ? `%${c.charCodeAt(0).toString(16).padStart(2, '0')}` : c)).join('')
  let passed = 0
  let proxied = 0
  for (let round = 0; round < 3000; round++) {
    const words = ['', 'watch', 'proxy', 'namespaces', 'default', 'pods', 'p1', 'exec', 'log', '..', ';a=b', 'p%2fq']
    const tail = Array.from({ length: random(7) }, () => pick(words))
    const known = ['namespaces', 'default', 'pods', 'p1', pick(STREAMS), ...tail.slice(0, 2)]
    const segments = ['api', 'v1', ...(random(2) === 0 ? known : tail)]
    const rawPath = `/${segments.map((segment) => (segment.includes('%') ? segment : written(segment))).join(pick(['/', '/', '//', '%2F']))}`
    seen = undefined
    carried = undefined
    const method = pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
    // Whatever is not passed on ends in an error here: nothing else is served.
    if (segments.some((segment) => STREAMS.includes(segment))) send({ method, rawPath })
    await turn()
    if (carried === undefined) continue
    passed++
    const { verb, namespace, resource, name, subresource } = carried
    t.match(seen, { verb, namespace, resource, name, subresource }, `${method} ${rawPath}`)
    if (subresource !== 'proxy') continue
    proxied++
    const { prefix = '', rest = '' } = (carried as RequestInfo).proxied ?? {}
    const names = [...(namespace === '' ? [] : ['namespaces', namespace]), resource, name, subresource]
    t.equal(decodeURIComponent(prefix), `/api/v1/${names.join('/')}`, `${rawPath}: the prefix is what was authorized`)
    t.ok(rest === '' || rest.startsWith('/'), rawPath)
    t.ok(rest === '' || rawPath.endsWith(rest.slice(1)), `${rawPath}: the rest is as it was written`)
    const whole = (path: string): string[] => path.split('/').filter((segment) => segment !== '')
    t.same(
      whole(decodeURIComponent(`${prefix}${rest}`)),
      whole((seen as unknown as Attributes).path),
      `${rawPath}: nothing is lost or added`,
    )
  }
  t.ok(proxied > 50, `${proxied} were proxied`)
  t.ok(passed > 200, `${passed} requests were passed on`)
})

t.test('what is written, and what is served below other paths, is what the authorizer saw', async (t) => {
  const seen: Attributes[] = []
  const written: RequestInfo[] = []
  const below: string[] = []
  const nonResourcePaths = new NonResourcePaths()
  nonResourcePaths.below('/docs/', (exchange, _query, rest) => {
    below.push(`/docs/${rest}`)
    exchange.respond({ status: 200, contentType: 'text/plain' }, 'ok')
    return undefined
  })
  const { send, server } = frontEnd({
    nonResourcePaths,
    authorizer: deciding('allow', '', seen),
    pool: {
      run: (_type: string, input: { readonly info: RequestInfo }) => {
        written.push(input.info)
        return Promise.reject(new Error('far enough'))
      },
    } as unknown as FrontEndOptions['pool'],
  })
  const verbs = ['create', 'update', 'patch', 'delete', 'deletecollection']
  const subresources = ['status', 'scale'].map((name) => ({ ...POD_RESOURCE.info.subresources[0]!, name, verbs }))
  const kind = (resource: string, namespaced: boolean): ServedResource =>
    new ServedResource({
      arena: resource,
      keyPrefix: `/registry/${resource}/`,
      direct: true,
      itemsCarryKind: false,
      selectableFields: [],
      connects: {},
      info: { ...POD_RESOURCE.info, resource, namespaced, verbs, subresources },
    })
  server.serve([kind('pods', true), kind('nodes', false), kind('namespaces', false)])
  const random = new Random(1)
  const word = (text: string): string =>
    [...text].map((c) => (random.chance(15) ? `%${c.charCodeAt(0).toString(16).padStart(2, '0')}` : c)).join('')
  const words = ['', 'namespaces', 'default', 'pods', 'nodes', 'p1', 'status', 'scale', 'finalize', 'watch', '..', 'x']
  const shapes = [
    ['namespaces', 'default', 'pods', 'p1'],
    ['namespaces', 'default', 'pods'],
    ['nodes', 'n1', 'status'],
    ['namespaces', 'default', 'scale', 'status'],
  ]
  for (let round = 0; round < 3000; round++) {
    const tail = Array.from({ length: random.below(3) }, () => random.pick(words))
    const segments = [...random.pick([['docs'], ['api', 'v1', ...random.pick(shapes)], ['api', 'v1']]), ...tail, 'x']
    if (random.chance(60)) segments.pop()
    const rawPath = `/${segments.map(word).join(random.pick(['/', '/', '/', '//', '%2F']))}`
    const method = random.pick(['POST', 'PUT', 'PATCH', 'DELETE'])
    const before = [seen.length, written.length, below.length] as const
    const port = send({ method, rawPath, contentLength: '2' })
    port.send('{}', true)
    await turn()
    const attributes = seen[before[0]]
    const info = written[before[1]]
    if (below.length > before[2]) t.equal(below.at(-1), attributes?.path, `${method} ${rawPath}`)
    if (info === undefined) continue
    const { verb, apiGroup, apiVersion, namespace, resource, name, subresource, path } = info
    const expected = { verb, apiGroup, apiVersion, namespace, resource, name, subresource, path }
    t.match(attributes, expected, `${method} ${rawPath}`)
  }
  t.ok(written.length > 200, `${written.length} were written`)
  t.ok(below.length > 200, `${below.length} were other paths`)
})
