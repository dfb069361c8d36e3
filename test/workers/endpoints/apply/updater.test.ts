import t from 'tap'
import { type FieldSet, namedFields, recursiveDifference } from '#keelson/api/managed-fields/field-set.js'
import { type Managed, type Manager, managerKey } from '#keelson/api/managed-fields/managed-fields.js'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { ConflictError } from '#keelson/workers/endpoints/apply/conflict.js'
import { Updater, type UpdaterOptions, type Versioned } from '#keelson/workers/endpoints/apply/updater.js'
import { fuzzRounds, fuzzSeed, Random } from '../../../support/fuzz.js'
import { map, scalar, struct, workload } from '../patch/schemas.js'

const type = struct('T', { spec: map(scalar()), status: map(scalar()) })
const versioned = (spec: JsonObject, more: JsonObject = {}): Versioned => ({
  apiVersion: 'v1',
  schema: type,
  object: { spec, ...more },
})
const manager = (name: string, apiVersion = 'v1'): Manager => ({
  name,
  operation: 'Apply',
  apiVersion,
  subresource: '',
})
const updater = (options: Partial<UpdaterOptions> = {}) =>
  new Updater({
    converter: { schema: (version) => (version === 'v1' ? type : undefined), convert: (object) => object },
    filter: () => undefined,
    ...options,
  })

function managedBy(rows: Record<string, FieldSet>, apiVersion = 'v1'): Managed {
  return new Map(
    Object.entries(rows).map(([name, set]) => [
      managerKey(manager(name, apiVersion)),
      { manager: manager(name, apiVersion), set, time: undefined },
    ]),
  )
}
const ownersOf = (managed: Managed): Record<string, FieldSet> =>
  Object.fromEntries([...managed.values()].map(({ manager: { name }, set }) => [name, set]))

t.test('an update takes what it changes from whoever had it', async (t) => {
  const managed = managedBy({ one: namedFields('spec.a', 'spec.b'), two: namedFields('spec.a') })
  const own = updater().update(versioned({ a: '1', b: '1' }), versioned({ a: '2', b: '1', c: '1' }), managed)
  t.strictSame(own, namedFields('spec.a', 'spec.c'))
  t.strictSame(ownersOf(managed), { one: namedFields('spec.b') }, 'who has nothing left is nobody')
})

t.test('what an update removes is nobody’s', async (t) => {
  const managed = managedBy({ one: namedFields('spec.a', 'spec.b') })
  t.strictSame(updater().update(versioned({ a: '1', b: '1' }), versioned({ b: '1' }), managed), {})
  t.strictSame(ownersOf(managed), { one: namedFields('spec.b') })
})

t.test('an apply that would change what others own is a conflict and changes no object', async (t) => {
  const managed = managedBy({ other: namedFields('spec.a') })
  const live = versioned({ a: '1' })
  t.throws(() => updater().apply(live, { spec: { a: '2' } }, managed, manager('me'), false), ConflictError)
  t.strictSame(live.object, { spec: { a: '1' } })
})

t.test('the same value is shared; force takes another', async (t) => {
  const shared = managedBy({ other: namedFields('spec.a') })
  t.equal(updater().apply(versioned({ a: '1' }), { spec: { a: '1' } }, shared, manager('me'), false), undefined)
  t.strictSame(ownersOf(shared), { other: namedFields('spec.a'), me: namedFields('spec.a') })
  const forced = managedBy({ other: namedFields('spec.a') })
  const next = updater().apply(versioned({ a: '1' }), { spec: { a: '2' } }, forced, manager('me'), true)
  t.strictSame(next?.object, { spec: { a: '2' } })
  t.strictSame(ownersOf(forced), { me: namedFields('spec.a') })
})

t.test('what is no longer applied goes, unless somebody else owns it', async (t) => {
  const managed = managedBy({ me: namedFields('spec.a', 'spec.b'), other: namedFields('spec.b') })
  const live = versioned({ a: '1', b: '1', c: '1' })
  const next = updater().apply(live, { spec: { c: '1' } }, managed, manager('me'), false)
  t.strictSame(next?.object, { spec: { b: '1', c: '1' } })
})

t.test('fields that the endpoint resets are owned by nobody', async (t) => {
  const filter = () => (set: FieldSet) => recursiveDifference(set, namedFields('status'))
  const managed = managedBy({})
  const next = versioned({ a: '1' }, { status: { s: '1' } })
  t.strictSame(updater({ filter }).update(versioned({}), next, managed), namedFields('spec.a'))
})

t.test('managers of versions that are gone are forgotten', async (t) => {
  const managed = managedBy({ old: namedFields('spec.a') }, 'v0')
  updater().update(versioned({ a: '1' }), versioned({ a: '1' }), managed)
  t.equal(managed.size, 0)
})

