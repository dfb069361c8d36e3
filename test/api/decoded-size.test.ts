import t from 'tap'
import { checkJsonSize, DecodedSizeError, MAX_DECODED_VALUES } from '#keelson/api/decoded-size.js'
import { parseDuration } from '#keelson/api/duration.js'
import { parseJson } from '#keelson/api/json/parse.js'
import { pemBlocks } from '#keelson/api/pem.js'
import { canonicalQuantity, parseQuantity } from '#keelson/api/quantity.js'
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
