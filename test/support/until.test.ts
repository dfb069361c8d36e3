import t from 'tap'
import { until } from './until.js'

t.test('it looks until the condition holds', async (t) => {
  let looks = 0
  await until(async () => ++looks === 3, { what: 'the third look' })
  t.equal(looks, 3)
})

t.test('past its deadline it says what did not come', async (t) => {
  const never = until(() => false, { what: 'Godot', deadlineMs: 1 })
  await t.rejects(never, { message: 'waited 1 ms in vain for: Godot' })
})

t.test('a condition that fails is not asked again', async (t) => {
  let looks = 0
  const failing = (): boolean => {
    looks++
    throw new Error('broken')
  }
  await t.rejects(until(failing, { what: 'nothing' }), { message: 'broken' })
  t.equal(looks, 1)
})
