import t from 'tap'
import { formatCheck, isKnownFormat } from '#keelson/api/formats/formats.js'
import { isLinear } from '../../support/growth.js'

/** What passes, what does not; as kube-apiserver answered, or as Go's parsers read. */
const TABLE: Readonly<Record<string, readonly [good: readonly string[], bad: readonly string[]]>> = {
  bsonobjectid: [['507f1f77bcf86cd799439011'], ['', '507f1f77bcf86cd79943901', '507f1f77bcf86cd79943901g']],
  uri: [
    [
      'http://a.b/c?d#e',
      '/path',
      'mailto:a@b',
      'a:b',
      '*',
      'http://[::1]:80/x',
      'http://u:p@h:1',
      'http://h:/',
      '/%41',
      'x://',
    ],
    [
      '',
      'a',
      'a/b',
      ':b',
      'http://h:x/',
      '/%4',
      'http://a b/',
      'http://[::1/',
      'http://h%41/',
      'http://[::1]x/',
      '/a\u0001',
    ],
  ],
  email: [
    ['A <a@b.c>', 'a@b', '"a b"@c.d', 'ü@b.c', 'a@[1.2.3.4]', '(c) a@b (d(e))', '<a@b>', 'A. B <a@b>', '"x" <a@b>'],
    ['', 'a', '@b', 'a@', 'a b@c', 'a@b@c', '.a@b', 'a..b@c', 'a@b.', 'A <a@b', '(a@b', 'a@b,c@d', 'A <a@b> x'],
  ],
  hostname: [
    ['a', 'a.bc', 'a-b', 'a-', 'x-y.example.com', 'ü.de', '1.example', 'a'.repeat(63)],
    ['', 'a..b', 'ab-c', '-a', 'a.b', 'a.b1', 'a_b.com', 'a-.com', `${'a'.repeat(64)}.com`, `${'ab.'.repeat(100)}com`],
  ],
  ipv4: [
    ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4'],
    ['', '1.2.3', '::1', '1.2.3.256'],
  ],
  ipv6: [
    ['::1', '2001:DB8::1', '::', '::ffff:1.2.3.4'],
    ['1.2.3.4', 'g::1', '', '::ffff:01.2.3.4'],
  ],
  cidr: [
    ['10.0.0.0/8', '10.0.0.1/8', '::/0', '010.0.0.0/8'],
    ['10.0.0.0/-1', '10.0.0.0', '10.0.0.0/33', '/8'],
  ],
  mac: [
    ['01-23-45-67-89-AB', '01:23:45:67:89:ab:cd:ef', '0123.4567.89ab', '0123.4567.89ab.cdef'],
    ['', '01:23:45:67:89', '01:23-45:67:89:ab', '01:23:45:67:89:abc', '0123.4567', '012345678 9ab'],
  ],
  uuid: [
    ['6ba7b8109dad11d180b400c04fd430c8', '6BA7B810-9dad-11d1-80b4-00c04fd430c8'],
    ['{6ba7b810-9dad-11d1-80b4-00c04fd430c8}', 'zba7b810-9dad-11d1-80b4-00c04fd430c8', ''],
  ],
  uuid3: [
    ['a3bb189e-8bf9-3888-9912-ace4e6543002', 'a3bb189e8bf938889912ace4e6543002'],
    ['a3bb189e-8bf9-4888-9912-ace4e6543002'],
  ],
  uuid4: [['f47ac10b-58cc-4372-A567-0e02b2c3d479'], ['f47ac10b-58cc-4372-c567-0e02b2c3d479']],
  uuid5: [['886313e1-3b8a-5372-9b90-0c9aee199e5d'], ['886313e1-3b8a-4372-9b90-0c9aee199e5d']],
  isbn: [
    ['0321751043', '978-0321751041', '080442957X'],
    ['', '0321751044', '9780321751040'],
  ],
  isbn10: [['0 321 75104 3'], ['978-0321751041']],
  isbn13: [['9780321751041'], ['0321751043']],
  creditcard: [
    ['4111-1111-1111-1111', '378282246310005'],
    ['1234', '', '4111-1111-1111-1112', '4'.repeat(5000)],
  ],
  ssn: [
    ['123 45 6789', '123-45-6789'],
    ['12-345-6789', 'abc-de-fghi', '123456789'],
  ],
  hexcolor: [
    ['#FFFFFF', 'fff', '#0a0'],
    ['red', '#ffff', ''],
  ],
  rgbcolor: [
    ['rgb(1,2,3)', 'rgb( 0 , 255 , 199 )'],
    ['rgba(1,2,3,1)', 'rgb(1,2)', 'rgb(256,1,1)', 'rgb(01,2,3)'],
  ],
  byte: [
    ['aGVsbG8=', 'aGVs', 'aG=='],
    ['aGVs\nbG8=', '', 'aGV', 'aGVs=', 'a==='],
  ],
  password: [['anything at all', ''], []],
  date: [
    ['2024-02-29', '0001-01-01'],
    ['2024-2-9', '2023-02-29', '2024-13-01', '2024-01-00', '2024-01-01T00:00:00Z'],
  ],
  'date-time': [
    ['2024-02-29T12:00:00+25:00', '2024-02-29T12:00:00.123456789Z', '2024-02-29t12:00:00z', '2024-02-29T12:00:00,5Z'],
    ['2024-02-29 12:00:00Z', '2024-12-31T23:59:60Z', '2024-02-29', '2024-02-29T24:00:00Z', '2024-02-29T12:00Z', ''],
  ],
  datetime: [['2024-02-29T12:00:00Z'], ['x']],
  duration: [
    ['1h', '22 ns', '-1s', '1us', '3 days', '2weeks', '1h30m', '5 minutes and more', '1 fortnight 2 h'],
    ['', '1 fortnight', 'h', '1', '99999999999999999999 s', 'soon'],
  ],
  'k8s-short-name': [
    ['a', 'a-b', '0a', 'a'.repeat(63)],
    ['Abc', '-a', 'a-', 'a.b', '', 'a'.repeat(64)],
  ],
  'k8s-long-name': [
    ['a.b-c', 'a'.repeat(253)],
    ['a_b', 'a..b', '.a', '', 'a'.repeat(254)],
  ],
}

t.test('formats', async (t) => {
  for (const [format, [good, bad]] of Object.entries(TABLE)) {
    const check = formatCheck(format)!
    for (const text of good) t.ok(check(text), `${format}: ${JSON.stringify(text).slice(0, 60)}`)
    for (const text of bad) t.notOk(check(text), `not ${format}: ${JSON.stringify(text).slice(0, 60)}`)
  }
})

t.test('which formats mean something for which type', async (t) => {
  for (const [type, format] of [
    ['string', 'date-time'],
    ['', 'ipv4'],
    ['integer', 'int32'],
    ['number', 'double'],
  ] as const)
    t.ok(isKnownFormat(type, format), `${type} ${format}`)
  for (const [type, format] of [
    ['string', 'frobnicate'],
    ['integer', 'int8'],
    ['number', 'int32'],
    ['object', 'date'],
  ] as const)
    t.notOk(isKnownFormat(type, format), `${type} ${format}`)
})

t.test('no text holds a format up', async (t) => {
  for (const format of Object.keys(TABLE)) {
    const check = formatCheck(format)!
    for (const unit of ['a', '1', ' ', '(', '.', '-', '"\\', '1 ', 'a.', '::', '%'])
      t.ok(
        isLinear(100_000, (size) => unit.repeat(size), check),
        `${format} of ${JSON.stringify(unit)}`,
      )
  }
})
