import t from 'tap'
import type { ResourceInfo } from '#keelson/api/catalogue.js'
import { humanDuration } from '#keelson/api/human-duration.js'
import type { KubeObject } from '#keelson/api/object.js'
import {
  cellsLastMs,
  columnsOf,
  hasTable,
  partialObjectMetadata,
  rowOf,
  tableOf,
} from '#keelson/workers/endpoints/table.js'

const CREATED = Date.parse('2024-01-01T00:00:00Z')
const object: KubeObject = { metadata: { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' } }
const rules = {
  table: { columns: [], cells: (_: KubeObject, nowMs: number) => ['a', humanDuration(nowMs - CREATED)] },
}
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

t.test('a row is fresh until its first age changes', async (t) => {
  for (const [age, lasts] of [
    [400, 600],
    [5 * SECOND, SECOND],
    [9 * MINUTE + 250, 750],
    [20 * MINUTE + 15 * SECOND, 45 * SECOND],
    [5 * HOUR + 59 * SECOND, SECOND],
    [10 * HOUR + 10 * MINUTE, 50 * MINUTE],
    [100 * 24 * HOUR, HOUR],
  ] as const) {
    t.equal(cellsLastMs(object, rules, CREATED + age), lasts, humanDuration(age))
  }
})

t.test('a row without ages is looked at again now and then', async (t) => {
  t.equal(cellsLastMs(object, {}, CREATED + 5 * SECOND), HOUR)
})

const INFO = { resource: 'things', verbs: ['get', 'list'], definitionHash: undefined } as unknown as ResourceInfo

t.test('what is listed has a table, and so have scales and most statuses', async (t) => {
  const has = (subresource: string, info: Partial<ResourceInfo> = {}) =>
    hasTable({ info: { ...INFO, ...info }, subresource })
  t.equal(has(''), true)
  t.equal(has('', { verbs: ['create'] }), false, 'reviews are answered as themselves')
  t.equal(has('scale'), true)
  t.equal(has('status'), true)
  t.equal(has('status', { resource: 'apiservices' }), false)
  t.equal(has('eviction'), false)
  t.equal(has('anything', { definitionHash: 'h' }), true)
})

t.test('kinds without columns of their own show name and creation', async (t) => {
  const options = { version: 'v1', include: 'None', nowMs: CREATED } as const
  t.same(rowOf(object, {}, options), { cells: ['a', '2024-01-01T00:00:00Z'], object: undefined })
  t.same(
    columnsOf({}).map(({ name, format, priority }) => [name, format, priority]),
    [
      ['Name', 'name', 0],
      ['Created At', '', 0],
    ],
  )
  t.match(tableOf([object, object], { resourceVersion: '3' }, {}, options), {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '3' },
    rows: { length: 2 },
  })
  t.equal(tableOf([], {}, {}, { ...options, columns: false })['columnDefinitions'], null)
})

t.test('annotations that stand for fields are no metadata', async (t) => {
  const annotated: KubeObject = { metadata: { name: 'a', annotations: { field: '1', other: '2' } } }
  const shown = (fieldAnnotations?: string[]) =>
    partialObjectMetadata(annotated, 'v1', fieldAnnotations === undefined ? {} : { fieldAnnotations }).metadata
  t.same(shown(), annotated.metadata)
  t.same(shown(['field']), { name: 'a', annotations: { other: '2' } })
  t.same(shown(['field', 'other']), { name: 'a' }, 'nor is an empty map of them')
})
