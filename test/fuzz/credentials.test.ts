import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { StatusError } from '#keelson/api/status.js'
import { DerError } from '#keelson/api/x509/der-reader.js'
import { ClientAuthorities } from '#keelson/auth/authn/client-authorities.js'
import { ClientCertificates } from '#keelson/auth/authn/client-certificates.js'
import { certificateSubject } from '#keelson/auth/authn/der-subject.js'
import { FrontProxy } from '#keelson/auth/authn/front-proxy.js'
import { wantedUser } from '#keelson/auth/authn/impersonation.js'
import { verificationKey } from '#keelson/auth/authn/jwt.js'
import { BearerToken } from '#keelson/auth/authn/request-authenticator.js'
import { ServiceAccountAuthenticator } from '#keelson/auth/authn/service-account-authenticator.js'
import { ServiceAccountTokenIssuer, signingKey } from '#keelson/auth/authn/service-account-tokens.js'
import { InvalidCredentials } from '#keelson/auth/interface.js'
import { credentials, TestAuthority } from '../support/credentials.js'
import { FakeClock } from '../support/fake-clock.js'
import { fuzzRounds, fuzzSeed, Random } from '../support/fuzz.js'

const random = new Random(fuzzSeed())
const clock = new FakeClock()
const ISSUER = 'https://kubernetes.default.svc'

/** A few bytes changed, dropped, doubled or put in. */
function damaged(bytes: Buffer): Buffer {
  let result = Buffer.from(bytes)
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(result.byteLength + 1)
    const byte = Buffer.of(random.below(256))
    const cut = random.below(3)
    result = Buffer.concat([result.subarray(0, at), ...(random.chance(70) ? [byte] : []), result.subarray(at + cut)])
  }
  return result
}

/** Credentials are refused or unknown; anything else that is thrown is a defect. */
async function judged<T>(judge: () => T | Promise<T>): Promise<Awaited<T> | undefined> {
  try {
    return await judge()
  } catch (error) {
    if (error instanceof InvalidCredentials || (error instanceof StatusError && error.code === 400)) return undefined
    throw error
  }
}

t.test('no damaged token is anybody, and none breaks anything', async (t) => {
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const issuer = new ServiceAccountTokenIssuer({
    issuers: [ISSUER],
    jwksUri: '',
    apiAudiences: [ISSUER],
    signingKey: pem as string,
    publicKeys: [],
    maxExpirationSeconds: 0,
    extendExpiration: false,
    lookup: true,
  })
  const found = { uid: 'u', deletedMs: undefined, read: () => ({}) }
  const bearer = new BearerToken(
    new ServiceAccountAuthenticator({
      issuers: [ISSUER],
      apiAudiences: [ISSUER],
      keys: [verificationKey(signingKey(pem as string).key)],
      lookup: true,
      objects: { find: () => found, ask: async () => found },
      clock,
    }),
  )
  const serviceAccount = { namespace: 'default', name: 'a', uid: 'u' }
  const { token } = issuer.issueToken({ serviceAccount, audiences: [], expirationSeconds: 600 }, clock.now())
  const show = (text: string) => judged(() => bearer.authenticate(credentials([['authorization', `Bearer ${text}`]])))
  t.equal((await show(token))?.user.name, 'system:serviceaccount:default:a')
  const parts = token.split('.')
  const rounds = fuzzRounds(3000)
  let accepted = 0
  for (let i = 0; i < rounds; i++) {
    const part = random.below(3)
    const changed = random.chance(50)
      ? damaged(Buffer.from(token)).toString('latin1')
      : parts
          .map((text, n) => (n === part ? damaged(Buffer.from(text, 'base64url')).toString('base64url') : text))
          .join('.')
    // The last character of a part holds bits that do not count, and what follows a space is no part of the token.
    const same = (one: string): string =>
      one
        .split(' ')[0]!
        .split('.')
        .map((x) => Buffer.from(x, 'base64url').toString('hex'))
        .join()
    if ((await show(changed)) !== undefined && same(changed) !== same(token)) accepted++
  }
  t.equal(accepted, 0, `${rounds} tokens`)
})

t.test('no damaged certificate is anybody, and none breaks anything', async (t) => {
  const authority = new TestAuthority(clock.now())
  const good = authority.client('admin', ['system:masters'])
  const certificates = new ClientCertificates(new ClientAuthorities(authority.pem), clock)
  const proxy = new FrontProxy(
    new ClientAuthorities(authority.pem),
    { allowedNames: [], username: ['x-user'], uid: [], group: [], extraPrefixes: [] },
    clock,
  )
  t.equal(certificates.authenticate(credentials([], good))?.user.name, 'admin')
  const der = Buffer.from(good.replace(/-----[A-Z ]+-----/g, ''), 'base64')
  const rounds = fuzzRounds(3000)
  let accepted = 0
  for (let i = 0; i < rounds; i++) {
    const changed = damaged(der)
    if (changed.equals(der)) continue
    const pem = `-----BEGIN CERTIFICATE-----\n${changed.toString('base64')}\n-----END CERTIFICATE-----\n`
    const shown = credentials([['x-user', 'root']], pem)
    // Bytes after the end of a certificate are not read.
    const trailing = changed.subarray(0, der.byteLength).equals(der)
    if ((await judged(() => certificates.authenticate(shown))) !== undefined && !trailing) accepted++
    if ((await judged(() => proxy.authenticate(shown))) !== undefined && !trailing) accepted++
    try {
      certificateSubject(changed)
    } catch (error) {
      if (!(error instanceof DerError)) throw error
    }
  }
  t.equal(accepted, 0, `${rounds} certificates`)
})

t.test('headers of any kind are understood, refused or nothing', async (t) => {
  const names = [
    'authorization',
    'impersonate-user',
    'impersonate-uid',
    'impersonate-group',
    'impersonate-extra-',
    'upgrade',
  ]
  const words = [
    'Bearer ',
    'bearer',
    ' ',
    ',',
    '%2f',
    '%',
    '%zz',
    'system:masters',
    '\u0000',
    'ü',
    'websocket',
    '__proto__',
    'a.b.c',
  ]
  const text = (): string => Array.from({ length: random.below(5) }, () => random.pick(words)).join('')
  const bearer = new BearerToken({ authenticateToken: () => undefined })
  const rounds = fuzzRounds(20_000)
  for (let i = 0; i < rounds; i++) {
    const headers = Array.from({ length: random.below(5) }, (): [string, string] => {
      const name = random.pick(names)
      return [name.endsWith('-') ? name + text().toLowerCase() : name, text()]
    })
    const shown = credentials([
      ...headers,
      ['sec-websocket-protocol', `base64url.bearer.authorization.k8s.io.${text()}`],
    ])
    const wanted = await judged(() => wantedUser(shown))
    const named = headers.find(([name]) => name === 'impersonate-user')?.[1] ?? ''
    if ((wanted?.name ?? '') !== named) t.fail(JSON.stringify(headers))
    if ((await judged(() => bearer.authenticate(shown))) !== undefined) t.fail(JSON.stringify(headers))
  }
  t.equal(({} as Record<string, unknown>)['polluted'], undefined, `${rounds} requests`)
})
