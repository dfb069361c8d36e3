import t from 'tap'
import type { Json, JsonObject } from '#keelson/api/object.js'
import {
  type ItemMerger,
  MAX_REPEATED_BYTES,
  mergeList,
  RepeatedMerges,
} from '#keelson/workers/endpoints/patch/strategic-list.js'
import { scalar } from './schemas.js'

const keyed = { strategy: 'merge', mergeKey: 'name', type: scalar('any') } as const
const merged = (original: Json[], patch: Json[], mergeKey: string | undefined = 'name'): Json[] =>
  mergeList(original, patch, { ...keyed, mergeKey }, merger())

const merger = (): ItemMerger => ({
  mergeItem: (before: JsonObject, after: JsonObject) => ({ ...before, ...after }),
  cleanItem: (item) => item,
  repeated: new RepeatedMerges(),
})

t.test('scalars are a set', async (t) => {
  t.same(merged(['a', 'b'], ['c', 'a'], undefined), ['c', 'a', 'b'])
  t.same(merged([], [], undefined), [])
})

t.test('objects merge by their key, directives take some away', async (t) => {
  t.same(merged([{ name: 'a', x: 1 }], [{ name: 'a', y: 2 }]), [{ name: 'a', x: 1, y: 2 }])
  t.same(merged([{ name: 'a' }, { name: 'b' }], [{ $patch: 'delete', name: 'a' }]), [{ name: 'b' }])
  t.same(merged([{ name: 'a' }], [{ $patch: 'replace' }, { name: 'z' }]), [{ name: 'z' }])
  t.same(merged([{ name: 'a' }], [{ $patch: 'delete', name: 'x' }]), [{ name: 'a' }], 'what is not there is gone')
})

t.test('one patch may name an item twice', async (t) => {
  t.same(
    merged(
      [],
      [
        { name: 'a', x: 1 },
        { name: 'a', y: 2 },
      ],
    ),
    [{ name: 'a', x: 1, y: 2 }],
  )
})

t.test('what a patch names again and again is merged as often as a bound allows', async (t) => {
  const big = { name: 'a', text: 'x'.repeat(MAX_REPEATED_BYTES / 10) }
  const again = (times: number): Json[] =>
    merged(
      [big],
      Array.from({ length: times }, (_, y) => ({ name: 'a', y })),
    )
  t.same(again(9), [{ ...big, y: 8 }])
  t.throws(() => again(12), { code: 'PatchTooLarge' })
})

t.test('what cannot be merged is classed', async (t) => {
  const internal = { code: 'PatchInternal' }
  t.throws(() => merged([{ name: 'a' }], [{ x: 1 }]), internal)
  t.throws(() => merged([{ name: 'a' }], [{ $patch: 'delete' }]), internal)
  t.throws(() => merged([{ name: 'a' }], [{ $patch: 'merge', name: 'a' }]), internal)
  t.throws(() => merged([{ name: 'a' }], [{ $patch: 'nonsense' }]), internal)
  t.throws(() => merged([{ name: 'a' }], ['a']), internal, 'mixed kinds')
  t.throws(() => merged([null], [null]), internal)
  t.throws(() => merged([['a']], [['b']]), { code: 'PatchUnprocessable' })
  t.throws(() => mergeList([{ a: 1 }], [{ a: 2 }], { ...keyed, mergeKey: undefined }, merger()), internal)
})
