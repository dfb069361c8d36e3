import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { JsonObject } from '#keelson/api/object.js'
import { parseJwt, signJwt } from '#keelson/auth/authn/jwt.js'
import { signingKey } from '#keelson/auth/authn/service-account-tokens.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const folder = temporaryFolder(t, 'tokens')
const tokenFile = path.join(folder, 'tokens.csv')
writeFileSync(tokenFile, 'admin,admin,admin-uid,"system:masters"\nalice,alice,alice-uid,"dev"\n')
const server = await KeelsonProcess.start([
  '--token-auth-file',
  tokenFile,
  '--enable-bootstrap-token-auth',
  '--disable-admission-plugins=ServiceAccount',
])
t.teardown(() => server.close())

const as = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
const admin = as('admin')
const SERVICE_ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const SELF = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'

interface UserInfo {
  username: string
  uid: string
  groups: string[]
  extra?: Record<string, string[]>
}

async function whoami(headers: Record<string, string>): Promise<{ status: number; user: UserInfo | undefined }> {
  const { status, json } = await server.request('POST', WHOAMI, SELF, headers)
  return { status, user: (json as { status?: { userInfo?: UserInfo } }).status?.userInfo }
}

async function create(pathname: string, object: object): Promise<{ metadata: { name: string; uid: string } }> {
  const { status, json, text } = await server.request('POST', pathname, object, admin)
  if (status !== 201) throw new Error(`${pathname}: ${status} ${text}`)
  return json as { metadata: { name: string; uid: string } }
}

const account = (name: string) =>
  create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })

async function tokenOf(name: string, spec: object = {}): Promise<string> {
  const object = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  const { status, json, text } = await server.request('POST', `${SERVICE_ACCOUNTS}/${name}/token`, object, admin)
  if (status !== 201) throw new Error(`token: ${status} ${text}`)
  return (json as { status: { token: string } }).status.token
}

const pod = (name: string, serviceAccountName: string) =>
  create('/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { serviceAccountName, containers: [{ name: 'a', image: 'a' }] },
  })

const remove = (pathname: string) =>
  server.request('DELETE', pathname, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 }, admin)

await account('app')
const { uid: podUid } = (await pod('bound', 'app')).metadata

t.test('a token of TokenRequest is its account, and says which pod it is of', async (t) => {
  const { status, user } = await whoami(as(await tokenOf('app')))
  t.equal(status, 201)
  t.match(user, {
    username: 'system:serviceaccount:default:app',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [/^JTI=/] },
  })
  const bound = await tokenOf('app', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'bound' } })
  t.match((await whoami(as(bound))).user?.extra, {
    'authentication.kubernetes.io/pod-name': ['bound'],
    'authentication.kubernetes.io/pod-uid': [podUid],
  })
})

t.test('the token of what has gone has gone with it, also when another of the name comes', async (t) => {
  await account('gone')
  const ofAccount = await tokenOf('gone')
  t.equal((await whoami(as(ofAccount))).status, 201)
  await remove(`${SERVICE_ACCOUNTS}/gone`)
  t.equal((await whoami(as(ofAccount))).status, 401)
  await account('gone')
  t.equal((await whoami(as(ofAccount))).status, 401)

  await pod('going', 'app')
  const ofPod = await tokenOf('app', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'going' } })
  t.equal((await whoami(as(ofPod))).status, 201)
  await remove('/api/v1/namespaces/default/pods/going')
  t.equal((await whoami(as(ofPod))).status, 401)
  await pod('going', 'app')
  t.equal((await whoami(as(ofPod))).status, 401)
})

t.test('no forged token is anybody', async (t) => {
  const real = await tokenOf('app')
  const { claims } = parseJwt(real)!
  const own = signingKey(readFileSync(path.join(server.certDir, 'sa.key'), 'utf8'))
  const foreignKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const foreign = signingKey(foreignKey.export({ type: 'pkcs8', format: 'pem' }) as string)
  const now = Math.floor(Date.now() / 1000)
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [head = '', payload = '', signature = ''] = real.split('.')
  const stolen = { ...claims, sub: 'system:serviceaccount:kube-system:root' }
  const signed = (changed: JsonObject): string => signJwt({ ...claims, ...changed }, own)
  t.equal((await whoami(as(signed({})))).status, 201, 'what the right key signs is good')
  for (const [what, token] of Object.entries({
    expired: signed({ exp: now - 120, iat: now - 720, nbf: now - 720 }),
    'without an end': signed({ exp: undefined }),
    'of the future': signed({ nbf: now + 600 }),
    'issued in the future': signed({ iat: now + 600 }),
    'of another audience': await tokenOf('app', { audiences: ['vault'] }),
    'of another issuer': signed({ iss: 'https://elsewhere.example' }),
    'by another key': signJwt(claims, foreign),
    'by another key under the right name': signJwt(claims, { ...foreign, id: own.id }),
    'with changed claims': `${head}.${encode(stolen)}.${signature}`,
    'with alg none': `${encode({ alg: 'none' })}.${payload}.`,
    'with alg none and a signature': `${encode({ alg: 'none' })}.${payload}.${signature}`,
    'with the public key as a secret': `${encode({ alg: 'HS256', kid: own.id })}.${payload}.${signature}`,
    'with another algorithm': `${encode({ alg: 'RS256', kid: own.id })}.${payload}.${signature}`,
    'with something critical': `${encode({ alg: 'ES256', kid: own.id, crit: ['x'] })}.${payload}.${signature}`,
    'without a signature': `${head}.${payload}.`,
    'for an account with another uid': signed({
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'app', uid: 'other' } },
    }),
    'for a name that reaches elsewhere': signed({
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: '../secrets/app', uid: 'other' } },
    }),
  }))
    t.equal((await whoami(as(token))).status, 401, what)
})

