/**
 * Users of few rights, who ask for everything in every spelling. What they get is success only where the table of their
 * rights says so; never what holds the canary; and nothing of theirs ever reaches the kubelet of the pods they may not enter.
 */
import type { Random } from '../../support/fuzz.js'
import { type Attack, type Attacker, type Lane, place, runLanes } from '../attack.js'
import { mayHave } from '../rights.js'
import { requestBytes, type WireAnswer, WireKeeper } from '../wire.js'
import { CANARY } from '../world.js'

const LANES = 6
const DEADLINE_MS = 20_000
/** A watch that was granted goes on: its head is all that is wanted. */
const WATCH_DEADLINE_MS = 1500
/** What an odd request leads to besides its answer is waited for as long. */
const ODD_DEADLINE_MS = 400

const USERS = ['watcher', 'editor', 'namer', 'nobody', 'anonymous']
const METHODS = [
  'GET',
  'GET',
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'get',
  'BREW',
]
const NAMESPACES = ['dev', 'vault', 'attack', 'kube-system', 'default', 'quiet', '']
const RESOURCES = [
  ...[
    'pods',
    'pods',
    'configmaps',
    'secrets',
    'nodes',
    'namespaces',
    'services',
    'serviceaccounts',
    'events',
    'bindings',
  ],
  ...['endpoints', 'persistentvolumes', 'componentstatuses', 'replicationcontrollers', 'podtemplates'],
]
const NAMES = ['dp', 'vp', 'p', 'c1', 'mine', 'other', 'trap', 'hostile', 'default', 'new', '']
const SUBRESOURCES = [
  ...['exec', 'attach', 'portforward', 'log', 'proxy', 'proxy/', 'proxy/run', 'status', 'binding', 'eviction', 'token'],
  ...['ephemeralcontainers', 'scale', 'finalize', 'resize', 'approval', '', '', '', '', ''],
]
const GROUPED = [
  'apps/v1/deployments',
  'rbac.authorization.k8s.io/v1/clusterroles',
  'rbac.authorization.k8s.io/v1/clusterrolebindings',
  'rbac.authorization.k8s.io/v1/rolebindings',
  'authorization.k8s.io/v1/subjectaccessreviews',
  'authorization.k8s.io/v1/selfsubjectaccessreviews',
  'authentication.k8s.io/v1/tokenreviews',
  'certificates.k8s.io/v1/certificatesigningrequests',
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  'apiextensions.k8s.io/v1/customresourcedefinitions',
  'apiregistration.k8s.io/v1/apiservices',
  'coordination.k8s.io/v1/leases',
  'batch/v1/jobs',
]
const OTHER_PATHS = [
  ...[
    '/',
    '/api',
    '/apis',
    '/metrics',
    '/metrics/slis',
    '/logs',
    '/debug/pprof',
    '/debug/pprof/profile',
    '/version',
    '/healthz',
  ],
  ...[
    '/livez',
    '/readyz',
    '/readyz/etcd',
    '/openapi/v2',
    '/openapi/v3',
    '/configz',
    '/statusz',
    '/flagz',
    '/ui',
    '/ui/',
    '/keelson',
  ],
  ...[
    '/.well-known/openid-configuration',
    '/openid/v1/jwks',
    '/api/v1',
    '/apis/apps/v1',
    '/debug/api_priority_and_fairness/dump_queues',
  ],
]
const QUERIES = [
  ...['', '', '', 'watch=1', 'watch=true', 'watch=0', 'limit=1', 'command=id', 'command=id&stdout=1', 'stdin=1&tty=1'],
  ...[
    'fieldSelector=metadata.name%3Dc1',
    'fieldSelector=metadata.name%3Dmine',
    'labelSelector=a',
    'dryRun=All',
    'follow=1',
  ],
  ...['resourceVersion=0', 'sendInitialEvents=true&watch=1', 'path=/run', 'namespace=dev', 'pretty=1', 'verb=get'],
  ...[
    '__proto__=1',
    'watch=1&watch=0',
    'timeoutSeconds=1',
    'gracePeriodSeconds=0',
    'propagationPolicy=Orphan',
    '?',
    '%',
  ],
]
/** A request with one of these is never for its sender, unless it names the sender. */
const IMPERSONATION = [
  'Impersonate-User: admin',
  'Impersonate-User: system:apiserver',
  'Impersonate-Group: system:masters',
  'Impersonate-Uid: 1',
  'Impersonate-Extra-scopes: all',
]
const HEADERS = [
  ...IMPERSONATION,
  'X-Remote-User: admin',
  'X-Remote-Group: system:masters',
  'X-Remote-User: admin\r\nX-Remote-Group: system:masters',
  'X-Forwarded-For: 127.0.0.1',
  `X-Forwarded-For: ${'1, '.repeat(3000)}`,
  'X-HTTP-Method-Override: GET',
  'X-Original-URL: /healthz',
  'X-Rewrite-URL: /healthz',
  '__proto__: admin',
  'constructor: admin',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a2tra2tra2tra2tra2traw==\r\nSec-WebSocket-Protocol: v5.channel.k8s.io',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a2tra2tra2tra2tra2traw==\r\nSec-WebSocket-Protocol: a, b\r\nSec-WebSocket-Protocol: c',
  'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io',
  'Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.YWRtaW4y, base64.binary.k8s.io',
  'Accept: application/json;as=Table;v=v1;g=meta.k8s.io',
  'Accept: application/vnd.kubernetes.protobuf',
  'Accept: text/html',
  'Accept-Encoding: gzip',
  'Cookie: token=admin2',
  'Authorization: Basic YWRtaW46YWRtaW4=',
  'Expect: 100-continue',
  'Range: bytes=0-0',
  'If-None-Match: *',
  `X-Long: ${'x'.repeat(7000)}`,
]
/** After these nobody knows where the next request begins: two hosts, two lengths, encodings that are none. */
const AMBIGUOUS = [
  'Host: other',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding : chunked',
  'Content-Length: 4',
  'Content-Length: 0\r\nContent-Length: 40',
  'Transfer-Encoding: chunked\r\nContent-Length: 3',
  ' folded: header',
  'no colon',
  'X-Nul: a\0b',
  'X-Bare: a\rb',
]
const SMUGGLED = `0\r\n\r\nGET /api/v1/namespaces/vault/secrets HTTP/1.1\r\nHost: x\r\n\r\n`
const PATCH_TYPES = ['merge-patch+json', 'json-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml']

