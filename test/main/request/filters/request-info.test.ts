import t from 'tap'
import type { RequestInfo } from '#keelson/api/request-info.js'
import type { Attributes } from '#keelson/auth/interface.js'
import { NonResourcePaths } from '#keelson/main/paths/non-resource-paths.js'
import type { FrontEndOptions } from '#keelson/main/request/front-end.js'
import { ServedResource } from '#keelson/main/verbs/served-resource.js'
import { Random } from '../../../support/fuzz.js'
import { deciding, frontEnd, POD_RESOURCE, STREAMS, turn } from '../front-end-fixture.js'

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
      isCustom: false,
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