t.test('a manager of another version is asked in its own', async (t) => {
  const old = struct('Old', { renamed: map(scalar()) })
  const converter = {
    schema: (version: string) => (version === 'v1' ? type : old),
    convert: (object: JsonObject, version: string): JsonObject =>
      version === 'v1' ? { spec: object['renamed'] } : { renamed: object['spec'] },
  }
  const managed = managedBy({ other: namedFields('renamed.a') }, 'v0')
  const apply = () =>
    updater({ converter }).apply(versioned({ a: '1' }), { spec: { a: '2' } }, managed, manager('me'), false)
  t.throws(apply, { message: /conflict with "other": \.renamed\.a$/ })
})

t.test(
  'what was applied in another version goes when it is no longer applied, whatever it is called there',
  async (t) => {
    // Version v0 has the names of v1 the other way round.
    const convert = ({ spec }: JsonObject): JsonObject => {
      const { a, b, ...rest } = (spec ?? {}) as JsonObject
      return { spec: { ...rest, ...(a === undefined ? {} : { b: a }), ...(b === undefined ? {} : { a: b }) } }
    }
    const managed: Managed = new Map([
      [managerKey(manager('me')), { manager: manager('me', 'v0'), set: namedFields('spec.a'), time: undefined }],
    ])
    const next = updater({ converter: { schema: () => type, convert } }).apply(
      versioned({ b: '1', c: '1' }),
      { spec: { a: '1' } },
      managed,
      manager('me'),
      false,
    )
    t.strictSame(next?.object, { spec: { a: '1', c: '1' } })
  },
)

function frozen<T extends Json>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) frozen(part as Json)
  return Object.freeze(value)
}

const NAMES = ['a', 'b', 'c']

/** A configuration out of few values, so that two of them often have something in common. */
function anyConfig(random: Random): JsonObject {
  const some = (of: (name: string) => JsonObject): JsonObject[] => NAMES.filter(() => random.chance(50)).map(of)
  const texts = (): JsonObject =>
    Object.fromEntries(NAMES.filter(() => random.chance(50)).map((name) => [name, random.pick(NAMES)]))
  const env = (): JsonObject[] => some((name) => ({ name, value: random.pick(NAMES) }))
  const parts: JsonObject = {
    replicas: random.below(2),
    selector: { matchLabels: texts() },
    strategy: random.pick<JsonObject>([{}, { type: 'a' }, { rollingUpdate: { maxSurge: 1 } }]),
    containers: some((name) => ({ name, image: random.pick(NAMES), ...(random.chance(50) ? { env: env() } : {}) })),
    volumes: some((name) => ({ name, emptyDir: random.pick<JsonObject>([{}, { medium: 'a' }]) })),
    data: texts(),
  }
  const spec = Object.fromEntries(Object.entries(parts).filter(() => random.chance(60)))
  return frozen({ metadata: { labels: texts(), finalizers: NAMES.filter(() => random.chance(40)) }, spec })
}

/** Somebody who applies again may say more or something else of what is said already. */
function grown(config: JsonObject, random: Random): JsonObject {
  const { metadata, spec } = config as { metadata: JsonObject; spec: JsonObject }
  const labels = { ...(metadata['labels'] as JsonObject), [random.pick(NAMES)]: random.pick(NAMES) }
  const more = anyConfig(random)['spec'] as JsonObject
  return frozen({ metadata: { ...metadata, labels }, spec: { ...more, ...spec, replicas: random.below(3) } })
}

t.test('an apply that says all it said before gives what pruning would give', async (t) => {
  const random = new Random(fuzzSeed())
  // A manager of another version, which owns nothing that is there, has the object pruned whatever was applied.
  const converter = { schema: () => workload, convert: (object: JsonObject) => object }
  const pruning = { manager: manager('elsewhere', 'v2'), set: namedFields('kind'), time: undefined }
  for (let round = 0; round < fuzzRounds(1000); round++) {
    const configs = new Map<string, JsonObject>()
    let object: JsonObject = frozen({ spec: {} })
    let managed: Managed = new Map()
    for (let turn = 0; turn < 5; turn++) {
      const who = manager(random.pick(['one', 'two']))
      const last = configs.get(who.name)
      const config = last === undefined || random.chance(30) ? anyConfig(random) : grown(last, random)
      configs.set(who.name, config)
      const live = { apiVersion: 'v1', schema: workload, object }
      const pruned: Managed = new Map([...managed, [managerKey(pruning.manager), pruning]])
      const next = updater({ converter }).apply(live, config, managed, who, true)
      const expected = updater({ converter }).apply(live, config, pruned, who, true)
      pruned.delete(managerKey(pruning.manager))
      if (JSON.stringify([next?.object, ownersOf(managed)]) !== JSON.stringify([expected?.object, ownersOf(pruned)]))
        t.strictSame([next?.object, ownersOf(managed)], [expected?.object, ownersOf(pruned)], `round ${round}`)
      object = frozen(next?.object ?? object)
      managed = new Map(managed)
    }
  }
  t.pass('with each of them, and none wrote into what it was given')
})
