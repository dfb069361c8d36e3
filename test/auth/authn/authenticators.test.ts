import { generateKeyPairSync } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { JsonObject } from '#keelson/api/object.js'
import { ClientAuthorities } from '#keelson/auth/authn/client-authorities.js'
import { ClientCertificates } from '#keelson/auth/authn/client-certificates.js'
import { FrontProxy } from '#keelson/auth/authn/front-proxy.js'
import { jwkOf, signJwt, verificationKey } from '#keelson/auth/authn/jwt.js'
import { JwtIssuers } from '#keelson/auth/authn/jwt-issuers.js'
import { OidcKeys } from '#keelson/auth/authn/oidc-keys.js'
import { ANONYMOUS_USER, BearerToken, RequestAuthenticator } from '#keelson/auth/authn/request-authenticator.js'
import { signingKey } from '#keelson/auth/authn/service-account-tokens.js'
import { StaticTokens } from '#keelson/auth/authn/static-tokens.js'
import { RememberedTokens, TokenUnion } from '#keelson/auth/authn/token-authenticator.js'
import { WebhookTokens } from '#keelson/auth/authn/webhook-tokens.js'
import { InvalidCredentials } from '#keelson/auth/interface.js'
import { WebhookError } from '#keelson/auth/webhook-client.js'
import { credentials, TestAuthority } from '../../support/credentials.js'
import { FakeClock } from '../../support/fake-clock.js'

const clock = new FakeClock()
const clients = new TestAuthority(clock.now())
const proxies = new TestAuthority(clock.now())

t.test('certificates: names in order, whatever they contain', async (t) => {
  const certificates = new ClientCertificates(new ClientAuthorities(clients.pem), clock)
  const user = (certificate: string) => certificates.authenticate(credentials([], certificate))?.user
  const tricky = clients.client('a,CN=admin\nO=system:masters', ['ops+O=system:masters', 'größe'])
  t.match(user(tricky), { name: 'a,CN=admin\nO=system:masters', groups: ['ops+O=system:masters', 'größe'] })
  t.match(user(clients.client('a'))?.extra, {
    'authentication.kubernetes.io/credential-id': [/^X509SHA256=[0-9a-f]{64}$/],
  })
  t.equal(user(''), undefined)
  t.throws(() => user(proxies.client('a')), InvalidCredentials, 'another authority of the same name')
  t.throws(() => user(clients.client('a', [], 'server')), InvalidCredentials)
  t.throws(() => user('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'), InvalidCredentials)
  certificates.replaceAuthorities(new ClientAuthorities(proxies.pem))
  t.throws(() => user(tricky), InvalidCredentials, 'what was remembered under other authorities is forgotten')
})

t.test('a certificate that ends is refused soon after', async (t) => {
  const time = new FakeClock()
  const certificates = new ClientCertificates(new ClientAuthorities(clients.pem), time)
  const shown = credentials([], clients.client('a'))
  t.ok(certificates.authenticate(shown))
  await time.advance(3600_000 + 1)
  t.throws(() => certificates.authenticate(shown), InvalidCredentials)
})

t.test('front proxies: only theirs are believed', async (t) => {
  const headers = {
    allowedNames: ['proxy'],
    username: ['X-Remote-User'],
    uid: ['X-Remote-Uid'],
    group: ['X-Remote-Group'],
    extraPrefixes: ['X-Remote-Extra-'],
  }
  const proxy = new FrontProxy(new ClientAuthorities(proxies.pem), headers, clock)
  const sent = [
    ['x-remote-user', 'jane'],
    ['x-remote-group', 'a,b'],
    ['x-remote-group', 'c'],
    ['x-remote-uid', 'u'],
    ['x-remote-extra-acme.io%2fteam', 'x'],
    ['x-remote-extra-__proto__', 'y'],
  ] as const
  const user = proxy.authenticate(credentials(sent, proxies.client('proxy')))?.user
  t.match(user, { name: 'jane', uid: 'u', groups: ['a,b', 'c'], extra: { 'acme.io/team': ['x'] } })
  t.strictSame(Object.keys(user!.extra).sort(), ['__proto__', 'acme.io/team'])
  t.equal(proxy.authenticate(credentials(sent)), undefined, 'without a certificate the headers mean nothing')
  t.equal(proxy.authenticate(credentials([], proxies.client('proxy'))), undefined)
  t.throws(() => proxy.authenticate(credentials(sent, clients.client('proxy'))), InvalidCredentials)
  t.throws(() => proxy.authenticate(credentials(sent, proxies.client('other'))), InvalidCredentials)
})

