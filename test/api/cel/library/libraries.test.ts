/** Every function of every library, by expressions that must be true, or must fail with these words. */
import t from 'tap'
import { evaluate } from './evaluate.js'

const TRUE: Readonly<Record<string, readonly string[]>> = {
  strings: [
    `'tacocat'.charAt(3) == 'o'`,
    `'tacocat'.charAt(7) == ''`,
    `'©αT😀b'.charAt(3) == '😀'`,
    `'tacocat'.indexOf('ac') == 1 && 'tacocat'.indexOf('none') == -1 && 'tacocat'.indexOf('') == 0`,
    `'tacocat'.indexOf('a', 3) == 5 && 'tacocat'.indexOf('a', 7) == -1 && 'ta©o©αT'.indexOf('©', 3) == 4`,
    `'tacocat'.lastIndexOf('at') == 5 && 'tacocat'.lastIndexOf('') == 7 && 'a😀b😀'.lastIndexOf('😀') == 3`,
    `'tacocat'.lastIndexOf('a', 4) == 1 && 'a'.lastIndexOf('ab') == -1 && ''.lastIndexOf('a') == -1`,
    `'TacoCÆt'.lowerAscii() == 'tacocÆt' && 'tacoCÆt'.upperAscii() == 'TACOCÆT'`,
    `'12 days 12 hours'.replace('{0}', '2') == '12 days 12 hours'`,
    `'{0} days {0} hours'.replace('{0}', '2') == '2 days 2 hours'`,
    `'{0} days {0} hours'.replace('{0}', '2', 1).replace('{0}', '23') == '2 days 23 hours'`,
    `'1 ©αT taco'.replace('αT', 'o©α') == '1 ©o©α taco'`,
    `'ab'.replace('', '-') == '-a-b-' && 'ab'.replace('', '-', 1) == '-ab' && 'ab'.replace('', '-', 2) == '-a-b'`,
    `''.replace('', '-') == '-' && 'ab'.replace('b', 'x', 0) == 'ab'`,
    `'hello world'.split(' ') == ['hello', 'world'] && 'a,b,c'.split(',', 2) == ['a', 'b,c']`,
    `'a,b'.split(',', 0) == [] && 'a😀'.split('') == ['a', '😀'] && ''.split(',') == [''] && ''.split('') == []`,
    `'tacocat'.substring(4) == 'cat' && 'ta©o©αT'.substring(2, 6) == '©o©α' && 'abc'.substring(3) == ''`,
    `' \\ttext\\n\\u0085'.trim() == 'text' && '\\ufefftext'.trim() != 'text'`,
    `['x', 'y'].join() == 'xy' && ['x', 'y'].join('-') == 'x-y' && [].join('-') == ''`,
    `strings.quote('first\\nsecond "x" \\\\') == '"first\\\\nsecond \\\\"x\\\\" \\\\\\\\"'`,
  ],
  format: [
    `'%s %d%%'.format(['a', 1]) == 'a 1%'`,
    `'%.3f %f %f'.format([1.2345, 2.71828, 1234567.5]) == '1.234 2.718280 1,234,567.500000'`,
    `'%.0f %.0f'.format([2.5, 3.5]) == '2 4'`,
    `'%e'.format([1052.032911275]) == '1.052033\\u202f\\u00d7\\u202f10\\u2070\\u00b3'`,
    `'%b %b %o %x %X'.format([5, true, 11, 30, 'Hello']) == '101 1 13 1e 48656C6C6F'`,
    `'%x %d %b'.format([-30, 64u, -5]) == '-1e 64 -101'`,
    `'%s'.format([2.71]) == '2.71' && '%s'.format([0.000000002]) == '2e-09' && '%s'.format([1000000.0]) == '1e+06'`,
    `'%f %f'.format(['NaN', '-Infinity']) == 'NaN -∞'`,
    `'%s'.format([[double('NaN'), double('+Inf')]]) == '["NaN", "+Inf"]'`,
    `'%s'.format([[dyn('abc'), 3.14, null, [9, 8], timestamp('2023-02-03T23:31:20Z')]]) == '["abc", 3.140000, null, [9, 8], timestamp("2023-02-03T23:31:20Z")]'`,
    `'%s'.format([{'b': dyn(b'xyz'), 'a': duration('2h'), 'c': true}]) == '{"a":duration("7200s"), "b":b"xyz", "c":true}'`,
    `'%s %s'.format([type('x'), duration('2ns')]) == 'string 0.000000002s'`,
  ],
  lists: [
    `[1, 2, 2].isSorted() && !['b', 'a'].isSorted() && [].isSorted()`,
    `[1, 2, 3].sum() == 6 && [1.5, 0.5].sum() == 2.0 && [duration('1m'), duration('1s')].sum() == duration('61s')`,
    `[1, 3, 2].max() == 3 && ['b', 'a'].min() == 'a'`,
    `[1, 2, 2, 3].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1.0].indexOf(1.1) == -1`,
    `[1, 2, 3, 4].slice(1, 3) == [2, 3] && [[1], [2, 3]].flatten() == [1, 2, 3]`,
    `[[[1], [2]], [[3]]].flatten(2) == [1, 2, 3]`,
    `lists.range(3) == [0, 1, 2] && [1, 2].reverse() == [2, 1] && [1, 2, 1].distinct() == [1, 2]`,
    `[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sort() == ['a', 'b']`,
    `['foo', 'a', 'quux'].sortBy(e, e.size()) == ['a', 'foo', 'quux']`,
    `sets.contains([1, 2, 3], [2, 3]) && sets.equivalent([1], [1, 1]) && !sets.intersects([1], [])`,
  ],
  regex: [
    `'abc 123'.find('[0-9]+') == '123' && 'abc'.find('xyz') == ''`,
    `'123 abc 456'.findAll('[0-9]+') == ['123', '456'] && '123 abc 456'.findAll('[0-9]+', 1) == ['123']`,
    `'ab'.findAll('x*') == ['', '', ''] && 'axb'.findAll('x*') == ['', 'x', '']`,
  ],
  quantity: [
    `quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('50Mi').isGreaterThan(quantity('50M'))`,
    `quantity('50k').add(quantity('20k')) == quantity('70k') && quantity('50k').sub(20000) == quantity('30k')`,
    `quantity('50k').asInteger() == 50000 && !quantity('1.0').isInteger() && !quantity('1Ei').isInteger()`,
    `quantity('50m').asApproximateFloat() == 0.05 && sign(quantity('-1')) == -1`,
    `isQuantity('1.3Gi') && !isQuantity('200K') && !isQuantity('Three')`,
    `type(quantity('1')) == kubernetes.Quantity`,
  ],
  addresses: [
    `ip('127.0.0.1').family() == 4 && ip('::1').family() == 6 && isIP('::1') && !isIP('010.0.0.1')`,
    `!isIP('fe80::1%eth0') && !isIP('::ffff:1.2.3.4') && !isIP(':::1')`,
    `ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')`,
    `ip('0.0.0.0').isUnspecified() && ip('127.9.9.9').isLoopback() && ip('ff02::1').isLinkLocalMulticast()`,
    `ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast() && !ip('fd80::1').isLinkLocalUnicast()`,
    `ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast() && !ip('ff00::1').isGlobalUnicast()`,
    `string(ip('2001:DB8::0')) == '2001:db8::' && ip('::1') == ip('0:0::1')`,
    `cidr('192.168.0.0/24').containsIP('192.168.0.9') && !cidr('192.168.0.0/24').containsIP(ip('192.168.1.1'))`,
    `cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))`,
    `cidr('192.168.1.5/24').ip() == ip('192.168.1.5') && string(cidr('192.168.1.5/24').masked()) == '192.168.1.0/24'`,
    `cidr('::1/128').prefixLength() == 128 && isCIDR('::/0') && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0/08')`,
    `!cidr('0.0.0.0/0').containsIP('::1')`,
  ],
  urls: [
    `url('https://user:x@example.com:80/a/b?k=v#f').getHost() == 'example.com:80'`,
    `url('https://example.com:80/').getPort() == '80' && url('https://[::1]:80/').getHostname() == '::1'`,
    `url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'`,
    `url('/path').getScheme() == '' && url('HTTPS://h').getScheme() == 'https' && url('https://h').getEscapedPath() == ''`,
    `url('https://h/?k1=a&k2=b&k2=c+d').getQuery() == {'k1': ['a'], 'k2': ['b', 'c d']}`,
    `isURL('https://h') && !isURL('../relative') && url('https://h/a') == url('https://h/a')`,
  ],
  formats: [
    `!format.dns1123Label().validate('my-label').hasValue() && format.dns1123Label().validate('A').hasValue()`,
    `format.named('uuid').hasValue() && !format.named('nope').hasValue()`,
    `!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()`,
    `format.date().validate('2021-13-01').value() == ['invalid date']`,
    `!format.dns1035LabelPrefix().validate('a-').hasValue() && format.uri().validate('x y').hasValue()`,
  ],
  semver: [
    `semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3`,
    `semver('1.2.3-alpha').isLessThan(semver('1.2.3')) && semver('1.0.0-2').compareTo(semver('1.0.0-11')) == -1`,
    `semver('1.0.0-alpha').isGreaterThan(semver('1.0.0-1')) && semver('1.0.0+a') == semver('1.0.0+b')`,
    `isSemver('1.0.0') && !isSemver('v1.0') && isSemver('v1.0', true) && semver('01.01.01', true) == semver('1.1.1')`,
    `!isSemver('1.0.0-01') && !isSemver('1.0-rc', true) && !isSemver('1.0.0-') && !isSemver('')`,
  ],
  times: [
    `timestamp('2023-12-25T12:30:45.678Z').getHours() == 12 && timestamp('2023-12-25T12:30:45.678Z').getMilliseconds() == 678`,
    `timestamp('2023-12-25T00:00:00Z').getDayOfYear() == 358 && timestamp('2023-12-25T00:00:00Z').getDayOfWeek() == 1`,
    `timestamp('2023-12-25T00:00:00Z').getDate() == 25 && timestamp('2023-12-25T00:00:00Z').getDayOfMonth() == 24`,
    `timestamp('2023-01-01T05:00:00Z').getFullYear('America/Los_Angeles') == 2022 && timestamp('2023-01-01T05:00:00Z').getMonth('-08:00') == 11`,
    `timestamp('2023-07-01T05:00:00Z').getMinutes('Asia/Kolkata') == 30 && timestamp('2023-07-01T05:00:00Z').getHours('02:30') == 7`,
    `duration('3723s').getHours() == 1 && duration('3723s').getMinutes() == 62 && duration('1.5s').getMilliseconds() == 1500`,
  ],
  'two variables': [
    `[1, 2, 3].all(i, v, i < v) && {'a': 1}.exists(k, v, k == 'a' && v == 1) && [1, 1].existsOne(i, v, i == v)`,
    `[1, 2].transformList(i, v, i * v) == [0, 2] && [1, 2].transformList(i, v, i > 0, v) == [2]`,
    `['a', 'b'].transformMap(i, v, v + '!') == {0: 'a!', 1: 'b!'} && {'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'}`,
  ],
}

