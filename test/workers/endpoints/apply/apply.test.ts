import t from 'tap'
import type { Json, JsonObject, ManagedFieldsEntry } from '#keelson/api/object.js'
import { isStatusError, type Status } from '#keelson/api/status.js'
import { FieldManager, type FieldManagerOptions } from '#keelson/workers/endpoints/apply/field-manager.js'
import { LAST_APPLIED_ANNOTATION } from '#keelson/workers/endpoints/apply/last-applied.js'
import { map, scalar, struct, workload } from '../patch/schemas.js'

const V1 = 'example.com/v1'
const options: FieldManagerOptions = { apiVersion: V1, kind: 'Workload', schema: workload }
const manager = new FieldManager(options)
const NOW = Date.UTC(2026, 0, 1)

function config(spec: Json | undefined, metadata: JsonObject = {}): JsonObject {
  const object: JsonObject = { apiVersion: V1, kind: 'Workload', metadata: { name: 'w', ...metadata } }
  if (spec !== undefined) object['spec'] = spec
  return object
}

const entries = (from: JsonObject): ManagedFieldsEntry[] =>
  ((from['metadata'] as JsonObject)['managedFields'] ?? []) as unknown as ManagedFieldsEntry[]

const owners = (from: JsonObject): Record<string, Json> =>
  Object.fromEntries(entries(from).map(({ manager: who, fieldsV1 }) => [who, fieldsV1 ?? {}]))

function stored(object: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), uid: 'u' } }
}

function apply(live: JsonObject | undefined, spec: Json | undefined, who: string, force = false): JsonObject {
  return stored(manager.apply(live, config(spec), who, { force, now: NOW }).object)
}

function refused(run: () => unknown): Status {
  try {
    run()
  } catch (error) {
    if (isStatusError(error)) return error.status
    throw error
  }
  throw new Error('was not refused')
}

t.test('creates the object, owns its leaves, keys and items', async (t) => {
  const made = apply(
    undefined,
    { replicas: 1, selector: { matchLabels: { a: '1' } }, containers: [{ name: 'a', ports: [{ containerPort: 80 }] }] },
    'one',
  )
  t.strictSame(made['spec'], {
    replicas: 1,
    selector: { matchLabels: { a: '1' } },
    containers: [{ name: 'a', ports: [{ containerPort: 80 }] }],
  })
  t.strictSame(owners(made), {
    one: {
      'f:spec': {
        'f:containers': {
          'k:{"name":"a"}': {
            '.': {},
            'f:name': {},
            'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          },
        },
        'f:replicas': {},
        'f:selector': {},
      },
    },
  })
  t.match(entries(made), [{ operation: 'Apply', time: '2026-01-01T00:00:00Z' }])
})

t.test('the same configuration again changes nothing, and there is nothing to write', async (t) => {
  const live = apply(undefined, { replicas: 1 }, 'one')
  const again = manager.apply(live, config({ replicas: 1 }), 'one', { now: NOW + 60_000 })
  t.notOk(again.changed)
  t.strictSame(again.object, live)
  t.ok(manager.apply(live, config({ replicas: 2 }), 'one', { now: NOW }).changed)
})

t.test('who applies what is already there shares it, without a time of its own', async (t) => {
  const live = apply(undefined, { replicas: 1 }, 'one')
  const shared = manager.apply(live, config({ replicas: 1 }), 'two', { now: NOW })
  t.ok(shared.changed, 'its managers are to be written')
  t.match(entries(shared.object), [{ manager: 'two' }, { manager: 'one' }])
  t.equal(entries(shared.object)[0]?.time, undefined)
})

t.test('what others own is a conflict, one or many', async (t) => {
  const live = apply(apply(undefined, { replicas: 1, revision: 1 }, 'one'), { nodeSelector: { a: '1' } }, 'other')
  t.strictSame(
    refused(() => apply(live, { replicas: 2 }, 'two')),
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "one": .spec.replicas',
      reason: 'Conflict',
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.replicas' }],
      },
      code: 409,
    },
  )
  t.equal(
    refused(() => apply(live, { replicas: 2, revision: 2, nodeSelector: { a: '2' } }, 'two')).message,
    'Apply failed with 3 conflicts: conflicts with "one":\n- .spec.replicas\n- .spec.revision\nconflicts with "other":\n- .spec.nodeSelector',
  )
  const updated = manager.update(
    live,
    { ...live, spec: { replicas: 5, revision: 1, nodeSelector: { a: '1' } } },
    'ctl',
    { now: NOW },
  )
  t.equal(
    refused(() => apply(updated, { replicas: 2 }, 'two')).message,
    'Apply failed with 1 conflict: conflict with "ctl" using example.com/v1: .spec.replicas',
  )
})

