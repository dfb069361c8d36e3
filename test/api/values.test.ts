import t from 'tap'
import { formatDuration, parseDuration, parseDurationMs } from '#keelson/api/duration.js'
import { canonicalQuantity, parseQuantity, Quantity } from '#keelson/api/quantity.js'
import { canonicalMicroTime, canonicalTime, formatTime } from '#keelson/api/time.js'

t.test('quantities in canonical form', (t) => {
  for (const [text, expected] of [
    ['0', '0'],
    ['0Gi', '0'],
    ['-0', '0'],
    ['1', '1'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['1.', '1.'],
    ['1.5', '1500m'],
    ['1.5Gi', '1536Mi'],
    ['1024Mi', '1Gi'],
    ['1Ki', '1Ki'],
    ['1000Ki', '1000Ki'],
    ['1023Ki', '1023Ki'],
    ['0.5Ki', '512'],
    ['1024', '1024'],
    ['1000', '1k'],
    ['1000000', '1M'],
    ['1500', '1500'],
    ['123456789012345678', '123456789012345678'],
    ['12e6', '12e6'],
    ['12E6', '12E6'],
    ['1e1', '10'],
    ['100e-3', '100e-3'],
    ['1e2', '100'],
    ['1E', '1E'],
    ['0.1m', '100u'],
    ['0.1n', '1n'],
    ['1n', '1n'],
    ['-1', '-1'],
    ['-1.5Gi', '-1536Mi'],
    ['9Ei', '9223372036854775807'],
    ['+1', '+1'],
    ['0010', '0010'],
    ['1.500', '1.500'],
    ['0.001Ki', '1024m'],
  ] as const)
    t.equal(canonicalQuantity(text), expected, text)
  for (const bad of ['', 'abc', '1.2.3', '1ki', '1 Gi', '--1', '.', '1e', 'Gi', '1mi', '1e99999'])
    t.throws(() => canonicalQuantity(bad), { name: 'QuantityError' }, bad)
  t.end()
})

t.test('quantities are compared and added exactly', (t) => {
  const q = parseQuantity
  t.equal(q('1').compare(q('1000m')), 0)
  t.equal(q('1Gi').compare(q('1G')), 1)
  t.equal(q('-1').compare(q('0')), -1)
  t.equal(q('100m').add(q('0.9')).toString(), '1')
  t.equal(q('1Gi').add(q('512Mi')).toString(), '1536Mi')
  t.equal(q('0').add(q('1Gi')).toString(), '1Gi', 'zero takes the format of the other')
  t.equal(q('1Gi').subtract(q('1Gi')).toString(), '0')
  t.equal(q('1500m').value(), 2n, 'rounded up')
  t.equal(q('1500m').milliValue(), 1500n)
  t.equal(q('-1500m').value(), -2n)
  t.equal(q('1Ki').toNumber(), 1024)
  t.equal(Quantity.ofMilli(250).toString(), '250m')
  t.equal(Quantity.ofInteger(2048, 'BinarySI').toString(), '2Ki')
  t.end()
})

t.test('times in canonical form', (t) => {
  t.equal(canonicalTime('2020-02-29T23:30:00+02:00'), '2020-02-29T21:30:00Z')
  t.equal(canonicalTime('2020-01-01T00:00:00.999Z'), '2020-01-01T00:00:00Z')
  t.equal(canonicalTime('0001-01-01T00:00:00Z'), undefined, "Go's zero time")
  t.equal(canonicalMicroTime('2020-01-01T00:00:00.123456Z'), '2020-01-01T00:00:00.123456Z')
  t.equal(canonicalMicroTime('2020-01-01T01:00:00.000001+01:00'), '2020-01-01T00:00:00.000001Z')
  for (const bad of [
    '',
    'now',
    '2020-02-30T00:00:00Z',
    '2020-13-01T00:00:00Z',
    '2020-01-01',
    '2020-01-01T24:00:00Z',
    '2020-01-01t00:00:00z',
  ])
    t.throws(() => canonicalTime(bad), { name: 'TimeError' }, bad)
  t.throws(() => canonicalMicroTime('2020-01-01T00:00:00Z'), { name: 'TimeError' })
  t.equal(formatTime(1577836800999), '2020-01-01T00:00:00Z')
  t.end()
})

t.test("durations in Go's form", (t) => {
  const normal = (text: string) => formatDuration(parseDuration(text))
  for (const [text, expected] of [
    ['0', '0s'],
    ['90m', '1h30m0s'],
    ['1.5s', '1.5s'],
    ['1500ms', '1.5s'],
    ['300ms', '300ms'],
    ['-1h', '-1h0m0s'],
    ['1h2m3.004s', '1h2m3.004s'],
    ['10us', '10µs'],
    ['5ns', '5ns'],
  ] as const)
    t.equal(normal(text), expected, text)
  for (const [text, nanos] of [
    ['.5s', 500_000_000n],
    ['5.s', 5_000_000_000n],
    ['-1s', -1_000_000_000n],
    ['+2us', 2_000n],
    ['1µs', 1_000n],
    ['1μs', 1_000n],
    ['-0', 0n],
    ['1h30m', 5_400_000_000_000n],
    ['0.3333333333333333333h', 1_200_000_000_000n],
    ['9007199254740993ns', 9007199254740993n],
    ['9223372036854775807ns', 9223372036854775807n],
    ['-9223372036854775808ns', -9223372036854775808n],
    ['0.100000000000000000000h', 360_000_000_000n],
  ] as const)
    t.equal(parseDuration(text), nanos, text)
  const bad = [
    '',
    '1',
    'h',
    '1d',
    '1s1',
    '.',
    '-',
    '+',
    '.s',
    '-.s',
    '1s ',
    '3 s',
    '99999999999h',
    '9223372036854775808ns',
  ]
  for (const text of [...bad, '-9223372036854775809ns']) {
    t.throws(() => parseDuration(text), { name: 'DurationError' }, text)
    t.equal(parseDurationMs(text), undefined)
  }
  t.equal(parseDurationMs('-1.5s'), -1500)
  t.equal(parseDurationMs('1m500000ns'), 60_000.5)
  t.end()
})
