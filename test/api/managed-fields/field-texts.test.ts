import t from 'tap'
import { fieldTexts } from '#keelson/api/managed-fields/field-texts.js'

t.test('a set is known by the text that was printed of it', (t) => {
  const set = { 'f:spec': { 'k:{"name":"<a>"}': {} } }
  const text = '{"f:spec":{"k:{\\"name\\":\\"<a>\\"}":{}}}'
  t.equal(fieldTexts.setOf(text), undefined)
  t.equal(fieldTexts.textOf(set), text, 'as it is stored: nothing is escaped for clients')
  t.equal(fieldTexts.setOf(text), set)
  t.equal(fieldTexts.textOf(structuredClone(set)), text)
  t.equal(fieldTexts.setOf(text), set, 'an equal set does not take its place')
  t.end()
})

t.test('the oldest texts are forgotten, and long ones are not kept', (t) => {
  const first = fieldTexts.textOf({ 'f:first': {} })
  for (let i = 0; i < 1000; i++) fieldTexts.textOf({ [`f:${i}`]: {} })
  t.equal(fieldTexts.setOf(first), undefined)
  t.same(fieldTexts.setOf('{"f:999":{}}'), { 'f:999': {} })
  const long = fieldTexts.textOf({ [`f:${'x'.repeat(10_000)}`]: {} })
  t.equal(fieldTexts.setOf(long), undefined)
  t.end()
})
