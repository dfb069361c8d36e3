import t from 'tap'
import { parseIndex, parsePointer } from '#keelson/workers/endpoints/patch/json-pointer.js'

t.test('the tokens of a pointer', async (t) => {
  t.same(parsePointer(''), [])
  t.same(parsePointer('/a/b'), ['a', 'b'])
  t.same(parsePointer('/'), [''])
  t.same(parsePointer('/a~1b/c~0d/~01'), ['a/b', 'c~d', '~1'])
  t.same(parsePointer('/a~2/~'), ['a~2', '~'], 'what escapes nothing is itself')
  t.same(parsePointer('x/a'), ['a'], 'what stands before the first slash is not looked at')
})

t.test('indexes count from either end, within the list', async (t) => {
  t.equal(parseIndex('0', 3), 0)
  t.equal(parseIndex('+2', 3), 2)
  t.equal(parseIndex('002', 3), 2)
  t.equal(parseIndex('-1', 3), 2)
  t.equal(parseIndex('-3', 3), 0)
  for (const token of ['3', '-4', '', '-', '1.0', '1e0', ' 1', '99999999999999999999'])
    t.equal(parseIndex(token, 3), undefined, token)
})