t.test('force takes what others own', async (t) => {
  const live = apply(undefined, { replicas: 1, revision: 1 }, 'one')
  const taken = apply(live, { replicas: 2 }, 'two', true)
  t.strictSame(owners(taken), { one: { 'f:spec': { 'f:revision': {} } }, two: { 'f:spec': { 'f:replicas': {} } } })
  t.strictSame(taken['spec'], { replicas: 2, revision: 1 })
})

t.test('what is no longer applied goes, unless somebody else owns it', async (t) => {
  const live = apply(
    apply(undefined, { replicas: 1, revision: 1, strategy: { type: 'a' } }, 'one'),
    { revision: 1 },
    'two',
  )
  const less = apply(live, { replicas: 1 }, 'one')
  t.strictSame(less['spec'], { replicas: 1, revision: 1 })
  t.strictSame(owners(less), { one: { 'f:spec': { 'f:replicas': {} } }, two: { 'f:spec': { 'f:revision': {} } } })
  const none = apply(less, undefined, 'one')
  t.strictSame(none['spec'], { revision: 1 })
  t.strictSame(owners(none), { two: { 'f:spec': { 'f:revision': {} } } })
})

t.test('items go with all that was defaulted in them, but not what others put there', async (t) => {
  const made = apply(undefined, { containers: [{ name: 'a' }, { name: 'b', image: '1' }] }, 'one')
  const defaulted = {
    ...made,
    spec: {
      containers: [
        { name: 'a', image: 'd' },
        { name: 'b', image: '1', args: ['default'] },
      ],
    },
  }
  t.strictSame(apply(defaulted, { containers: [{ name: 'a' }] }, 'one')['spec'], {
    containers: [{ name: 'a', image: 'd' }],
  })
  const shared = apply(defaulted, { containers: [{ name: 'b', env: [{ name: 'E' }] }] }, 'two')
  t.strictSame(apply(shared, { containers: [{ name: 'a' }] }, 'one')['spec'], {
    containers: [
      { name: 'a', image: 'd' },
      { name: 'b', args: ['default'], env: [{ name: 'E' }] },
    ],
  })
})

t.test('a key that is left to its default names the same item', async (t) => {
  const live = apply(undefined, { containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'web' }] }] }, 'one')
  const ports = [{ containerPort: 80, protocol: 'UDP' }]
  const both = apply(live, { containers: [{ name: 'a', ports }] }, 'two')
  t.strictSame(both['spec'], {
    containers: [
      {
        name: 'a',
        ports: [
          { containerPort: 80, name: 'web' },
          { containerPort: 80, protocol: 'UDP' },
        ],
      },
    ],
  })
  const same = apply(
    both,
    { containers: [{ name: 'a', ports: [{ containerPort: 80, protocol: 'TCP', name: 'web' }] }] },
    'one',
  )
  t.equal(((same['spec'] as JsonObject)['containers'] as { ports: Json[] }[])[0]!.ports.length, 2)
})

t.test('atomic lists and maps are taken and given back whole; sets item by item', async (t) => {
  const one = apply(undefined, { tolerations: [{ key: 'a' }], nodeSelector: { a: '1' } }, 'one')
  t.equal(refused(() => apply(one, { tolerations: [{ key: 'b' }] }, 'two')).code, 409)
  t.strictSame(apply(one, { nodeSelector: { b: '2' } }, 'one')['spec'], { nodeSelector: { b: '2' } })
  const finalizers = (live: JsonObject | undefined, list: string[], who: string): JsonObject =>
    stored(manager.apply(live, config(undefined, { finalizers: list }), who, { now: NOW }).object)
  const two = finalizers(finalizers(undefined, ['x', 'y'], 'one'), ['y', 'z'], 'two')
  t.match(two['metadata'], { finalizers: ['x', 'y', 'z'] })
  t.match(finalizers(two, ['x'], 'one')['metadata'], { finalizers: ['x', 'y', 'z'] })
  t.match(finalizers(finalizers(two, ['x'], 'one'), [], 'two')['metadata'], { finalizers: ['x'] })
})

