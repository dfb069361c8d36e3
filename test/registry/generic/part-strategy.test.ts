import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { PartStrategy } from '#keelson/registry/generic/part-strategy.js'
import type { PartRules, ResourceRules } from '#keelson/registry/generic/resource-rules.js'
import { requestContext } from '../../support/request-context.js'
import { THING_KIND, thing } from '../../support/things.js'

const SHAPE = { kind: THING_KIND, namespaceScoped: true, hasStatus: true }
const strategy = (part: PartRules, rules: ResourceRules = {}) => new PartStrategy(SHAPE, rules, part)

function prepared(object: KubeObject, old: KubeObject, part: PartRules, rules: ResourceRules = {}): KubeObject {
  strategy(part, rules).prepareForUpdate(object, old, requestContext())
  return object
}

t.test('everything but the part is what it was', async (t) => {
  const old = thing('a', { spec: { n: 1 }, status: { s: 1 }, data: 'old' })
  const object = thing('a', { spec: { n: 2 }, status: { s: 2 }, more: 'new' }, { labels: { a: 'b' } })
  t.same(prepared(object, old, { writes: 'spec' }), {
    ...thing('a', {}, { labels: { a: 'b' } }),
    spec: { n: 2 },
    status: { s: 1 },
    data: 'old',
  })
})

t.test('fields may be called as anything that every object has', async (t) => {
  const object = { ...thing('a', { spec: {} }), ...(JSON.parse('{"constructor":{"x":1}}') as object) }
  t.notOk(Object.hasOwn(prepared(object, thing('a'), { writes: 'spec' }), 'constructor'))
})

t.test('the generation counts where the part is desired state', async (t) => {
  const generation = (rules: ResourceRules, n: number) =>
    prepared(
      thing('a', { spec: { n } }, { generation: 4 }),
      thing('a', { spec: { n: 1 } }, { generation: 4 }),
      { writes: 'spec' },
      rules,
    ).metadata?.generation
  t.equal(generation({ generationFields: ['spec'] }, 2), 5)
  t.equal(generation({ generationFields: ['spec'] }, 1), 4)
  t.equal(generation({}, 2), 4)
})

t.test('nobody owns through it what it does not write', async (t) => {
  t.same(strategy({ writes: 'status' }).resetFields, [['spec']])
  t.same(strategy({ writes: 'spec' }).resetFields, [['status']])
  t.same(strategy({ writes: 'spec', resetFields: [['spec', 'x']] }).resetFields, [['spec', 'x']])
  t.same(strategy({ writes: 'spec', ownedFields: [['f:spec']] }).ownedFields, [['f:spec']])
})

t.test('its own rules are asked, and it never creates', async (t) => {
  const error = { type: 'FieldValueInvalid', field: 'x', detail: '', badValue: '' } as const
  const part = strategy({ writes: 'spec', validateUpdate: () => [error], warningsOnUpdate: () => ['w'] })
  t.same(part.validateUpdate(thing('a'), thing('a'), requestContext()), [error])
  t.same(part.warningsOnUpdate(thing('a'), thing('a'), requestContext()), ['w'])
  t.equal(part.allowCreateOnUpdate, false)
  t.equal(strategy({ writes: 'spec' }, { allowUnconditionalUpdate: false }).allowUnconditionalUpdate, false)
  t.same(strategy({ writes: 'spec' }).validateUpdate(thing('a'), thing('a'), requestContext()), [])
})
