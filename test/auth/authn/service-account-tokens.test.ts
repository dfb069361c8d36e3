import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { parseJwt, verifySignature } from '#keelson/auth/authn/jwt.js'
import { ServiceAccountTokenIssuer, verificationKeys } from '#keelson/auth/authn/service-account-tokens.js'
import type { ServiceAccountTokenConfig } from '#keelson/protocol/server-credentials.js'

const NOW = Date.UTC(2026, 0, 1)
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })

const config = (signingKey: string): ServiceAccountTokenConfig => ({
  issuers: ['https://kubernetes.default.svc'],
  jwksUri: '',
  apiAudiences: ['https://kubernetes.default.svc'],
  signingKey,
  publicKeys: [signingKey],
  maxExpirationSeconds: 0,
  extendExpiration: true,
  lookup: true,
})
const serviceAccount = { namespace: 'default', name: 'app', uid: 'sa-uid' }

t.test('a token says what Kubernetes’ tokens say, and its key vouches for it', async (t) => {
  for (const [key, algorithm] of [
    [ec as string, 'ES256'],
    [rsa as string, 'RS256'],
  ] as const) {
    const issuer = new ServiceAccountTokenIssuer(config(key), () => 'an-id')
    const issued = issuer.issueToken({ serviceAccount, audiences: ['vault'], expirationSeconds: 600 }, NOW)
    t.equal(issued.expirationTimestamp, '2026-01-01T00:10:00Z')
    t.equal(issued.credentialId, 'JTI=an-id')
    const jwt = parseJwt(issued.token)!
    t.equal(jwt.algorithm, algorithm)
    t.strictSame(jwt.claims, {
      aud: ['vault'],
      exp: NOW / 1000 + 600,
      iat: NOW / 1000,
      iss: 'https://kubernetes.default.svc',
      jti: 'an-id',
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'app', uid: 'sa-uid' } },
      nbf: NOW / 1000,
      sub: 'system:serviceaccount:default:app',
    })
    t.ok(verifySignature(jwt, verificationKeys([key])))
    t.notOk(verifySignature(jwt, verificationKeys([key === ec ? (rsa as string) : (ec as string)])))
  }
})

t.test('a token bound to a pod names it and its node', async (t) => {
  const issuer = new ServiceAccountTokenIssuer(config(ec as string))
  const claims = (boundObject: Parameters<typeof issuer.issueToken>[0]['boundObject']) =>
    parseJwt(issuer.issueToken({ serviceAccount, audiences: [], expirationSeconds: 600, boundObject }, NOW).token)!
      .claims['kubernetes.io']
  t.match(claims({ kind: 'Pod', name: 'p', uid: 'p-uid', node: { name: 'n', uid: 'n-uid' } }), {
    pod: { name: 'p', uid: 'p-uid' },
    node: { name: 'n', uid: 'n-uid' },
  })
  t.match(claims({ kind: 'Secret', name: 's', uid: 's-uid' }), { secret: { name: 's', uid: 's-uid' } })
  t.match(claims({ kind: 'Node', name: 'n', uid: 'n-uid' }), { node: { name: 'n', uid: 'n-uid' } })
})

t.test('a limit shortens; what pods get by injection is extended, with a mark', async (t) => {
  const limited = new ServiceAccountTokenIssuer({ ...config(ec as string), maxExpirationSeconds: 7200 })
  const long = limited.issueToken({ serviceAccount, audiences: [], expirationSeconds: 90_000 }, NOW)
  t.equal(long.expirationSeconds, 7200)
  t.equal(parseJwt(long.token)!.claims['exp'], NOW / 1000 + 7200)

  const issuer = new ServiceAccountTokenIssuer(config(ec as string))
  const boundObject = { kind: 'Pod', name: 'p', uid: 'pod-uid' } as const
  const unbound = issuer.issueToken({ serviceAccount, audiences: [], expirationSeconds: 3607 }, NOW)
  t.equal(parseJwt(unbound.token)!.claims['exp'], NOW / 1000 + 3607, 'not without a pod')
  const injected = issuer.issueToken({ serviceAccount, audiences: [], expirationSeconds: 3607, boundObject }, NOW)
  t.equal(injected.expirationTimestamp, '2026-01-01T01:00:07Z')
  t.equal(parseJwt(injected.token)!.claims['exp'], NOW / 1000 + 365 * 24 * 3600)
  t.match(parseJwt(injected.token)!.claims, { 'kubernetes.io': { warnafter: NOW / 1000 + 3607 } })
  const foreign = issuer.issueToken({ serviceAccount, audiences: ['vault'], expirationSeconds: 3607 }, NOW)
  t.equal(parseJwt(foreign.token)!.claims['exp'], NOW / 1000 + 3607, 'not for others’ audiences')
})
