import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { parseLabelSelector } from '#keelson/api/label-parser.js'
import { LabelValues } from '#keelson/api/label-values.js'
import { MapAttributes } from '#keelson/api/selector.js'
import { Random } from '../support/fuzz.js'

t.test('few values and many are found alike', async (t) => {
  const random = new Random(3)
  for (const size of [0, 1, 2, 15, 16, 17, 18, 100, 1000]) {
    const set = new Set<string>(size > 1 ? [''] : [])
    while (set.size < size) set.add(random.below(1e9).toString(36))
    const sorted = [...set].sort()
    const values = new LabelValues(sorted)
    t.equal(values.size, size)
    t.same(values.list(), sorted)
    t.equal(values.toString(), sorted.join(','))
    t.ok(sorted.every((value) => values.has(value)))
    const others = Array.from({ length: 200 }, () => random.below(1e9).toString(36)).filter((value) => !set.has(value))
    t.notOk([...others, '~', '-', ','].some((value) => values.has(value)))
    t.equal(values.has(''), set.has(''))
  }
})

t.test('a selector of many values matches as one of few', async (t) => {
  const names = Array.from({ length: 6000 }, (_, i) => `x${i.toString(36)}`)
  const inside = parseLabelSelector(`a in (${names.join(',')})`)
  const outside = parseLabelSelector(`a notin (${names.join(',')})`)
  for (const [value, found] of [
    ['x0', true],
    ['x1z', true],
    ['y', false],
    ['', false],
  ] as const) {
    t.equal(inside.matches(new MapAttributes({ a: value })), found)
    t.equal(outside.matches(new MapAttributes({ a: value })), !found)
  }
  t.equal(parseLabelSelector(inside.toString()).toString(), inside.toString())
})

t.test('a selector keeps little more than its characters', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const text = (i: number): string =>
    `a${i} in (${Array.from({ length: 6000 }, (_, j) => `x${j.toString(36)}`).join(',')})`
  const used = (): number => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  parseLabelSelector(text(0))
  const before = used()
  const kept = Array.from({ length: 100 }, (_, i) => parseLabelSelector(text(i)))
  const each = (used() - before) / kept.length
  t.ok(each < 3 * text(0).length, `${Math.round(each / 1024)} KiB for ${Math.round(text(0).length / 1024)} KiB`)
})