t.test('wrong credentials beside right ones do no harm; wrong ones alone are nobody', async (t) => {
  const tokens = new BearerToken(StaticTokens.parse('good,alice,1,"dev"'))
  const certificates = new ClientCertificates(new ClientAuthorities(clients.pem), clock)
  const nobody = { user: ANONYMOUS_USER }
  const all = new RequestAuthenticator({ members: [certificates, tokens], nobody })
  const who = async (headers: [string, string][], certificate = '') =>
    (await all.authenticate(credentials(headers, certificate)))?.user
  const good: [string, string][] = [['authorization', 'bearer good']]
  t.match(await who(good), { name: 'alice', groups: ['dev', 'system:authenticated'] })
  t.match(await who(good, proxies.client('x')), { name: 'alice' })
  t.match(await who([['authorization', 'Bearer bad']], clients.client('carol')), { name: 'carol' })
  t.equal((await who([]))?.name, 'system:anonymous')
  t.equal((await who([['authorization', 'Basic xyz']]))?.name, 'system:anonymous')
  t.throws(() => all.authenticate(credentials([['authorization', 'Bearer bad']])), InvalidCredentials)
  t.throws(() => all.authenticate(credentials([], proxies.client('x'))), InvalidCredentials)
  const socket: [string, string][] = [
    ['upgrade', 'websocket'],
    ['sec-websocket-protocol', 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.Z29vZA'],
  ]
  t.match(await who(socket), { name: 'alice' })
})

t.test('a verified token is remembered for ten seconds, a refused one is not', async (t) => {
  const time = new FakeClock()
  let asked = 0
  let good = true
  const tokens = new RememberedTokens(
    new TokenUnion([
      {
        authenticateToken: (token) => {
          asked++
          if (token === 'bad') throw new InvalidCredentials('bad')
          return { user: ANONYMOUS_USER, stillGood: () => good }
        },
      },
    ]),
    time,
  )
  for (let i = 0; i < 3; i++) await tokens.authenticateToken('a', [])
  t.equal(asked, 1)
  await tokens.authenticateToken('a', ['other audience'])
  t.equal(asked, 2)
  good = false
  await tokens.authenticateToken('a', [])
  t.equal(asked, 3, 'what hangs on something that has gone is verified anew')
  good = true
  await time.advance(10_001)
  await tokens.authenticateToken('a', [])
  t.equal(asked, 4)
  for (let i = 0; i < 2; i++) t.throws(() => tokens.authenticateToken('bad', []), InvalidCredentials)
  t.equal(asked, 6)
})

t.test('OpenID Connect', async (t) => {
  const time = new FakeClock()
  const issuer = 'https://issuer.example'
  const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const [own, other] = [pair(), pair()].map((key) => signingKey(key.export({ type: 'pkcs8', format: 'pem' }) as string))
  const fetched: string[] = []
  const fetchJson = async (url: string): Promise<JsonObject> => {
    fetched.push(url)
    return url.endsWith('/keys')
      ? { keys: [jwkOf(verificationKey(own!.key)), { kty: 'oct', k: 'AAAA' }, { kty: 'RSA' }] }
      : { issuer, jwks_uri: `${issuer}/keys` }
  }
  const config = {
    issuer: { url: issuer, discoveryUrl: '', ca: '', audiences: ['kubernetes'] },
    signingAlgs: ['RS256'],
    claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com' }],
    username: { claim: 'email', prefix: '' },
    groups: { claim: 'groups', prefix: 'oidc:' },
    uid: undefined,
    extra: [],
    userValidationRules: [],
  }
  const tokens = new JwtIssuers([config], { clock: time, fetchJson: () => fetchJson })
  const now = time.now() / 1000
  const claims = { iss: issuer, aud: 'kubernetes', exp: now + 600, email: 'jane@example.com', hd: 'example.com' }
  const judge = async (changed: JsonObject, key = own!) =>
    (await tokens.authenticateToken(signJwt({ ...claims, ...changed }, key)))?.user
  t.match(await judge({ groups: ['a', 'b'] }), { name: 'jane@example.com', groups: ['oidc:a', 'oidc:b'] })
  t.match(await judge({ aud: ['x', 'kubernetes'], groups: 'one' }), { groups: ['oidc:one'] })
  t.strictSame(fetched, [`${issuer}/.well-known/openid-configuration`, `${issuer}/keys`])
  t.equal(await judge({ iss: 'https://other.example' }), undefined, 'another issuer’s is not ours to judge')
  for (const [what, changed] of Object.entries({
    expired: { exp: now - 1 },
    endless: { exp: undefined },
    future: { nbf: now + 600 },
    'another client’s': { aud: 'other' },
    'without what is required': { hd: 'elsewhere.example' },
    'of an address that nobody verified': { email_verified: false },
    'of nobody': { email: '' },
    'with groups that are no text': { groups: [1] },
  }))
    await t.rejects(judge(changed), InvalidCredentials, what)
  await t.rejects(judge({}, other), InvalidCredentials, 'of another key')
  await t.rejects(judge({}, { ...own!, algorithm: 'RS512' }), InvalidCredentials, 'of an algorithm that is not allowed')
  t.equal(fetched.length, 2, 'an unknown key is not asked for at once again')
  await time.advance(10_000)
  await t.rejects(judge({}, other), InvalidCredentials)
  t.equal(fetched.length, 4)
})

t.test('OpenID Connect: an issuer that calls itself something else, or does not answer, is nobody’s', async (t) => {
  for (const document of [
    { issuer: 'https://other.example', jwks_uri: 'https://x/keys' },
    {},
    { issuer: 'https://i.example' },
  ]) {
    const keys = new OidcKeys({ issuer: 'https://i.example', clock: new FakeClock(), fetchJson: async () => document })
    await t.rejects(keys.load())
    await t.rejects(keys.load(), 'and not asked again at once')
  }
})

t.test('webhook tokens', async (t) => {
  const time = new FakeClock()
  const asked: JsonObject[] = []
  let answer: () => JsonObject = () => ({})
  const tokens = new WebhookTokens({
    client: {
      review: async (object) => {
        asked.push(object)
        return answer()
      },
    },
    version: 'v1',
    apiAudiences: ['api'],
    ttlMs: 120_000,
    clock: time,
  })
  const judge = async (token: string, audiences: string[] = []) => await tokens.authenticateToken(token, audiences)
  answer = () => ({
    status: { authenticated: true, user: { username: 'jane', uid: '7', groups: ['a'], extra: { k: ['v'] } } },
  })
  const both = await Promise.all([judge('good'), judge('good')])
  t.match(both[0], { user: { name: 'jane', uid: '7', groups: ['a'], extra: { k: ['v'] } }, audiences: ['api'] })
  t.equal(both[1]?.user.name, 'jane')
  await judge('good')
  t.equal(asked.length, 1, 'asked once, remembered')
  t.match(asked[0], { apiVersion: 'authentication.k8s.io/v1', spec: { token: 'good', audiences: ['api'] } })
  await time.advance(120_001)
  await judge('good')
  t.equal(asked.length, 2)
  answer = () => ({ status: { authenticated: true, audiences: ['other'], user: { username: 'jane' } } })
  t.equal(await judge('for others'), undefined)
  answer = () => ({ status: { authenticated: 'yes', user: { username: 'root' } } })
  t.equal(await judge('sloppy'), undefined)
  answer = () => ({ status: { authenticated: false, error: 'no' } })
  await t.rejects(judge('refused'), new InvalidCredentials('no'))
  answer = () => {
    throw new WebhookError('down', true)
  }
  const before = asked.length
  await t.rejects(judge('unlucky'), new InvalidCredentials('down'))
  await t.rejects(judge('unlucky'), InvalidCredentials)
  t.equal(asked.length, before + 2, 'that nobody answered is not remembered')
})

t.test('what a webhook refused is remembered, not kept', async (t) => {
  const tokens = new WebhookTokens({
    client: { review: async () => ({ status: { authenticated: false } }) },
    version: 'v1',
    apiAudiences: ['api'],
    ttlMs: 120_000,
    clock: new FakeClock(),
  })
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heapBytes = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = heapBytes()
  for (let i = 0; i < 1000; i++) await tokens.authenticateToken(String(i).repeat(60_000 / String(i).length), [])
  const kept = heapBytes() - before
  t.ok(kept < 10_000_000, `${kept} bytes of 60 MB`)
})
