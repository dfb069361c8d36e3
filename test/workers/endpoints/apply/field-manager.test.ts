import t from 'tap'
import { namedFields, recursiveDifference } from '#keelson/api/managed-fields/field-set.js'
import { ScaleHandler } from '#keelson/api/managed-fields/scale-handler.js'
import type { Json, JsonObject, ManagedFieldsEntry } from '#keelson/api/object.js'
import { FieldManager } from '#keelson/workers/endpoints/apply/field-manager.js'
import { workload } from '../patch/schemas.js'

const V1 = 'example.com/v1'
const options = { apiVersion: V1, kind: 'Workload', schema: workload }
const manager = new FieldManager(options)
const status = new FieldManager({
  ...options,
  subresource: 'status',
  resetFields: new Map([[V1, (set) => recursiveDifference(set, namedFields('spec'))]]),
})
const at = (second: number): { now: number } => ({ now: Date.UTC(2026, 0, 1, 0, 0, second) })

function object(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: V1, kind: 'Workload', metadata: { name: 'w', ...metadata }, spec, status: {} }
}

const stored = (from: JsonObject): JsonObject => ({
  ...from,
  metadata: { ...(from['metadata'] as JsonObject), uid: 'u' },
})

const entries = (from: JsonObject): ManagedFieldsEntry[] =>
  ((from['metadata'] as JsonObject)['managedFields'] ?? []) as unknown as ManagedFieldsEntry[]

const owners = (from: JsonObject): Record<string, Json> =>
  Object.fromEntries(entries(from).map(({ manager: who, fieldsV1 }) => [who, fieldsV1 ?? {}]))

const create = (spec: JsonObject, metadata?: JsonObject): JsonObject =>
  stored(manager.update(undefined, object(spec, metadata), 'creator', at(0)))

const change = (live: JsonObject, spec: JsonObject, who: string, second: number): JsonObject =>
  manager.update(live, { ...live, spec }, who, at(second))

t.test('a create owns what it sets, not what the server keeps or what is always there', async (t) => {
  const made = manager.update(
    undefined,
    object({ replicas: 1, containers: [{ name: 'a' }] }, { labels: { l: '1' }, namespace: 'n', resourceVersion: '5' }),
    'creator',
    at(7),
  )
  t.strictSame(entries(made), [
    {
      manager: 'creator',
      operation: 'Update',
      apiVersion: V1,
      time: '2026-01-01T00:00:07Z',
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
        'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } }, 'f:replicas': {} },
      },
    },
  ])
  t.equal(
    JSON.stringify(entries(made)[0]),
    '{"manager":"creator","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-01T00:00:07Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:l":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{}}},"f:replicas":{}}}}',
  )
})

t.test('a nameless writer is "unknown"; one that sets nothing is nobody', async (t) => {
  t.strictSame(owners(manager.update(undefined, object({ replicas: 1 }), '', at(0))), {
    unknown: { 'f:spec': { 'f:replicas': {} } },
  })
  t.strictSame(entries(manager.update(undefined, object({}), 'nobody', at(0))), [])
})

t.test('an update takes what it changes, and only that', async (t) => {
  const live = create({ replicas: 1, containers: [{ name: 'a', image: '1' }] })
  const next = change(live, { replicas: 2, containers: [{ name: 'a', image: '1' }] }, 'other', 1)
  t.strictSame(owners(next), {
    creator: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:name': {} } } } },
    other: { 'f:spec': { 'f:replicas': {} } },
  })
})

t.test('what an update removes is nobody’s', async (t) => {
  const live = create({ replicas: 1, containers: [{ name: 'a' }, { name: 'b' }] })
  t.strictSame(owners(change(live, { containers: [{ name: 'a' }] }, 'other', 1)), {
    creator: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } } },
  })
})

t.test('nothing changed: the entries stay as they are, time too', async (t) => {
  const live = create({ replicas: 1 })
  t.strictSame(change(live, { replicas: 1 }, 'creator', 9), live)
  t.strictSame(change(live, { replicas: 1 }, 'other', 9), live)
})

t.test('the same manager gathers its fields under the newest time', async (t) => {
  const live = create({ replicas: 1 })
  const next = change(live, { replicas: 1, nodeSelector: { a: 'b' } }, 'creator', 3)
  t.match(entries(next), [{ manager: 'creator', time: '2026-01-01T00:00:03Z' }])
  t.strictSame(owners(next), { creator: { 'f:spec': { 'f:nodeSelector': {}, 'f:replicas': {} } } })
})

t.test('atomic fields go as a whole; a list whose order changed is unchanged', async (t) => {
  const live = create({
    selector: { matchLabels: { a: '1' } },
    tolerations: [1, 2],
    containers: [{ name: 'a' }, { name: 'b' }],
  })
  const next = change(
    live,
    { selector: { matchLabels: { a: '2' } }, tolerations: [2, 1], containers: [{ name: 'b' }, { name: 'a' }] },
    'other',
    1,
  )
  t.strictSame(owners(next)['other'], { 'f:spec': { 'f:selector': {}, 'f:tolerations': {} } })
})

