import t from 'tap'
import {
  type AuthenticationConfiguration,
  authenticationConfiguration,
} from '#keelson/auth/authn/authentication-configuration.js'
import { ConfigurationErrors } from '#keelson/auth/configuration-object.js'

const OWN = ['https://kubernetes.default.svc']
const HEAD = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' }
const issuer = { url: 'https://a.example', audiences: ['keelson'] }
const username = { claim: 'sub', prefix: 'a:' }
const entry = { issuer, claimMappings: { username } }

const read = (content: object): AuthenticationConfiguration =>
  authenticationConfiguration(JSON.stringify({ ...HEAD, ...content }), OWN)

function errorsOf(content: object): readonly string[] {
  try {
    read(content)
    return []
  } catch (error) {
    if (error instanceof ConfigurationErrors) return error.lines
    throw error
  }
}

t.test('what a file says is plain data', async (t) => {
  const { jwt, anonymous } = read({
    jwt: [
      {
        issuer: {
          ...issuer,
          discoveryURL: 'https://b.example/c',
          audiences: ['a', 'b'],
          audienceMatchPolicy: 'MatchAny',
        },
        claimValidationRules: [
          { claim: 'hd', requiredValue: 'example.com' },
          { expression: 'claims.exp - claims.nbf <= 86400', message: 'too long' },
        ],
        claimMappings: {
          username: { expression: 'claims.sub' },
          groups: { claim: 'groups', prefix: '' },
          uid: { claim: 'uid' },
          extra: [{ key: 'example.com/tenant', valueExpression: 'claims.tenant' }],
        },
        userValidationRules: [{ expression: "!user.username.startsWith('system:')" }],
      },
    ],
    anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
  })
  t.match(jwt, [
    {
      issuer: { url: 'https://a.example', discoveryUrl: 'https://b.example/c', audiences: ['a', 'b'] },
      claimValidationRules: [{ claim: 'hd' }, { message: 'too long' }],
      username: { expression: 'claims.sub' },
      groups: { claim: 'groups', prefix: '' },
      uid: { claim: 'uid' },
      extra: [{ key: 'example.com/tenant' }],
      userValidationRules: [{ message: '' }],
    },
  ])
  t.same(anonymous, { enabled: true, paths: ['/livez'] })
  t.ok(
    jwt[0]?.signingAlgs.every((name) => /^(RS|ES|PS)\d+$/.test(name)),
    'only asymmetric algorithms',
  )
  for (const version of ['v1beta1', 'v1alpha1'])
    t.same(errorsOf({ apiVersion: `apiserver.config.k8s.io/${version}`, jwt: [entry] }), [])
  t.same(errorsOf({}), [], 'a file without issuers is one to which issuers are added later')
})