t.test('TokenReview says whose a token is, for the audience that asks', async (t) => {
  const review = async (spec: object): Promise<object> => {
    const object = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
    return (await server.request('POST', TOKEN_REVIEWS, object, admin)).json as object
  }
  t.match(await review({ token: 'alice' }), {
    status: {
      authenticated: true,
      user: { username: 'alice', uid: 'alice-uid', groups: ['dev', 'system:authenticated'] },
    },
  })
  const token = await tokenOf('app', { audiences: ['vault'] })
  t.match(await review({ token, audiences: ['vault', 'other'] }), {
    status: { authenticated: true, audiences: ['vault'], user: { username: 'system:serviceaccount:default:app' } },
  })
  const refused = (await review({ token })) as { status: { authenticated?: boolean; error: string } }
  t.not(refused.status.authenticated, true)
  t.match(refused.status.error, /^token audiences \["vault"\] is invalid for the target audiences/)
  t.match(await review({ token: 'nope' }), { status: { error: 'invalid bearer token', user: {} } })
  const none = await server.request('POST', TOKEN_REVIEWS, { ...SELF, kind: 'TokenReview', spec: {} }, admin)
  t.equal(none.status, 400)
})

t.test('bootstrap tokens are good as their secret says', async (t) => {
  const secrets = '/api/v1/namespaces/kube-system/secrets'
  const make = (id: string, changed: Record<string, string> = {}, type = 'bootstrap.kubernetes.io/token') =>
    create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `bootstrap-token-${id}` },
      type,
      stringData: {
        'token-id': id,
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': 'system:bootstrappers:workers',
        ...changed,
      },
    })
  await make('aaaaaa')
  const good = as('aaaaaa.0123456789abcdef')
  t.match((await whoami(good)).user, {
    username: 'system:bootstrap:aaaaaa',
    groups: ['system:bootstrappers', 'system:bootstrappers:workers', 'system:authenticated'],
  })
  await make('bbbbbb', { expiration: '2020-01-01T00:00:00Z' })
  await make('cccccc', { 'usage-bootstrap-authentication': 'false' })
  await make('dddddd', { 'auth-extra-groups': 'system:masters' })
  await make('eeeeee', {}, 'Opaque')
  const notTimes = ['3000', '2999-01-01', '2999-01-01T00:00:00', 'Jan 1 2999']
  for (const [i, expiration] of notTimes.entries()) await make(`gggg0${i}`, { expiration })
  for (const token of ['bbbbbb', 'cccccc', 'dddddd', 'eeeeee', 'ffffff', ...notTimes.map((_, i) => `gggg0${i}`)].map(
    (id) => `${id}.0123456789abcdef`,
  ))
    t.equal((await whoami(as(token))).status, 401, token)
  t.equal((await whoami(as('aaaaaa.fedcba9876543210'))).status, 401)
  await remove(`${secrets}/bootstrap-token-aaaaaa`)
  t.equal((await whoami(good)).status, 401)
})

t.test('impersonation: who may, becomes; who may not, learns no more than that', async (t) => {
  const groups = { ...admin, 'impersonate-user': 'bob', 'impersonate-group': 'dev, ops' }
  t.match((await whoami(groups)).user, { username: 'bob', groups: ['dev, ops', 'system:authenticated'] })
  const extra = { ...admin, 'impersonate-user': 'bob', 'impersonate-uid': 'u', 'impersonate-extra-a%2fb': 'c' }
  t.match((await whoami(extra)).user, { username: 'bob', uid: 'u', extra: { 'a/b': ['c'] } })
  const robot = { ...admin, 'impersonate-user': 'system:serviceaccount:default:app' }
  t.match((await whoami(robot)).user?.groups, ['system:serviceaccounts', 'system:serviceaccounts:default'])
  const nobody = { ...admin, 'impersonate-user': 'system:anonymous' }
  t.equal((await whoami(nobody)).status, 403, 'only who is authenticated may ask who they are')
  const configmaps = '/api/v1/namespaces/default/configmaps'
  const answer = await server.request('GET', configmaps, undefined, { ...as('alice'), 'impersonate-user': 'admin' })
  t.equal(answer.status, 403)
  t.match(answer.json, {
    message:
      'configmaps is forbidden: User "alice" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "default"',
  })
  for (const header of ['impersonate-group', 'impersonate-uid', 'impersonate-extra-x'])
    t.equal((await server.request('GET', configmaps, undefined, { ...admin, [header]: 'x' })).status, 400, header)
  const written = await server.request(
    'POST',
    configmaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'by-bob' } },
    { ...admin, 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' },
  )
  t.equal(written.status, 201, 'a body survives the wait')
})

t.test('others find what they need to verify tokens', async (t) => {
  const document = await server.request('GET', '/.well-known/openid-configuration', undefined, admin)
  t.match(document.json, { issuer: 'https://kubernetes.default.svc', id_token_signing_alg_values_supported: ['ES256'] })
  const keys = await server.request('GET', '/openid/v1/jwks', undefined, { ...admin, accept: '*/*' })
  t.equal(keys.headers.get('content-type'), 'application/jwk-set+json')
  t.equal(keys.headers.get('cache-control'), 'public, max-age=3600')
  t.match(keys.json, { keys: [{ use: 'sig', kty: 'EC', alg: 'ES256', kid: parseJwt(await tokenOf('app'))!.keyId }] })
  const json = await server.request('GET', '/openid/v1/jwks', undefined, { ...admin, accept: 'application/json' })
  t.equal(json.status, 406)
})