for (const [library, expressions] of Object.entries(TRUE))
  t.test(library, async (t) => {
    for (const expression of expressions) t.equal(evaluate(expression), true, expression)
  })

const FAILS: readonly (readonly [string, string])[] = [
  [`'abc'.charAt(4)`, 'index out of range: 4'],
  [`'abc'.indexOf('a', -1)`, 'index out of range: -1'],
  [`'abc'.substring(2, 1)`, 'invalid substring range. start: 2, end: 1'],
  [`[dyn(1)].join()`, 'join: invalid input: 1'],
  [
    `dyn('%d').format([dyn('a')])`,
    'error during formatting: decimal clause can only be used on integers, was given string',
  ],
  [`dyn('%a').format([dyn(1)])`, 'could not parse formatting clause: unrecognized formatting clause "a"'],
  [`dyn('%s %s').format([dyn('a')])`, 'index 1 out of range'],
  [`[].max()`, 'max called on empty list'],
  [`[1, 2].slice(0, 3)`, 'cannot slice(0, 3), list is length 2'],
  [`lists.range(100000000)`, 'operation cancelled: actual cost limit exceeded'],
  [`quantity('1.5').asInteger()`, 'cannot convert value to integer'],
  [`ip('1.2.3.4') == dyn('x')`, 'no such overload'],
  [`timestamp('2023-01-01T05:00:00Z').getHours('Nowhere/At_All')`, 'unknown time zone Nowhere/At_All'],
  [`['a', 'a'].transformMapEntry(i, v, {v: i})`, 'insert failed: key a already exists'],
]

t.test('failures say what Kubernetes says', async (t) => {
  for (const [expression, message] of FAILS) t.equal(evaluate(expression), `error: ${message}`, expression)
})

t.test('what v1.36 does not have is no function', async (t) => {
  for (const expression of [`'abc'.reverse()`, `math.greatest(1, 2)`, `base64.encode(b'a')`, `cel.bind(x, 1, x)`])
    t.match(evaluate(expression), /^compile: /, expression)
})
