import t from 'tap'
import type { Json } from '#keelson/api/object.js'
import { ItemIdentity, orderMerged } from '#keelson/workers/endpoints/patch/strategic-order.js'

const scalars = new ItemIdentity(undefined)
const order = (merged: string, patch: string, server: string): string =>
  orderMerged([...merged], [...patch], [...server], scalars).join('')

t.test('what the patch names stands in its order, the rest in the server’s', async (t) => {
  t.equal(order('abc', 'ca', 'abc'), 'bca')
  t.equal(order('abcd', 'd', 'abcd'), 'abcd')
  t.equal(order('abx', 'x', 'ab'), 'xab', 'what is new goes before')
  t.equal(order('ab', '', 'ba'), 'ba')
  t.equal(order('', 'a', 'a'), '')
})

t.test('items are told apart by their merge key', async (t) => {
  const named = new ItemIdentity('name')
  const item = (name: string, image = ''): Json => ({ name, image })
  t.same(orderMerged([item('a', '1'), item('b', '2')], [item('b')], [item('b'), item('a')], named), [
    item('b', '2'),
    item('a', '1'),
  ])
  t.throws(() => named.of({ image: 'x' }), {
    code: 'PatchInternal',
    message: /does not contain declared merge key: name/,
  })
  t.throws(() => named.of('text'), { code: 'PatchInternal' })
  t.throws(() => new ItemIdentity('constructor').of({}), { code: 'PatchInternal' })
})