interface Crafted {
  readonly user: string
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: string | undefined
  readonly isAmbiguous: boolean
}

/** What one of them may do something with. */
const NEAR = ['configmaps', 'configmaps/c1', 'configmaps/c2', 'secrets/mine', 'pods', 'pods/dp', 'pods/dp/status']

function resourcePath(random: Random): string {
  if (random.chance(15)) return `/api/v1/namespaces/dev/${random.pick(NEAR)}`
  const watch = random.chance(15) ? 'watch/' : ''
  if (random.chance(20)) {
    const [group, version, resource] = random.pick(GROUPED).split('/')
    const scope = random.chance(30) ? `namespaces/${random.pick(NAMESPACES)}/` : ''
    return `/apis/${group}/${version}/${watch}${scope}${resource}/${random.pick(NAMES)}`
  }
  const namespace = random.pick(NAMESPACES)
  const scope = namespace === '' ? '' : `namespaces/${namespace}/`
  return `/api/v1/${watch}${scope}${random.pick(RESOURCES)}/${random.pick(NAMES)}/${random.pick(SUBRESOURCES)}`
}

/** The same path in other words, or another that looks like it. */
const SPELLINGS: readonly ((path: string, random: Random) => string)[] = [
  (path) => path,
  (path) => path.replace(/\/+$/, ''),
  (path, random) => replaceAt(path, random, '/', '%2F'),
  (path, random) => replaceAt(path, random, '/', '%2f'),
  (path, random) => replaceAt(path, random, '/', '//'),
  (path, random) => replaceAt(path, random, '/', '/./'),
  (path, random) => replaceAt(path, random, '/', '/x/../'),
  (path, random) => replaceAt(path, random, '/', '/%2e%2e/'),
  (path, random) => replaceAt(path, random, '/', '\\'),
  (path, random) => replaceAt(path, random, '/', ';/'),
  (path, random) => replaceAt(path, random, '/', '%00/'),
  (path, random) => replaceAt(path, random, '/', '/%EF%BC%8F'),
  (path, random) => replaceAt(path, random, '/', '/healthz/../'),
  (path) => path.replace('watch/', 'watch%2F'),
  (path) => path.replace('dev', 'dev%2F..%2Fvault'),
  (path) => path.replace('namespaces/', 'namespaces//'),
  (path) => path.replace('pods', 'p%6Fds'),
  (path) => path.replace('pods', 'Pods'),
  (path) => path.replace('/api/', '/API/'),
  (path) => `/api/v1/namespaces/dev/pods/../../..${path}`,
  (path) => `/healthz/..${path}`,
  (path) => `http://127.0.0.1${path}`,
  (path) => path.slice(1),
  (path) => `${path}#/healthz`,
  (path) => `${path}%3Fwatch=1`,
  (path) => `${path}/${'a/'.repeat(500)}`,
  (path) => `${path}/${'%41'.repeat(1500)}`,
  (path) => `${path}\u00e9`,
  (path) => `${path}%ff%fe`,
  (path) => `${path}%`,
  (path) => `${path}%zz`,
  (path) => path.replace(/dp|vp|c1/, '__proto__'),
]

function replaceAt(path: string, random: Random, what: string, by: string): string {
  const places = [...path].flatMap((letter, i) => (letter === what ? [i] : []))
  if (places.length === 0) return path
  const at = random.pick(places)
  return `${path.slice(0, at)}${by}${path.slice(at + 1)}`
}

