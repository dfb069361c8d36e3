import t from 'tap'
import type { AdmissionKinds, ServedKind } from '#keelson/admission/matching/admission-kinds.js'
import { EquivalentKinds } from '#keelson/admission/matching/equivalent-kinds.js'
import { RuleIndex } from '#keelson/admission/matching/rule-index.js'
import { ANY_NAME, matchEntry, type RuledEntry } from '#keelson/admission/matching/rule-match.js'

const target = {
  operation: 'CREATE',
  resource: { group: 'apps', version: 'v1', resource: 'deployments' },
  subresource: '',
  namespace: 'n',
}
const beta: ServedKind = {
  resource: { group: 'apps', version: 'v1beta1', resource: 'deployments' },
  subresource: '',
  kind: { group: 'apps', version: 'v1beta1', kind: 'Deployment' },
}
let asked = 0
const kinds = {
  generation: () => beta,
  equivalents: () => {
    asked++
    return [beta]
  },
} as unknown as AdmissionKinds
const equivalents = new EquivalentKinds(kinds)

const rule = (more: object = {}) => ({
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['deployments'],
  ...more,
})
const entry = (more: Partial<RuledEntry>): RuledEntry => ({ rules: [rule()], matchPolicy: 'Equivalent', ...more })
const match = (more: Partial<RuledEntry>, name: string | undefined = 'a') =>
  matchEntry(entry(more), target, name, equivalents)

t.test('the request’s own version goes before others', async (t) => {
  t.same(match({ rules: [rule({ apiVersions: ['v1beta1'] }), rule()] }), { equivalent: undefined })
  t.same(match({ rules: [rule({ apiVersions: ['v1beta1'] })] }), { equivalent: beta })
  t.equal(match({ rules: [rule({ apiVersions: ['v1beta1'] })], matchPolicy: 'Exact' }), undefined)
})

t.test('excludes win, in other versions too', async (t) => {
  t.equal(match({ excludes: [rule()] }), undefined)
  t.equal(match({ excludes: [rule({ apiVersions: ['v1beta1'] })] }), undefined)
  t.ok(match({ excludes: [rule({ apiVersions: ['v1beta1'] })], matchPolicy: 'Exact' }))
  t.ok(match({ excludes: [rule({ operations: ['UPDATE'] })] }))
})

t.test('rules may name objects: those that take and those that leave out', async (t) => {
  t.ok(match({ rules: [rule({ resourceNames: ['a'] })] }))
  t.equal(match({ rules: [rule({ resourceNames: ['b'] })] }), undefined)
  t.equal(match({ excludes: [rule({ resourceNames: ['a'] })] }), undefined)
  t.ok(match({ excludes: [rule({ resourceNames: ['b'] })] }))
  t.equal(match({ rules: [rule({ resourceNames: ['a'] })] }, ''), undefined, 'a name that is still to be generated')
})

t.test('of any name, whoever may be for one of them is', async (t) => {
  t.ok(matchEntry(entry({ rules: [rule({ resourceNames: ['b'] })] }), target, ANY_NAME, equivalents))
  t.ok(matchEntry(entry({ excludes: [rule({ resourceNames: ['b'] })] }), target, ANY_NAME, equivalents))
  t.equal(matchEntry(entry({ excludes: [rule()] }), target, ANY_NAME, equivalents), undefined)
})

t.test('an index asks entries with names again for each object, and others once', async (t) => {
  const index = new RuleIndex<RuledEntry>(kinds)
  index.set([entry({}), entry({ excludes: [rule({ resourceNames: ['b'] })] }), entry({ excludes: [rule()] })])
  const candidates = index.candidates(target)
  t.same(
    candidates.map(({ index: at, byName }) => [at, byName]),
    [
      [0, false],
      [1, true],
    ],
  )
  const named = (name: string) => candidates.filter((one) => index.match(one, target, name) !== undefined).length
  t.equal(named('a'), 2)
  t.equal(named('b'), 1)
})

t.test('equivalents are looked for once', async (t) => {
  const before = asked
  for (let i = 0; i < 5; i++) equivalents.of(target)
  t.ok(asked - before <= 1)
})
