import t, { type Test } from 'tap'
import { JwtIssuers } from '#keelson/auth/authn/jwt-issuers.js'
import { httpsJson } from '#keelson/auth/authn/oidc-keys.js'
import { InvalidCredentials } from '#keelson/auth/interface.js'
import { TestAuthority } from '../../support/certificates.js'
import { FakeClock } from '../../support/fake-clock.js'
import { JwtIssuer } from '../../support/jwt-issuer.js'
import { until } from '../../support/until.js'

async function setUp(t: Test) {
  const authority = await TestAuthority.create()
  const issuer = await JwtIssuer.start(authority)
  t.teardown(() => issuer.close())
  const clock = new FakeClock()
  await clock.advance(Date.now() - clock.now())
  const config = {
    issuer: { url: issuer.url, discoveryUrl: '', ca: authority.certificate, audiences: ['keelson'] },
    signingAlgs: ['ES256'],
    claimValidationRules: [],
    username: { claim: 'sub', prefix: '' },
    groups: undefined,
    uid: undefined,
    extra: [],
    userValidationRules: [{ expression: "user.username != 'mallory'", message: 'mallory may not' }],
  }
  const issuers = new JwtIssuers([config], { clock, fetchJson: ({ ca }) => httpsJson(ca, clock) })
  const judge = async (token: string) => (await issuers.authenticateToken(token))?.user.name
  return { issuer, issuers, clock, config, judge }
}

t.test('an issuer that never answers is given up, and asked again after a pause', async (t) => {
  const { issuer, clock, judge } = await setUp(t)
  issuer.mood = 'silent'
  const waiting = Promise.allSettled([judge(issuer.token({ sub: 'a' })), judge(issuer.token({ sub: 'b' }))])
  await until(() => issuer.asked.size > 0, { what: 'the issuer to be asked' })
  await clock.advance(30_000)
  for (const one of await waiting)
    t.match(one, { reason: { name: 'InvalidCredentials', message: /no answer in time/ } })
  t.same([...issuer.asked.values()], [1], 'all who wait ask once')
  issuer.mood = 'answering'
  t.equal(await judge(issuer.token({ sub: 'a' })), 'a')
})

t.test('a document without end is broken off', async (t) => {
  const { issuer, judge } = await setUp(t)
  issuer.mood = 'endless'
  await t.rejects(judge(issuer.token({ sub: 'a' })), { message: /the document is too long/ })
  t.ok(issuer.sentBytes < 50 << 20, `${issuer.sentBytes} bytes were taken from it before it was cut off`)
})

t.test('keys are rotated; a token of a key that is gone is refused', async (t) => {
  const { issuer, clock, judge } = await setUp(t)
  const old = issuer.token({ sub: 'a' })
  t.equal(await judge(old), 'a')
  issuer.rotate()
  await t.rejects(judge(issuer.token({ sub: 'b' })), InvalidCredentials, 'not asked for again within the pause')
  await clock.advance(10_000)
  t.equal(await judge(issuer.token({ sub: 'b' })), 'b')
  await t.rejects(judge(old), InvalidCredentials)
})

t.test('long tokens, and refusals that would cost each time', async (t) => {
  const { issuer, issuers, config, judge } = await setUp(t)
  t.equal(await judge(issuer.token({ sub: 'a', fill: 'x'.repeat(40_000) })), 'a')
  t.equal(await judge(issuer.token({ sub: 'a', fill: 'x'.repeat(100_000) })), undefined, 'longer than any token is')
  const mallory = issuer.token({ sub: 'mallory' })
  await t.rejects(judge(mallory), { message: 'oidc: mallory may not' })
  await t.rejects(judge(mallory), { message: 'oidc: mallory may not' })
  const asked = [...issuer.asked.values()]
  issuers.replace([{ ...config, userValidationRules: [] }])
  t.equal(await judge(mallory), 'mallory', 'rules that are gone refuse nobody')
  t.same([...issuer.asked.values()], asked, 'an issuer that is reached as before keeps its keys')
  issuers.replace([])
  t.equal(await judge(mallory), undefined)
})
