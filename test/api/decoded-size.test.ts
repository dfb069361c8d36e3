import t from 'tap'
import { checkJsonSize, DecodedSizeError, MAX_DECODED_VALUES } from '#keelson/api/decoded-size.js'
import { parseDuration } from '#keelson/api/duration.js'
import { parseJson } from '#keelson/api/json/parse.js'
import { pemBlocks } from '#keelson/api/pem.js'
import { canonicalQuantity, parseQuantity } from '#keelson/api/quantity.js'
import { isTooLarge } from '#keelson/api/yaml/size-probe.js'
import { parseYaml } from '#keelson/api/yaml/yaml.js'
import { isLinear } from '../support/growth.js'

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

t.test('objects of sensible content near the longest body pass', async (t) => {
  const data = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, i) => [`key-${i}`, 'some text, and {more} of [it]']),
  )
  const names = Array.from({ length: 99_000 }, (_, i) => `n${i}`)
  checkJsonSize(json({ data }))
  checkJsonSize(json({ rules: [{ resourceNames: names }] }))
  checkJsonSize(json({ data: { text: '[{,\\"'.repeat(300_000) } }))
  t.equal(Object.keys((parseYaml(json({ data }).toString()).value as { data: object }).data).length, 50_000)
})

t.test('bodies that would become far more than they are get refused', async (t) => {
  const many = MAX_DECODED_VALUES + 1
  for (const item of ['{}', '[]', '1', '""'])
    t.throws(() => checkJsonSize(Buffer.from(`[${new Array(many).fill(item).join(',')}]`)), DecodedSizeError, item)
  t.throws(() => parseYaml(`[${new Array(many).fill('a').join(',')}]`), DecodedSizeError)
})

const repeated = (text: string, times: number): string => text.repeat(times)
/** Ways to write more values into YAML than anybody needs, each some times the limit. */
const LARGE_YAML: Readonly<Record<string, string>> = {
  'empty objects on one line': `x: [${repeated('{},', 700_000)}]`,
  'numbers on one line': `x: [${repeated('1,', 1_000_000)}]`,
  'members on one line': `x: {${Array.from({ length: 700_000 }, (_, i) => `${i}: 1`).join(', ')}}`,
  'pairs on one line': `x: [${repeated('a: b,', 700_000)}]`,
  'a list': `x:\n${repeated('- 1\n', 700_000)}`,
  'a list of nothing': `x:\n${repeated('-\n', 700_000)}`,
  members: `x:\n${Array.from({ length: 700_000 }, (_, i) => ` a${i}: 1`).join('\n')}`,
  'one key again and again': `x: {${repeated('a: 1,', 700_000)}}`,
  texts: `x: [${repeated(`"a, [b","",'it''s',`, 250_000)}]`,
  'tags and anchors': `x: [${repeated('!!str a,&b c,', 350_000)}]`,
  'after a long text': `t: |\n  [{\n  - a, b: c\n\nx: [${repeated('1,', 700_000)}]`,
}

t.test('YAML that is too large is refused before most of it is read', async (t) => {
  for (const [name, text] of Object.entries(LARGE_YAML)) {
    t.ok(isTooLarge(text, 1000), name)
    t.throws(() => parseYaml(text), DecodedSizeError, name)
  }
})

t.test('YAML that looks large and is not is read', async (t) => {
  const marks = repeated('[a, {b: c}, - d, "\n', 60_000)
  const indented = repeated('  [a, {b: c}, - d, "\n', 60_000)
  for (const [name, text, expected] of [
    ['a text in a block', `x: |\n${indented}`, marks],
    ['a text between quotes', `x: ${JSON.stringify(marks)}`, marks],
    ['comments', `${repeated('# [a, b, c, d, e, f]\n', 60_000)}x: z`, 'z'],
    [
      'a plain text with marks in it',
      `x: a${repeated(' b,c [d] {e}', 60_000)}`,
      `a${repeated(' b,c [d] {e}', 60_000)}`,
    ],
  ] as const) {
    t.notOk(isTooLarge(text, 1000), name)
    t.ok((parseYaml(text).value as { x: string }).x === expected, name)
  }
})

t.test('only what the parser finds is too much, whatever the scan takes for values', async (t) => {
  // A quote within a plain text and a text whose block is closer than its marker: the scan is misled, nobody is refused.
  const text = `x: it's\nw: [${repeated('a,', 150_000)}]\nz: |1\n${repeated(' a: b\n', 150_000)}`
  const { w, z } = parseYaml(text).value as { w: string[]; z: string }
  t.equal(w.length, 150_000)
  t.equal(z.length, 5 * 150_000)
})

t.test("the documents after the first are nobody's", async (t) => {
  for (const [text, value] of [
    ['a: 1\n---\nb: [', { a: 1 }],
    ['# first\n\n%YAML 1.1\n---\na: 1\n---\na: 2\n', { a: 1 }],
    ['--- {a: 1}\n...\nwhatever: [\n', { a: 1 }],
    ['a: |\n  text\n  ---\n', { a: 'text\n---\n' }],
    ['a: ---\nb: ----\n', { a: '---', b: '----' }],
    ['---\n---\na: 1', null],
    ['', null],
  ] as const)
    t.same(parseYaml(text).value, value, text)
  t.same(parseYaml(`a: 1\n${repeated('---\n', 700_000)}`).value, { a: 1 })
})

t.test('numbers of many digits cost no more than their length', async (t) => {
  t.throws(() => parseQuantity('1'.padEnd(200_000, '0')), /out of range/)
  t.throws(() => parseQuantity(`0.${'0'.repeat(200_000)}1`), /out of range/)
  t.equal(canonicalQuantity('1'.padEnd(31, '0')), `${'1'.padEnd(13, '0')}E`)
  t.equal(canonicalQuantity('-1500'), '-1500')
  t.equal(canonicalQuantity('1.50000'), '1500m')
  t.equal(canonicalQuantity('12000e3'), '12e6')
  t.throws(() => parseDuration(`${'9'.repeat(200_000)}h`))
  t.equal(parseDuration('1h1.5s'), 3_601_500_000_000n)
  for (const bad of ['', '-', '.s', 's', '1', '1.5', '1h2', '1 h', '1..5s']) t.throws(() => parseDuration(bad), bad)
  const digits = (n: number): Buffer => Buffer.from(`{"a":${'9'.repeat(n)}}`)
  t.ok(isLinear(1_000_000, digits, (text) => parseJson(text)))
})

t.test('the blocks of a PEM text', async (t) => {
  const block = (label: string): string => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----`
  const text = `x\n${block('A')}\n-----BEGIN B-----\n-----END C-----\n${block('CERTIFICATE')}`
  t.same(
    pemBlocks(text).map(({ label }) => label),
    ['A', 'CERTIFICATE'],
  )
  t.equal(pemBlocks(text)[0]?.text, block('A'))
  const begins = (n: number): string => Array.from({ length: n }, (_, i) => `-----BEGIN ${i}-----\n`).join('')
  t.ok(isLinear(40_000, (n) => `${begins(n)}-----END x-----`, pemBlocks))
})
