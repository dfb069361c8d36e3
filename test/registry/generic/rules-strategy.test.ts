import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import type { ResourceRules } from '#keelson/registry/generic/resource-rules.js'
import { keepMetadata, RulesStrategy, StatusStrategy } from '#keelson/registry/generic/rules-strategy.js'
import { requestContext } from '../../support/request-context.js'
import { THING_KIND, thing, thingStrategy } from '../../support/things.js'

const SHAPE = { kind: THING_KIND, namespaceScoped: true, hasStatus: true }
const context = requestContext()
const fields = (errors: readonly { readonly field: string }[]) => errors.map(({ field }) => field)

function updated(rules: ResourceRules, next: object, old: object, given = context): KubeObject {
  const object = thing('a', next, { generation: 3 })
  thingStrategy(rules).prepareForUpdate(object, thing('a', old, { generation: 3 }), given)
  return object
}

t.test('what is not said is as most kinds have it', async (t) => {
  const strategy = thingStrategy()
  t.match(strategy, {
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaultGarbageCollectionPolicy: 'DeleteDependents',
    resetFields: [['status']],
    checkGracefulDelete: undefined,
  })
  t.same(new RulesStrategy({ ...SHAPE, hasStatus: false }, {}).resetFields, [])
  t.match(strategy.generateName('x-'), /^x-.{5}$/)
  t.equal(thingStrategy({ generateName: (base) => `${base}1` }).generateName('x-'), 'x-1')
})

t.test('a new object has no status, unless its kind keeps one, and generation 1 where generations count', async (t) => {
  const made = (rules: ResourceRules) => {
    const object = thing('a', { status: {} })
    thingStrategy(rules).prepareForCreate(object, context)
    return object
  }
  t.equal(made({})['status'], undefined)
  t.same(made({ statusOnCreate: true })['status'], {})
  t.equal(made({}).metadata?.generation, undefined)
  t.equal(made({ generationFields: ['spec'] }).metadata?.generation, 1)
})

t.test('an update keeps the status, and counts changes of the desired state', async (t) => {
  const rules: ResourceRules = { generationFields: ['spec'] }
  const object = updated(rules, { spec: { n: 2 }, status: { s: 'theirs' } }, { spec: { n: 1 }, status: { s: 'ours' } })
  t.match(object, { status: { s: 'ours' }, metadata: { generation: 4 } })
  t.equal(updated(rules, { spec: { n: 1 } }, { spec: { n: 1 } }).metadata?.generation, 3)
  t.equal(updated(rules, { spec: { l: [] } }, { spec: {} }).metadata?.generation, 3, 'an empty list is none')
  t.equal(updated({}, { spec: { n: 2 } }, { spec: { n: 1 } }).metadata?.generation, 3)
  t.equal(updated(rules, { spec: { m: { toString: 'x' } } }, { spec: { m: {} } }).metadata?.generation, 4)
})

t.test('for some kinds it is a change to write nothing', async (t) => {
  const rules: ResourceRules = { generationFields: ['spec'], emptyIsChange: true }
  t.equal(updated(rules, { spec: { l: [] } }, { spec: {} }).metadata?.generation, 4)
  const wrote = (...path: string[]) => requestContext({ emptied: () => [path] })
  t.equal(updated(rules, { spec: {} }, { spec: {} }, wrote('spec', 'l')).metadata?.generation, 4)
  t.equal(updated(rules, { spec: {} }, { spec: {} }, wrote('metadata', 'l')).metadata?.generation, 3)
  t.equal(updated(rules, { spec: { l: 5 } }, { spec: { l: 5 } }, wrote('spec', 'l')).metadata?.generation, 3)
  t.equal(updated(rules, { spec: {} }, { spec: {} }, wrote('spec', 'constructor')).metadata?.generation, 4)
  t.equal(updated(rules, { spec: null }, { spec: null }, wrote('spec', 'a', 'b')).metadata?.generation, 4)
})

t.test('names are checked by the rule of the kind', async (t) => {
  const errors = (name: string, rules: ResourceRules = {}) =>
    fields(thingStrategy(rules).validate(thing(name, {}, { namespace: 'default' }), context))
  t.same(errors('a.b'), [])
  t.same(errors('A'), ['metadata.name'])
  t.same(errors('A', { nameRule: () => [] }), [])
  t.same(errors('A', { metadataOnCreate: 'none' }), [])
})

t.test('how much of the metadata an update checks is the kind’s to say', async (t) => {
  const object = thing('A', {}, { namespace: 'default', uid: 'new', resourceVersion: '1' })
  const old = thing('A', {}, { namespace: 'default', uid: 'old', resourceVersion: '1' })
  const errors = (metadataOnUpdate?: 'none' | 'changes' | 'new' | 'whole') =>
    fields(
      thingStrategy(metadataOnUpdate === undefined ? {} : { metadataOnUpdate }).validateUpdate(object, old, context),
    )
  t.same(errors(), ['metadata.uid', 'metadata.name'])
  t.same(errors('changes'), ['metadata.uid'])
  t.same(errors('new'), ['metadata.name'])
  t.same(errors('none'), [])
})

t.test('an update without rules of its own obeys those of a create', async (t) => {
  const error = { type: 'FieldValueInvalid', field: 'spec', detail: '', badValue: '' } as const
  const rules: ResourceRules = { metadataOnUpdate: 'none', validate: () => [error] }
  t.same(thingStrategy(rules).validateUpdate(thing('a'), thing('a'), context), [error])
  t.same(thingStrategy({ ...rules, validateUpdate: () => [] }).validateUpdate(thing('a'), thing('a'), context), [])
})

t.test('privileged containers are for servers that allow them', async (t) => {
  const pod = { spec: { containers: [{ name: 'c', securityContext: { privileged: true } }] } }
  const errors = (allowPrivileged: boolean) =>
    fields(
      new RulesStrategy({ ...SHAPE, allowPrivileged }, { podSpecAt: ['spec'], metadataOnCreate: 'none' }).validate(
        pod,
        context,
      ),
    )
  t.same(errors(true), [])
  t.same(errors(false), ['spec.containers[0].securityContext.privileged'])
})

t.test('an update of the status leaves the rest', async (t) => {
  const strategy = new StatusStrategy(SHAPE, {})
  const object = {
    ...thing('a', { spec: { n: 2 }, status: { s: 2 }, more: 1 }),
    ...(JSON.parse('{"constructor":1}') as object),
  }
  strategy.prepareForUpdate(object, thing('a', { spec: { n: 1 }, data: 'x' }), context)
  t.same(object, thing('a', { spec: { n: 1 }, data: 'x', status: { s: 2 } }))
  t.same(strategy.resetFields, [['spec']])
  t.same(strategy.validateUpdate(thing('a'), thing('a'), context), [])
})

t.test('some kinds keep their metadata too, but for what names the object and its writer', async (t) => {
  const object = thing('a', {}, { labels: { a: 'new' }, resourceVersion: '2', uid: 'u' })
  keepMetadata(object, thing('a', {}, { labels: { a: 'old' }, resourceVersion: '1', uid: 'u', managedFields: [] }))
  t.same(object.metadata, { name: 'a', labels: { a: 'old' }, resourceVersion: '2', uid: 'u' })
})