function craft(random: Random): Crafted {
  const user = random.pick(USERS)
  const method = random.pick(METHODS)
  const plain = random.chance(20) ? random.pick(OTHER_PATHS) : resourcePath(random)
  const path = random.chance(50) ? plain.replace(/(.)\/+$/, '$1') : random.pick(SPELLINGS)(plain, random)
  const query = random.pick(QUERIES)
  const target = query === '' ? path : `${path}?${query}`
  const headers = Array.from({ length: random.below(3) }, () => random.pick(HEADERS))
  const isAmbiguous = random.chance(8)
  if (isAmbiguous) headers.push(random.pick(AMBIGUOUS))
  const takesBody = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)
  if (takesBody) headers.push(`Content-Type: application/${method === 'PATCH' ? random.pick(PATCH_TYPES) : 'json'}`)
  const body = takesBody ? craftBody(random, path) : undefined
  return { user, method, target, headers, body: isAmbiguous && random.chance(50) ? SMUGGLED : body, isAmbiguous }
}

/** Something that is taken where the right is there: names are few, so that what editors make stays little. */
function craftBody(random: Random, path: string): string {
  const name = random.pick(['c1', 'c2', 'c3', 'other'])
  const kind = path.includes('configmaps')
    ? 'ConfigMap'
    : random.pick(['Pod', 'Secret', 'ConfigMap', 'DeleteOptions', 'Binding'])
  return JSON.stringify({ apiVersion: 'v1', kind, metadata: { name }, data: { seen: String(random.below(9)) } })
}

async function strike(attack: Attack, lane: Lane, keeper: WireKeeper): Promise<void> {
  const crafted = craft(lane.random)
  const { user, method, target, headers, body, isAmbiguous } = crafted
  const bytes = requestBytes({ method, target, headers, body, token: user === 'anonymous' ? undefined : user })
  // What HTTP has no word for in a target, what switches protocols, and what goes on by itself end the connection.
  const isOdd =
    isAmbiguous || /[\s#\\]|^[^/]/.test(target) || ['HEAD', 'CONNECT', 'BREW', 'get', 'TRACE'].includes(method)
  const mayGoOn = /watch|follow|Upgrade|Expect/.test(`${target} ${headers.join(' ')}`)
  const waits = isAmbiguous || method === 'HEAD' ? ODD_DEADLINE_MS : WATCH_DEADLINE_MS
  const deadlineMs = mayGoOn || isOdd ? waits : DEADLINE_MS
  const answer = await keeper.ask(bytes, { deadlineMs, rest: isAmbiguous }, isOdd || mayGoOn)
  attack.log.count(`few-rights ${answer.status}`)
  judge(attack, lane, crafted, answer)
  if (!isOdd && !mayGoOn && answer.ended === 'timeout' && !attack.signal.aborted)
    attack.log.wrong(place(attack, lane), `no answer within ${DEADLINE_MS} ms to ${bytes.toString('latin1')}`)
}

function judge(attack: Attack, lane: Lane, { user, method, target, headers }: Crafted, answer: WireAnswer): void {
  const said = `${answer.head}\r\n\r\n${answer.body.toString('latin1')}`
  const wrong = (what: string): void =>
    attack.log.wrong(place(attack, lane), `${what}: ${user} ${method} ${target} [${headers.join('|')}] got ${said}`)
  const isImpersonated = headers.some((header) => IMPERSONATION.includes(header))
  for (const [, status = ''] of said.matchAll(/(?:^|\r\n\r\n|\})HTTP\/1\.1 (\d{3}) /g)) {
    if (status.startsWith('5') && !['501', '503', '505'].includes(status)) wrong(`an answer of ${status}`)
    if (!status.startsWith('2') && status !== '101') continue
    if (status === '101' && !(method === 'GET' && WATCH.test(target))) wrong('a change of protocols')
    else if (!mayHave(user, method, target)) wrong('success beyond its rights')
    else if (isImpersonated && !isOpenPath(target)) wrong('success as somebody else')
  }
  if (said.includes(CANARY)) wrong('the canary')
}

/** A watch may be asked for over a WebSocket; nothing else that they may do can. */
const WATCH = /[?&]watch=(?:1|true)(?:&|$)|^\/+api(?:s\/+[^/]+)?\/+v1\/+watch\//

/** Pages for everybody are given out before anybody is asked who they are. */
const isOpenPath = (target: string): boolean => /^\/(?:ui|favicon|$|\?|#)/.test(target)

export const fewRights: Attacker = {
  name: 'few-rights',
  run: async (attack) => {
    const keepers = new Map<Lane, WireKeeper>()
    await runLanes(attack, 'few-rights', LANES, (lane) => {
      const keeper = keepers.get(lane) ?? new WireKeeper(attack.server, attack.signal)
      keepers.set(lane, keeper)
      return strike(attack, lane, keeper)
    })
  },
}
