import t from 'tap'
import { type PolicyRule, RoleRules, type RuleQuestion } from '#keelson/auth/authz/policy-rule.js'
import { uncoveredRules } from '#keelson/auth/authz/rule-coverage.js'

// Roles with very long lists: whoever may write one role must not make every decision of others slow.

const rule = (fields: Partial<PolicyRule>): PolicyRule => ({
  verbs: ['get'],
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [],
  nonResourceURLs: [],
  ...fields,
})
const texts = (count: number): string[] => Array.from({ length: count }, (_, i) => `n${i}`)
const question = (fields: Partial<RuleQuestion>): RuleQuestion => ({
  isResourceRequest: true,
  verb: 'get',
  apiGroup: '',
  combinedResource: 'configmaps',
  anyWithSubresource: '',
  name: 'other',
  path: '',
  ...fields,
})

const ASKED = 2000
/** The shortest of some tries: what a busy machine adds is not what is asked for. */
function timeOf(work: () => void): number {
  let shortest = Number.POSITIVE_INFINITY
  for (let i = 0; i < 5; i++) {
    const started = process.hrtime.bigint()
    work()
    shortest = Math.min(shortest, Number(process.hrtime.bigint() - started))
  }
  return shortest
}

for (const [list, fields] of [
  ['resourceNames', (names: string[]) => rule({ resourceNames: names })],
  ['verbs', (names: string[]) => rule({ verbs: names })],
  ['apiGroups', (names: string[]) => rule({ apiGroups: names })],
] as const)
  t.test(`a decision costs the same whether a rule has 20 or 100,000 ${list}`, async (t) => {
    const [short, long] = [20, 100_000].map((count) => new RoleRules([fields(texts(count))]))
    const asked = question({})
    const work = (role: RoleRules) => () => {
      for (let i = 0; i < ASKED; i++) role.allow(asked)
    }
    const [few, many] = [timeOf(work(short!)), timeOf(work(long!))]
    t.ok(many < 50 * few, `${many / few} times as long, with 5,000 times as many`)
  })

t.test('long lists say the same as short ones', async (t) => {
  for (const count of [3, 40]) {
    const named = new RoleRules([rule({ resourceNames: texts(count) })])
    t.ok(named.allow(question({ name: 'n2' })))
    t.notOk(named.allow(question({ name: 'n40' })))
    t.notOk(named.allow(question({ name: '' })))
    t.notOk(named.allow(question({ name: undefined })), 'a rule for some gives not all')
    const verbs = new RoleRules([rule({ verbs: texts(count) })])
    t.ok(verbs.allow(question({ verb: 'n1' })))
    t.notOk(verbs.allow(question({ verb: '*' })))
    const all = new RoleRules([rule({ verbs: [...texts(count), '*'], apiGroups: [...texts(count), '*'] })])
    t.ok(all.allow(question({ verb: 'x', apiGroup: 'y' })))
  }
})

t.test('who holds 90,000 names may give 90,000, and it is checked at once', async (t) => {
  const names = texts(90_000)
  const held = [rule({ resourceNames: names })]
  t.same(uncoveredRules(held, [rule({ resourceNames: [...names].reverse() })]), [])
  t.same(uncoveredRules(held, [rule({ resourceNames: ['n1', 'mine'] })]), [rule({ resourceNames: ['mine'] })])
  t.same(uncoveredRules(held, [rule({})]), [rule({})], 'all names are more than any number')
})

t.test('what cannot be checked in a bounded number of steps is not given', async (t) => {
  const held = Array.from({ length: 20_000 }, (_, i) => rule({ verbs: [`v${i}`] }))
  const wanted = [rule({ verbs: texts(20_000) })]
  t.same(uncoveredRules(held, wanted), wanted)
})

t.test('what covers what, one thing at a time', async (t) => {
  const held = [
    rule({ verbs: ['get'], resources: ['pods', '*/scale'] }),
    rule({ verbs: ['*'], apiGroups: ['apps'], resources: ['*'] }),
    rule({ verbs: ['get'], apiGroups: [], resources: [], nonResourceURLs: ['/healthz', '/metrics/*'] }),
  ]
  const path = (url: string): PolicyRule => rule({ apiGroups: [], resources: [], nonResourceURLs: [url] })
  const covered = (wanted: PolicyRule): boolean => uncoveredRules(held, [wanted]).length === 0
  t.ok(covered(rule({ resources: ['pods'] })))
  t.ok(covered(rule({ resources: ['pods'], resourceNames: ['a'] })))
  t.ok(covered(rule({ resources: ['deployments/scale'] })))
  t.ok(covered(rule({ verbs: ['*'], apiGroups: ['apps'], resources: ['*'] })))
  t.ok(covered(path('/healthz')))
  t.ok(covered(path('/metrics/slis')))
  t.notOk(covered(rule({ resources: ['pods/log'] })))
  t.notOk(covered(rule({ verbs: ['*'], resources: ['pods'] })))
  t.notOk(covered(rule({ resources: ['*'] })))
  t.notOk(covered(rule({ apiGroups: ['*'], resources: ['pods'] })))
  t.notOk(covered(path('/livez')))
  t.notOk(covered(path('/*')))
})
