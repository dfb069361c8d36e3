import t from 'tap'
import type { Json } from '#keelson/api/object.js'
import { TypedError } from '#keelson/workers/endpoints/apply/typed-error.js'
import {
  indexItems,
  isDeclared,
  itemElement,
  memberType,
  shapeOf,
} from '#keelson/workers/endpoints/apply/typed-walk.js'
import { atomicList, keyedList, map, scalar, setList, struct } from '../patch/schemas.js'

const item = struct('I', { port: scalar('int32'), protocol: { type: scalar(), default: 'TCP' } })
const keyed = keyedList(item, ['port', 'protocol'])
const set = setList(scalar())

t.test('a value is a leaf, has members or has items, as its type says', async (t) => {
  t.equal(shapeOf(struct('S', {}), {}), 'members')
  t.equal(shapeOf(struct('S', {}, true), {}), 'leaf')
  t.equal(shapeOf(map(scalar()), null), 'members')
  t.equal(shapeOf(map(scalar(), true), {}), 'leaf')
  t.equal(shapeOf(keyed, []), 'items')
  t.equal(shapeOf(atomicList(scalar()), []), 'leaf')
  t.equal(shapeOf(scalar(), 'x'), 'leaf')
})

t.test('what a type leaves open is as granular as it is, unless it is raw JSON', async (t) => {
  const any = scalar('any')
  t.equal(shapeOf(any, {}), 'members')
  t.equal(shapeOf(any, null), 'members')
  t.equal(shapeOf(any, []), 'leaf')
  t.equal(shapeOf(any, 5), 'leaf')
  t.equal(shapeOf({ kind: 'any', name: 'RawExtension' }, {}), 'leaf')
})

t.test('members have the types of their fields', async (t) => {
  t.equal(memberType(item, 'port').kind, 'int32')
  t.equal(memberType(item, 'unknown').kind, 'any')
  t.equal(memberType(item, 'constructor').kind, 'any')
  t.equal(memberType(map(scalar('boolean')), 'x').kind, 'boolean')
  t.equal(isDeclared(item, 'port'), true)
  t.equal(isDeclared(item, 'constructor'), false)
  t.equal(isDeclared(map(scalar()), 'x'), false)
})

t.test('items are named by their keys, absent ones by their default', async (t) => {
  t.equal(itemElement(keyed, { port: 80 }), 'k:{"port":80,"protocol":"TCP"}')
  t.equal(itemElement(keyed, { protocol: 'UDP', port: 80, other: 1 }), 'k:{"port":80,"protocol":"UDP"}')
  t.equal(itemElement(keyed, {}), 'k:{"protocol":"TCP"}')
  t.equal(itemElement(set, 'x'), 'v:"x"')
  t.equal(itemElement(set, 5), 'v:5')
})

t.test('what cannot be named is told', async (t) => {
  const bare = keyedList(struct('I', { port: scalar('int32') }), ['port'])
  for (const [list, value] of [
    [keyed, null],
    [keyed, 'text'],
    [keyed, { port: {} }],
    [bare, {}],
    [set, null],
    [set, []],
    [set, {}],
  ] as [typeof keyed, Json][])
    t.throws(() => itemElement(list, value), TypedError, JSON.stringify(value))
})

t.test('items by their element; of those that occur more often, all', async (t) => {
  const index = indexItems(set, ['a', 'b', 'a', 'a'])
  t.same(
    [...index],
    [
      ['v:"a"', ['a', 'a', 'a']],
      ['v:"b"', 'b'],
    ],
  )
})
