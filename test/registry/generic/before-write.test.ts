import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { isStatusError } from '#keelson/api/status.js'
import { beforeCreate, beforeUpdate } from '#keelson/registry/generic/before-write.js'
import type { ResourceRules } from '#keelson/registry/generic/resource-rules.js'
import { requestContext } from '../../support/request-context.js'
import { thing, thingStrategy } from '../../support/things.js'

const wrong = { type: 'FieldValueInvalid', field: 'spec', detail: 'wrong', badValue: 1 } as const

function create(object: KubeObject, rules: ResourceRules = {}, warnings: string[] = []): KubeObject {
  beforeCreate(thingStrategy(rules), object, requestContext({ addWarning: (text) => void warnings.push(text) }))
  return object
}

function update(object: KubeObject, old: KubeObject, rules: ResourceRules = {}): KubeObject {
  beforeUpdate(thingStrategy(rules), object, old, requestContext())
  return object
}

function causes(run: () => unknown): string[] {
  try {
    run()
  } catch (error) {
    if (!isStatusError(error, 'Invalid')) throw error
    return (error.status.details?.causes ?? []).map(({ field }) => field ?? '')
  }
  return []
}

const filled = (name: string, fields: object = {}, metadata: object = {}) =>
  thing(name, fields, { uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata })
const stored = (fields: object = {}, metadata: object = {}) =>
  filled('a', fields, { namespace: 'default', resourceVersion: '1', ...metadata })

t.test('an object that the server has not begun is not created', async (t) => {
  t.throws(() => create(thing('a')), { code: 500 })
})

t.test('the namespace is that of the request', async (t) => {
  t.equal(create(filled('a')).metadata?.namespace, 'default')
  t.throws(() => create(filled('a', {}, { namespace: 'other' })), { code: 400 })
  t.throws(() => update(stored({}, { namespace: 'other' }), stored()), { code: 400 })
})

t.test('what the kind says of a name comes first, and alone', async (t) => {
  t.same(
    causes(() => create(filled('a/b'))),
    ['metadata.name'],
  )
  const silent: ResourceRules = { metadataOnCreate: 'none' }
  t.same(
    causes(() => create(filled('a/b'), silent)),
    ['metadata.name'],
    'a name is a part of a path all the same',
  )
  t.same(
    causes(() => create(filled('Upper_Case'), silent)),
    [],
  )
})

t.test('a valid object is warned about and brought into its form; an invalid one is neither', async (t) => {
  const rules: ResourceRules = {
    warningsOnCreate: () => ['mind'],
    canonicalize: (object) => {
      object['form'] = 'normal'
    },
  }
  const warnings: string[] = []
  t.equal(create(filled('a'), rules, warnings)['form'], 'normal')
  t.same(warnings.splice(0), ['mind'])
  const invalid = filled('a')
  t.same(
    causes(() => create(invalid, { ...rules, validate: () => [wrong] }, warnings)),
    ['spec'],
  )
  t.same(warnings, [])
  t.equal(invalid['form'], undefined)
})

t.test('an update keeps what only the server sets', async (t) => {
  const old = stored(
    {},
    {
      generation: 3,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      finalizers: ['example.com/x'],
    },
  )
  const object = update(
    thing(
      'a',
      {},
      {
        resourceVersion: '1',
        generation: 99,
        creationTimestamp: '1999-01-01T00:00:00Z',
        finalizers: ['example.com/x'],
      },
    ),
    old,
  )
  t.match(object.metadata, {
    uid: 'u',
    generation: 3,
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    deletionGracePeriodSeconds: 5,
  })
})

t.test('an update may not change who an object is', async (t) => {
  t.ok(causes(() => update(stored({}, { uid: 'another' }), stored())).includes('metadata.uid'))
  t.ok(causes(() => update(stored({}, { name: 'b' }), stored())).includes('metadata.name'))
})

t.test('an ending object gets no new finalizers', async (t) => {
  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/x'] }
  const more = { ...ending, finalizers: ['example.com/x', 'example.com/y'] }
  t.ok(causes(() => update(stored({}, more), stored({}, ending))).includes('metadata.finalizers'))
  t.same(
    causes(() => update(stored({}, { ...ending, finalizers: [] }), stored({}, ending))),
    [],
  )
})