t.test('everything that is wrong is told with its path', async (t) => {
  const wrong: [string, object, RegExp[]][] = [
    ['another kind', { kind: 'AuthorizationConfiguration' }, [/^kind: Unsupported value: .*supported values: "Auth/]],
    ['another version', { apiVersion: 'v1' }, [/^apiVersion: Unsupported value: "v1"/]],
    [
      'unknown fields',
      { jwt: [{ ...entry, issuers: [] }], x: 1 },
      [/unknown field "x"/, /unknown field "jwt\[0\].issuers"/],
    ],
    ['another type', { jwt: {} }, [/^jwt: Invalid value: must be a list of objects/]],
    ['an issuer twice', { jwt: [entry, entry] }, [/^jwt\[1\].issuer.url: Duplicate value: "https:\/\/a.example"/]],
    [
      'our own issuer',
      { jwt: [{ ...entry, issuer: { ...issuer, url: OWN[0] } }] },
      [/^jwt\[0\].issuer.url: .*disallowed issuers/],
    ],
    ['no https', { jwt: [{ ...entry, issuer: { ...issuer, url: 'http://a.example' } }] }, [/URL scheme must be https/]],
    ['no url', { jwt: [{ ...entry, issuer: { audiences: ['a'] } }] }, [/^jwt\[0\].issuer.url: Required value/]],
    [
      'a password',
      { jwt: [{ ...entry, issuer: { ...issuer, url: 'https://u:p@a.example?q#f' } }] },
      [/username or password/, /a query/, /a fragment/],
    ],
    [
      'discovery at the issuer',
      { jwt: [{ ...entry, issuer: { ...issuer, discoveryURL: 'https://a.example/' } }] },
      [/discoveryURL must be different/],
    ],
    [
      'no audience',
      { jwt: [{ ...entry, issuer: { url: issuer.url } }] },
      [/^jwt\[0\].issuer.audiences: Required value: at least one/],
    ],
    [
      'audiences without policy',
      { jwt: [{ ...entry, issuer: { ...issuer, audiences: ['a', 'a'] } }] },
      [/must be MatchAny/, /audiences\[1\]: Duplicate/],
    ],
    [
      'no certificate',
      { jwt: [{ ...entry, issuer: { ...issuer, certificateAuthority: 'x' } }] },
      [/certificateAuthority: Invalid value: it holds no/],
    ],
    [
      'egress',
      { jwt: [{ ...entry, issuer: { ...issuer, egressSelectorType: 'cluster' } }] },
      [/egressSelectorType: Forbidden/],
    ],
    ['no username', { jwt: [{ issuer }] }, [/^jwt\[0\].claimMappings.username: Required value: claim or expression/]],
    [
      'no prefix',
      { jwt: [{ issuer, claimMappings: { username: { claim: 'sub' } } }] },
      [/username.prefix: Required value: prefix is required/],
    ],
    [
      'both',
      { jwt: [{ issuer, claimMappings: { username: { ...username, expression: 'claims.sub' } } }] },
      [/can't both be set/, /prefix can't be set/],
    ],
    [
      'an expression that is none',
      { jwt: [{ issuer, claimMappings: { username: { expression: 'claims.' } } }] },
      [/username.expression: .*compilation failed/],
    ],
    [
      'an unverified address',
      { jwt: [{ issuer, claimMappings: { username: { expression: 'claims.email' } } }] },
      [/claims.email_verified must be used/],
    ],
    [
      'a rule that is no yes or no',
      { jwt: [{ ...entry, claimValidationRules: [{ expression: 'claims.hd' }] }] },
      [/^jwt\[0\].claimValidationRules\[0\].expression: .*must evaluate to bool/],
    ],
    [
      'a rule twice',
      { jwt: [{ ...entry, claimValidationRules: [{ claim: 'a' }, { claim: 'a' }, {}] }] },
      [/Rules\[1\].claim: Duplicate/, /Rules\[2\]: Required/],
    ],
    [
      'a rule with both',
      {
        jwt: [
          {
            ...entry,
            claimValidationRules: [
              { claim: 'a', message: 'm' },
              { expression: 'true', requiredValue: 'x' },
            ],
          },
        ],
      },
      [/message can't be set/, /requiredValue can't be set/],
    ],
    [
      'claims where there is a user',
      { jwt: [{ ...entry, userValidationRules: [{ expression: 'claims.a == 1' }] }] },
      [/undeclared reference to 'claims'/],
    ],
    [
      'extra',
      {
        jwt: [
          {
            issuer,
            claimMappings: {
              username,
              extra: [{ key: 'A.example/x', valueExpression: '1' }, { key: 'x.k8s.io/y' }, { valueExpression: '1' }],
            },
          },
        ],
      },
      [
        /must be lowercase|RFC 1123/,
        /lowercase/,
        /reserved for Kubernetes use/,
        /valueExpression is required/,
        /key is required/,
      ],
    ],
    [
      'anonymous',
      { anonymous: { conditions: [{ path: '/livez' }] } },
      [/^anonymous.conditions: .*enabled should be set to true/],
    ],
    [
      'too many',
      { jwt: Array.from({ length: 65 }, (_, i) => ({ ...entry, issuer: { ...issuer, url: `https://${i}.example` } })) },
      [/^jwt: Too many: 65: must have at most 64 items/],
    ],
  ]
  for (const [what, content, expected] of wrong) t.match(errorsOf(content), expected, what)
  const verified = { expression: "claims.?email_verified.orValue(false) ? claims.email : 'nobody'" }
  t.same(errorsOf({ jwt: [{ issuer, claimMappings: { username: verified } }] }), [])
  t.throws(() => authenticationConfiguration('a: [', OWN), /neither YAML nor JSON/)
  t.throws(() => authenticationConfiguration('[]', OWN), /holds no AuthenticationConfiguration/)
  const twice = `apiVersion: ${HEAD.apiVersion}\nkind: ${HEAD.kind}\njwt: []\njwt: []`
  t.throws(() => authenticationConfiguration(twice, OWN), ConfigurationErrors)
})
