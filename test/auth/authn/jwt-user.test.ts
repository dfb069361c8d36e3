import t from 'tap'
import type { JsonObject } from '#keelson/api/object.js'
import { JwtUser } from '#keelson/auth/authn/jwt-user.js'
import { InvalidCredentials } from '#keelson/auth/interface.js'
import type { JwtAuthenticatorConfig } from '#keelson/protocol/server-credentials.js'

const userOf = (claims: JsonObject, config: Partial<JwtAuthenticatorConfig>) =>
  new JwtUser({
    issuer: { url: 'https://a.example', discoveryUrl: '', ca: '', audiences: [] },
    signingAlgs: [],
    claimValidationRules: [],
    username: { claim: 'sub', prefix: 'a:' },
    groups: undefined,
    uid: undefined,
    extra: [],
    userValidationRules: [],
    ...config,
  }).of(claims)

t.test('users are made of claims and of expressions over them', async (t) => {
  t.same(userOf({ sub: 'jane' }, {}), { name: 'a:jane', uid: '', groups: [], extra: {} })
  const claims = { sub: 'jane', roles: 'dev,ops', id: 7, tenants: ['x', 'y'], none: '', nothing: null }
  const made = userOf(claims, {
    username: { expression: "claims.sub + '@' + string(claims.id)" },
    groups: { expression: "claims.roles.split(',')" },
    uid: { expression: 'string(claims.id)' },
    extra: [
      { key: 'example.com/tenants', valueExpression: 'claims.tenants' },
      { key: 'example.com/one', valueExpression: 'claims.sub' },
      { key: 'example.com/empty', valueExpression: 'claims.none' },
      { key: 'example.com/null', valueExpression: 'claims.nothing' },
    ],
  })
  t.same(made, {
    name: 'jane@7',
    uid: '7',
    groups: ['dev', 'ops'],
    extra: { 'example.com/tenants': ['x', 'y'], 'example.com/one': ['jane'] },
  })
})

t.test('what does not fit is refused', async (t) => {
  const refused: [string, JsonObject, Partial<JwtAuthenticatorConfig>, RegExp][] = [
    ['no name', {}, {}, /the claim sub is missing/],
    ['a name that every object has', {}, { username: { claim: 'constructor', prefix: '' } }, /missing/],
    ['an empty name', { a: '' }, { username: { expression: 'claims.a' } }, /empty/],
    ['a name that is a number', { a: 1 }, { username: { expression: 'claims.a' } }, /gives no text/],
    ['a claim that is not there', {}, { username: { expression: 'claims.a' } }, /no such key/],
    ['groups that are numbers', { sub: 'a', g: [1] }, { groups: { expression: 'claims.g' } }, /list of texts/],
    ['no uid', { sub: 'a' }, { uid: { claim: 'uid', prefix: '' } }, /uid is missing/],
    ['another value', { sub: 'a' }, { claimValidationRules: [{ claim: 'hd', requiredValue: 'x' }] }, /hd is not as/],
    [
      'a rule with its message',
      { sub: 'a', exp: 100, nbf: 1 },
      { claimValidationRules: [{ expression: 'claims.exp - claims.nbf < 50', message: 'lives too long' }] },
      /lives too long/,
    ],
    [
      'a rule without one',
      { sub: 'a' },
      { userValidationRules: [{ expression: "user.username == 'x'", message: '' }] },
      /validation expression 'user.username == 'x'' failed/,
    ],
  ]
  for (const [what, claims, config, message] of refused)
    t.throws(() => userOf(claims, config), { name: 'InvalidCredentials', message }, what)
})

t.test('expressions at their limits end, and so do many of them together', async (t) => {
  const many = Array.from({ length: 2000 }, (_, i) => i)
  const dear = 'claims.many.all(a, claims.many.all(b, a + b >= 0))'
  const rule = (i: number) => ({ expression: `${dear} || ${i} > 0`, message: '' })
  const claims = { sub: 'a', many }
  t.throws(() => userOf(claims, { claimValidationRules: [{ expression: dear, message: '' }] }), /cost limit exceeded/)
  const cheap = { sub: 'a', many: many.slice(0, 300) }
  t.throws(
    () => userOf(cheap, { claimValidationRules: Array.from({ length: 200 }, (_, i) => rule(i)) }),
    /cost too much together/,
  )
  let deep: JsonObject = {}
  for (let i = 0; i < 900; i++) deep = { deep }
  const equal = { claimValidationRules: [{ expression: 'claims.x == claims.y', message: '' }] }
  t.match(userOf({ sub: 'a', x: deep, y: structuredClone(deep) }, equal), { name: 'a:a' })
  t.throws(() => userOf({ sub: 'a', x: deep, y: 1 }, equal), InvalidCredentials)
})
