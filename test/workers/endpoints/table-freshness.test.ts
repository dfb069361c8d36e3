import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { humanDuration } from '#keelson/registry/generic/table-columns.js'
import { cellsLastMs } from '#keelson/workers/endpoints/table.js'

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
