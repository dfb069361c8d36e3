import t from 'tap'
import { Warnings } from '#keelson/workers/endpoints/warnings.js'

const shown = (...texts: string[]): string[] => {
  const warnings = new Warnings()
  for (const text of texts) warnings.add(text)
  return warnings.shown()
}

t.test('each thing is said once, in order', async (t) => {
  t.same(shown('b', 'a', 'b', ''), ['b', 'a'])
  const many = Array.from({ length: 100 }, (_, i) => `unknown field ${i}`)
  t.same(shown(...many), many)
})

t.test('what is long is cut, what is too much is left out', async (t) => {
  const long = shown('short', 'x'.repeat(50_000))
  t.same(long, ['short', 'x'.repeat(256)])
  const many = shown(...Array.from({ length: 100_000 }, (_, i) => `${i} ${'y'.repeat(300)}`))
  t.equal(many.length, 16)
  for (const one of shown('😀'.repeat(5000))) t.equal([...one].length, 256, 'not within a character')
})