t.test('items keep the order of the configuration, and the object’s own stay where they are', async (t) => {
  const order = (live: string[], applied: string[]): string[] => {
    const list = (names: string[]): Json => ({ containers: names.map((name) => ({ name })) })
    const object = manager.update(undefined, { ...config(list(live)), status: {} }, 'x', { now: NOW })
    const merged = apply(stored(object), list(applied), 'one')['spec'] as { containers: { name: string }[] }
    return merged.containers.map(({ name }) => name)
  }
  t.strictSame(order(['a', 'b', 'c'], ['b']), ['a', 'b', 'c'])
  t.strictSame(order(['a', 'b'], ['c']), ['a', 'b', 'c'])
  t.strictSame(order(['a', 'b', 'c'], ['c', 'a']), ['b', 'c', 'a'])
  t.strictSame(order(['a', 's', 'b'], ['n', 'a', 'b']), ['n', 'a', 's', 'b'])
  t.strictSame(order(['s', 't'], ['b', 'a']), ['s', 't', 'b', 'a'])
})

t.test('refuses what does not fit the type or names another', async (t) => {
  const message = (spec: Json): string | undefined => {
    const status = refused(() => apply(undefined, spec, 'one'))
    t.equal(status.code, 500)
    return status.message?.replace(/.*Kind=Workload\): /s, '')
  }
  t.equal(message({ bogus: 1 }), '.spec.bogus: field not declared in schema')
  t.equal(
    message({ containers: [{ name: 'q' }, { name: 'q' }] }),
    '.spec.containers: duplicate entries for key [name="q"]',
  )
  t.match(message({ replicas: 'x' }), /^\.spec\.replicas: expected numeric/)
  t.match(message({ containers: {} }), /^\.spec\.containers: expected list/)
  t.match(message({ strategy: [] }), /^\.spec\.strategy: expected map/)
  t.match(message({ containers: [null] }), /^\.spec\.containers: element 0: /)
  t.match(message({ containers: ['x'], replicas: 'x' }), /^errors:\n {2}/)
  t.match(
    refused(() => manager.apply(undefined, config({}, { managedFields: [] }), 'one', { now: NOW })),
    { code: 400, message: 'metadata.managedFields must be nil' },
  )
  t.match(
    refused(() => manager.apply(undefined, { kind: 'Workload' }, 'one', { now: NOW })),
    { code: 400, message: 'invalid object type: /, Kind=Workload' },
  )
  t.match(
    refused(() => manager.apply(undefined, { ...config({}), apiVersion: 'example.com/v2' }, 'one', { now: NOW })),
    { code: 400 },
  )
})

t.test('a resourceVersion in the configuration goes to the object, where a stale one is a conflict', async (t) => {
  const live = { ...apply(undefined, { replicas: 1 }, 'one') }
  const { object, changed } = manager.apply(live, config({ replicas: 1 }, { resourceVersion: '1' }), 'one', {
    now: NOW,
  })
  t.match(object['metadata'], { resourceVersion: '1' })
  t.ok(changed)
})

t.test('what was there before the first apply is owned as such', async (t) => {
  const live = stored(config({ replicas: 1 }))
  const next = apply(live, { revision: 1 }, 'one')
  t.strictSame(owners(next), {
    'before-first-apply': { 'f:spec': { 'f:replicas': {} } },
    one: { 'f:spec': { 'f:revision': {} } },
  })
  t.equal(
    refused(() => apply(live, { replicas: 2 }, 'one')).message,
    'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.replicas',
  )
})