t.test('managedFields of a request: cleared, set, or ignored when they make no sense', async (t) => {
  const live = create({ replicas: 1 })
  const send = (managedFields: Json, by = manager): JsonObject =>
    by.update(live, { ...live, metadata: { ...(live['metadata'] as JsonObject), managedFields } }, 'x', at(1))
  t.strictSame(entries(send([{}])), [], 'cleared')
  t.strictSame(entries(send([])), [], 'cleared')
  t.strictSame(entries(send(null)), entries(live))
  const own = {
    manager: 'me',
    operation: 'Apply',
    apiVersion: V1,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  }
  t.strictSame(entries(send([own])), [own])
  for (const bad of [
    { ...own, operation: 'x' },
    { ...own, apiVersion: '' },
    { ...own, fieldsType: 'x' },
    { ...own, fieldsV1: { bad: {} } },
  ])
    t.strictSame(entries(send([bad])), entries(live), 'ignored')
  t.strictSame(entries(send([{}], status)), entries(live), 'not of a subresource')
})

t.test('an object without managers gets none by an update', async (t) => {
  const live = stored(object({ replicas: 1 }))
  t.strictSame(entries(change(live, { replicas: 2 }, 'x', 1)), [])
})

t.test('a subresource has owners of its own, and no claim on what its strategy resets', async (t) => {
  const live = create({ replicas: 1 })
  const next = status.update(live, { ...live, spec: { replicas: 9 }, status: { ready: true } }, 'creator', at(1))
  t.match(entries(next), [
    { manager: 'creator', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    { manager: 'creator', subresource: 'status', fieldsV1: { 'f:status': { 'f:ready': {} } } },
  ])
})

t.test('items that occur twice are owned as one', async (t) => {
  const live = create({
    containers: [
      { name: 'a', image: '1' },
      { name: 'a', image: '2' },
    ],
  })
  t.strictSame(owners(live), { creator: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': {} } } } })
  const next = change(live, { containers: [{ name: 'a', image: '1' }] }, 'other', 1)
  t.strictSame(owners(next), {
    other: { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:name': {} } } } },
  })
})

t.test('an object that does not fit its type has no managers any more', async (t) => {
  const live = create({ containers: [{ name: 'a' }] })
  t.strictSame(entries(change(live, { containers: [null] }, 'other', 1)), [])
})

t.test('of more than ten updaters the oldest become ancient changes', async (t) => {
  let live = create({ nodeSelector: {} })
  for (let i = 1; i <= 12; i++) {
    const labels = Object.fromEntries(Array.from({ length: i }, (_, j) => [`l${j}`, 'x']))
    live = stored(
      manager.update(live, { ...live, metadata: { ...(live['metadata'] as JsonObject), labels } }, `m${i}`, at(i)),
    )
  }
  const names = entries(live).map((entry) => entry.manager)
  t.equal(names.length, 10)
  t.strictSame(names.slice(0, 2), ['ancient-changes', 'm4'])
  t.match(entries(live)[0], {
    time: '2026-01-01T00:00:03Z',
    fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:l0': {}, 'f:l2': {} } } },
  })
})

t.test('fields below what has become atomic are folded into it', async (t) => {
  const old = {
    manager: 'old',
    operation: 'Update',
    apiVersion: V1,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:nodeSelector': { '.': {}, 'f:a': {} } } },
  }
  const live = stored(object({ nodeSelector: { a: '1' } }, { managedFields: [old] }))
  t.strictSame(owners(change(live, { nodeSelector: { a: '1' }, replicas: 1 }, 'new', 1)), {
    old: { 'f:spec': { 'f:nodeSelector': {} } },
    new: { 'f:spec': { 'f:replicas': {} } },
  })
})

t.test('a Scale shows the owners of the replicas, and hands them back', async (t) => {
  const live = create({ replicas: 1, revision: 1 })
  const paths = new Map([[V1, ['f:spec', 'f:replicas']]])
  const scaled = new ScaleHandler(entries(live), V1, paths)
  const shown = scaled.toSubresource() ?? []
  t.match(shown, [{ manager: 'creator', apiVersion: 'autoscaling/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }])
  t.strictSame(scaled.toParent(shown), entries(live), 'unchanged')
  const taken = [{ ...shown[0]!, manager: 'hpa', subresource: 'scale', time: '2026-01-01T00:00:09Z' }]
  t.strictSame(owners({ metadata: { managedFields: scaled.toParent(taken) as unknown as Json } }), {
    hpa: { 'f:spec': { 'f:replicas': {} } },
    creator: { 'f:spec': { 'f:revision': {} } },
  })
})
