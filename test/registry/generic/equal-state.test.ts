import t from 'tap'
import { equalState } from '#keelson/registry/generic/equal-state.js'

t.test('what says the same is equal', async (t) => {
  t.equal(equalState({ a: [1, { b: 'x' }] }, { a: [1, { b: 'x' }] }), true)
  t.equal(equalState({ a: 1, b: 2 }, { b: 2, a: 1 }), true)
  t.equal(equalState({ a: [] }, {}), true, 'a list without items is none')
  t.equal(equalState({ a: null }, {}), true)
  t.equal(equalState([], undefined), true)
})

t.test('what does not is not', async (t) => {
  t.equal(equalState({ a: {} }, {}), false, 'an object without members may be a pointer’s')
  t.equal(equalState({ a: 1 }, { a: '1' }), false)
  t.equal(equalState([1, 2], [2, 1]), false)
  t.equal(equalState([1], [1, 2]), false)
  t.equal(equalState([1], { 0: 1 }), false)
  t.equal(equalState('', undefined), false)
  t.equal(equalState({ a: 0 }, {}), false)
  t.equal(equalState({}, { a: 0 }), false)
})

t.test('members may be called as anything that every object has', async (t) => {
  for (const name of ['constructor', 'toString', '__proto__', 'valueOf']) {
    const members = JSON.parse(`{"${name}":"x"}`) as object
    t.equal(equalState({}, members), false, name)
    t.equal(equalState(members, {}), false, name)
    t.equal(equalState(members, JSON.parse(`{"${name}":"x"}`)), true, name)
    t.equal(equalState({ [name]: [] }, {}), true, name)
  }
})