t.test('kubectl takes over what its client-side apply had set and nobody changed since', async (t) => {
  const client = config({ replicas: 1, revision: 9007199254740991 })
  const annotated = {
    ...client,
    metadata: { name: 'w', annotations: { [LAST_APPLIED_ANNOTATION]: JSON.stringify(client) } },
    status: {},
  }
  const live = stored(manager.update(undefined, annotated, 'kubectl-client-side-apply', { now: NOW }))
  t.equal(refused(() => apply(live, { replicas: 2 }, 'other')).code, 409, 'nobody else may')
  const taken = apply(live, { replicas: 2 }, 'kubectl')
  t.match(taken['spec'], { replicas: 2 })
  const annotation = (taken['metadata'] as { annotations: Record<string, string> }).annotations[LAST_APPLIED_ANNOTATION]
  t.equal(
    annotation,
    '{"apiVersion":"example.com/v1","kind":"Workload","metadata":{"name":"w"},"spec":{"replicas":2}}\n',
  )
  const changedSince = stored(manager.update(live, { ...live, spec: { replicas: 7 } }, 'someone', { now: NOW }))
  t.equal(refused(() => apply(changedSince, { replicas: 2 }, 'kubectl')).code, 409)
})

t.test('managers of other versions keep their fields, in their version', async (t) => {
  const old = struct('Old', {
    apiVersion: scalar(),
    kind: scalar(),
    metadata: map(scalar('any')),
    spec: struct('OldSpec', { count: scalar('int32') }),
  })
  const convert = (object: JsonObject): JsonObject => {
    const spec = (object['spec'] ?? {}) as JsonObject
    return {
      ...object,
      apiVersion: 'example.com/v1beta1',
      spec: spec['replicas'] === undefined ? {} : { count: spec['replicas'] },
    }
  }
  const versioned = new FieldManager({
    ...options,
    converter: {
      schema: (version) => (version === 'example.com/v1beta1' ? old : undefined),
      convert: (object, version) => (version === V1 ? object : convert(object)),
    },
  })
  const entry = (apiVersion: string, manager: string, fieldsV1: JsonObject): JsonObject => ({
    manager,
    operation: 'Update',
    apiVersion,
    fieldsType: 'FieldsV1',
    fieldsV1,
  })
  const managedFields = [
    entry('example.com/v1beta1', 'beta', { 'f:spec': { 'f:count': {} } }),
    entry('example.com/v0', 'gone', { 'f:spec': { 'f:count': {} } }),
  ]
  const live = stored(config({ replicas: 1 }, { managedFields }))
  t.equal(
    refused(() => versioned.apply(live, config({ replicas: 2 }), 'one', { now: NOW })).message,
    'Apply failed with 1 conflict: conflict with "beta" using example.com/v1beta1: .spec.count',
  )
  const kept = versioned.apply(live, config({ revision: 2 }), 'one', { now: NOW }).object
  t.strictSame(owners(kept), { one: { 'f:spec': { 'f:revision': {} } }, beta: { 'f:spec': { 'f:count': {} } } })
  const updated = versioned.update(live, { ...live, spec: { replicas: 3 } }, 'two', { now: NOW })
  t.strictSame(owners(updated), { two: { 'f:spec': { 'f:replicas': {} } } })
})

t.test('open parts of custom resources are as granular as they are, and their nulls are kept', async (t) => {
  const custom = new FieldManager({ ...options, custom: true })
  const made = custom.apply(undefined, config({ data: { a: { b: 1 }, l: [1] }, replicas: null }), 'one', {
    now: NOW,
  }).object
  t.strictSame(owners(made), {
    one: { 'f:spec': { 'f:data': { 'f:a': { '.': {}, 'f:b': {} }, 'f:l': {} }, 'f:replicas': {} } },
  })
  t.match(made['spec'], { replicas: null })
  const next = custom.apply(stored(made), config({ data: { l: [2] } }), 'one', { now: NOW }).object
  t.strictSame(next['spec'], { data: { l: [2] } })
})

t.test('what is applied empty stays, whatever was in it before', async (t) => {
  const live = apply(undefined, { volumes: [{ name: 'v', emptyDir: { medium: 'x' } }], strategy: { type: 'a' } }, 'one')
  const next = apply(live, { volumes: [{ name: 'v', emptyDir: {} }] }, 'one')
  t.strictSame(next['spec'], { volumes: [{ name: 'v', emptyDir: {} }] })
})

t.test('whole numbers beyond 2^53 come through', async (t) => {
  const live = apply(undefined, { revision: 9007199254740993n }, 'one')
  t.strictSame(apply(live, { revision: 9007199254740993n, replicas: 1 }, 'one')['spec'], {
    revision: 9007199254740993n,
    replicas: 1,
  })
  t.equal(refused(() => apply(live, { revision: 9007199254740992 }, 'two')).code, 409)
})
