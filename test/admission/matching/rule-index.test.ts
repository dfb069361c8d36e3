import t from 'tap'
import type { AdmissionKinds, ServedKind } from '#keelson/admission/matching/admission-kinds.js'
import { ruleMatches } from '#keelson/admission/matching/request-rule.js'
import { RuleIndex } from '#keelson/admission/matching/rule-index.js'
import type { RuledEntry } from '#keelson/admission/matching/rule-match.js'

const target = (resource: string, subresource = '', namespace = 'n', operation = 'CREATE') => ({
  operation,
  resource: { group: '', version: 'v1', resource },
  subresource,
  namespace,
})
const rule = (resources: string[], more: object = {}) => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources,
  ...more,
})

t.test(
  'a star for the subresource means the resource itself too; a star for the resource no subresource',
  async (t) => {
    t.ok(ruleMatches(rule(['pods/*']), target('pods')))
    t.ok(ruleMatches(rule(['pods/*']), target('pods', 'status')))
    t.notOk(ruleMatches(rule(['*']), target('pods', 'status')))
    t.ok(ruleMatches(rule(['*/status']), target('pods', 'status')))
    t.notOk(ruleMatches(rule(['*/status']), target('pods')))
    t.ok(ruleMatches(rule(['*/*']), target('pods', 'exec')))
  },
)

t.test('a namespace is outside namespaces though it names one', async (t) => {
  t.notOk(ruleMatches(rule(['namespaces'], { scope: 'Namespaced' }), target('namespaces')))
  t.ok(ruleMatches(rule(['namespaces'], { scope: 'Cluster' }), target('namespaces')))
  t.ok(ruleMatches(rule(['pods'], { scope: 'Namespaced' }), target('pods')))
})

const other: ServedKind = {
  resource: { group: 'events.k8s.io', version: 'v1', resource: 'events' },
  subresource: '',
  kind: { group: 'events.k8s.io', version: 'v1', kind: 'Event' },
}
let generation = {}
const kinds = {
  generation: () => generation,
  equivalents: ({ resource }: { resource: string }) => (resource === 'events' ? [other] : []),
} as unknown as AdmissionKinds

t.test('an entry that asks for another version is found by it, unless it wants an exact match', async (t) => {
  const index = new RuleIndex<RuledEntry>(kinds)
  const rules = [rule(['events'], { apiGroups: ['events.k8s.io'] })]
  index.set([
    { rules, matchPolicy: 'Exact' },
    { rules, matchPolicy: 'Equivalent' },
  ])
  const found = index.candidates(target('events'))
  t.same(
    found.map((one) => [one.index, one.equivalent?.resource.group]),
    [[1, 'events.k8s.io']],
  )
})

t.test('what is remembered goes with the entries and with the resources that are served', async (t) => {
  const index = new RuleIndex<RuledEntry>(kinds)
  index.set([{ rules: [rule(['pods'])], matchPolicy: 'Exact' }])
  const first = index.candidates(target('pods'))
  t.equal(index.candidates(target('pods')), first, 'a second request pays a lookup')
  generation = {}
  t.not(index.candidates(target('pods')), first)
  index.set([])
  t.same(index.candidates(target('pods')), [])
})
