/** What calls of libraries cost in Kubernetes, before they run and when they ran. */
import t from 'tap'
import { UNBOUNDED } from '#keelson/api/cel/cost/estimate.js'
import { baseEnvironment } from '#keelson/api/cel/environment.js'
import { AUTHORIZER, authorizerValue } from '#keelson/api/cel/library/authorizer.js'
import { jsonPatch } from '#keelson/api/cel/library/jsonpatch.js'
import { costOf, literalProgram } from './literal-program.js'

const ENVIRONMENT = baseEnvironment('stored').extend({ variables: { authorizer: AUTHORIZER }, libraries: [jsonPatch] })
const authorizer = authorizerValue({}, () => ({ allowed: true, reason: '' }))

/** Whatever has no limit is estimated to cost at least a tenth of all that can be counted. */
const FAR_TOO_MUCH = 2 ** 60

/** An expression, the least and the most that it is estimated to cost, and what it costs. */
type Fact = readonly [string, number, number, number]

const INTS = '[1, 2, 3, 4, 5]'
const UINTS = '[uint(1), uint(2), uint(3), uint(4), uint(5)]'
const DOUBLES = '[1.0, 2.0, 3.0, 4.0, 5.0]'
const BOOLS = '[false, true, false, true, false]'
const STRINGS = "['012345678901', '012345678901', '012345678901', '012345678901', '012345678901']"
const BYTES = `[${Array.from({ length: 5 }, () => "bytes('012345678901')").join(', ')}]`
const DURATIONS = "[duration('1s'), duration('2s'), duration('3s'), duration('4s'), duration('5s')]"
const TIMESTAMPS = `[${[1, 2, 3, 4, 5].map((day) => `timestamp('2011-01-0${day}T00:00:00.000+01:00')`).join(', ')}]`
const TEXT = "'01234567890123456789012345678901234567890123456789'"

/** How long strings in a literal are is not known to estimates of what walks over them. */
const LISTS: readonly Fact[] = [
  ...[INTS, DOUBLES].map((list): Fact => [`${list}.sum()`, 15, 15, 15]),
  ...[UINTS, DURATIONS].map((list): Fact => [`${list}.sum()`, 20, 20, 20]),
  ...['isSorted()', 'max()', 'min()'].flatMap((call): Fact[] => [
    ...[INTS, DOUBLES, BOOLS].map((list): Fact => [`${list}.${call}`, 15, 15, 15]),
    ...[UINTS, DURATIONS, TIMESTAMPS].map((list): Fact => [`${list}.${call}`, 20, 20, 20]),
    [`${STRINGS}.${call}`, 15, UNBOUNDED, 15],
    [`${BYTES}.${call}`, 25, UNBOUNDED, 25],
  ]),
  ...['indexOf', 'lastIndexOf'].flatMap((call): Fact[] => [
    [`${INTS}.${call}(3)`, 15, 15, 15],
    [`${UINTS}.${call}(uint(3))`, 21, 21, 21],
    [`${DOUBLES}.${call}(3.0)`, 15, 15, 15],
    [`${BOOLS}.${call}(true)`, 15, 15, 15],
    [`${STRINGS}.${call}('x')`, 15, UNBOUNDED, 15],
    [`${BYTES}.${call}(bytes('x'))`, 26, UNBOUNDED, 26],
    [`${DURATIONS}.${call}(duration('3s'))`, 21, 21, 21],
    [`${TIMESTAMPS}.${call}(timestamp('2011-01-03T00:00:00.000+01:00'))`, 21, 21, 21],
    [`${TEXT}.${call}('123')`, 5, 5, 5],
  ]),
]

const URL = "url('https:://kubernetes.io/')"
const URLS: readonly Fact[] = [
  ...['getScheme', 'getHostname', 'getHost', 'getPort', 'getEscapedPath', 'getQuery'].map(
    (name): Fact => [`${URL}.${name}()`, 4, 4, 4],
  ),
  [`${URL} == url('https:://kubernetes.io/')`, 7, 9, 7],
  [`${URL} == url('http://x.b')`, 5, 5, 5],
]

const ADDRESSES: readonly Fact[] = (
  [
    ["ip('192.168.0.1')", 2],
    ["ip('2001:db8:3333:4444:5555:6666:7777:8888')", 4],
  ] as const
).flatMap(([ip, cost]): Fact[] => [
  [ip, cost, cost, cost],
  ...['family', 'isUnspecified', 'isLoopback', 'isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast'].map(
    (name): Fact => [`${ip}.${name}()`, cost + 1, cost + 1, cost + 1],
  ),
  [`${ip} == ip('192.168.0.1')`, cost + 3, cost + 3, cost + 3],
])

const [V4, V6] = ["cidr('192.168.0.0/16')", "cidr('2001:db8::/32')"]
const NETWORKS: readonly Fact[] = [
  ...[V4, V6].flatMap((cidr): Fact[] => [
    [cidr, 2, 2, 2],
    ...['ip', 'prefixLength', 'masked'].map((name): Fact => [`${cidr}.${name}()`, 3, 3, 3]),
    [`${cidr} == cidr('2001:db8::/32')`, 5, 5, 5],
  ]),
  ...["cidr('192.0.0.0/30')", "cidr('192.168.0.0/16')", "'192.0.0.0/30'", "'192.168.0.0/16'"].map(
    (other): Fact => [`${V4}.containsCIDR(${other})`, 7, 11, 7],
  ),
  ...["cidr('2001:db8::/126')", "cidr('2001:db8::/32')", "'2001:db8::/126'", "'2001:db8::/32'"].map(
    (other): Fact => [`${V6}.containsCIDR(${other})`, 7, 11, 7],
  ),
  ...["ip('192.0.0.1')", "'192.0.0.1'"].map((other): Fact => [`${V4}.containsIP(${other})`, 4, 7, 4]),
  ...["ip('192.169.0.1')", "'192.169.0.1'"].map((other): Fact => [`${V4}.containsIP(${other})`, 5, 8, 5]),
  ...["ip('2001:db8::1')", "'2001:db8::1'"].map((other): Fact => [`${V6}.containsIP(${other})`, 5, 8, 5]),
  ...["ip('2001:db8:3333:4444:5555:6666:7777:8888')", "'2001:db8:3333:4444:5555:6666:7777:8888'"].map(
    (other): Fact => [`${V6}.containsIP(${other})`, 7, 10, 7],
  ),
]

const FACTS: Readonly<Record<string, readonly Fact[]>> = {
  lists: LISTS,
  urls: URLS,
  addresses: ADDRESSES,
  networks: NETWORKS,
  strings: [
    [`'ABCDEFGHIJ abcdefghij'.lowerAscii()`, 3, 3, 3],
    [`'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()`, 7, 9, 9],
    [`'ABCDEFGHIJ abcdefghij'.upperAscii()`, 3, 3, 3],
    [`'ABCDEFGHIJ abcdefghij'.upperAscii() == 'abcdefghij ABCDEFGHIJ'.upperAscii()`, 7, 9, 9],
    [`strings.quote('ABCDEFGHIJ abcdefghij')`, 3, 3, 3],
    [`strings.quote('ABCDEFGHIJ abcdefghij') == strings.quote('ABCDEFGHIJ abcdefghij')`, 7, 11, 9],
    [`'abc 123 def 123'.replace('123', '456')`, 3, 3, 3],
    [`'abc 123 def 123'.replace('', 'x')`, 3, 3, 3],
    [`'abc 123 def 123'.replace('123', '')`, 3, 3, 3],
    [`'abc 123 def 123'.replace('123', '456', 1)`, 3, 3, 3],
    [`'abc 123 def 123'.split(' ')`, 3, 3, 3],
    [`'abc 123 def 123'.split(' ', 1)`, 3, 3, 3],
    [`'abc 123 def 123'.substring(5)`, 2, 2, 2],
    [`'abc 123 def 123'.substring(5, 8)`, 2, 2, 2],
    [`'  abc 123 def 123  '.trim()`, 2, 2, 2],
    [`['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join(' ')`, 11, UNBOUNDED, 15],
    [`['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join()`, 10, UNBOUNDED, 13],
    [`'abc 123 def 123'.find('123')`, 2, 2, 2],
    [`'abc 123 def 123'.findAll('123')`, 2, 2, 2],
    [`'abc 123 def 123'.findAll('123', 1)`, 2, 2, 2],
    [`jsonpatch.escapeKey('abc/def~ abc/def~')`, 2, 2, 2],
  ],
  authorizer: [
    [`authorizer.path('/healthz')`, 2, 2, 2],
    [
      `authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend')`,
      6,
      6,
      6,
    ],
    [
      `authorizer.group('').resource('pods').fieldSelector('spec.nodeName=example-node-name.fully.qualified.domain.name.example.com')`,
      1821,
      1821,
      1821,
    ],
    [
      `authorizer.group('').resource('pods').labelSelector('spec.nodeName=example-node-name.fully.qualified.domain.name.example.com')`,
      1821,
      1821,
      1821,
    ],
    [`authorizer.path('/healthz').check('get').allowed()`, 350003, 350003, 350003],
    [
      `authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend').check('create').allowed()`,
      350007,
      350007,
      350007,
    ],
    [
      `authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend').check('create').errored()`,
      350007,
      350007,
      350007,
    ],
    [
      `authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend').check('create').error()`,
      350007,
      350007,
      350007,
    ],
  ],
  quantities: [
    ['quantity("12Mi")', 1, 1, 1],
    ['isQuantity("20")', 1, 1, 1],
    ['isQuantity("20M")', 1, 1, 1],
    ['quantity("200M") == quantity("200M")', 3, 3, 3],
    ['quantity("200M") == quantity("0.2G") && quantity("0.2G") == quantity("200M")', 3, 6, 6],
    [
      'quantity("2M") == quantity("0.002G") && quantity("2000k") == quantity("2M") && quantity("0.002G") == quantity("2000k")',
      3,
      9,
      9,
    ],
    ['quantity("50M").isLessThan(quantity("50Mi"))', 3, 3, 3],
    ['quantity("50Mi").isGreaterThan(quantity("50M"))', 3, 3, 3],
    ['quantity("200M").compareTo(quantity("0.2G")) > 0', 4, 4, 4],
    ['quantity("50k").add(quantity("20")) == quantity("50.02k")', 5, 5, 5],
    ['quantity("50k").sub(quantity("20")) == quantity("49.98k")', 5, 5, 5],
    ['quantity("50k").sub(20) == quantity("49980")', 4, 4, 4],
    ['quantity("50k").add(20).sub(quantity("100k")).asInteger() > 0', 6, 6, 6],
    ['quantity("50k").add(20).sub(quantity("100k")).sub(-50000).asInteger() > 0', 7, 7, 7],
    ['quantity("50k").asInteger() > 0', 3, 3, 3],
    ['quantity("50").isInteger()', 2, 2, 2],
    ['quantity("50.703k").asApproximateFloat() > 0.0', 3, 3, 3],
  ],
  formats: [
    ['format.named("dns1123subdomain")', 1, 1, 1],
    ['format.named("dns1123Subdomain").value().validate("my-name")', 34, 34, 17],
    ['format.named("dns1123Label").value().validate("my-name")', 34, 34, 10],
    ['format.named("dns1123Label").value() == format.named("dns1123Label").value()', 5, 11, 5],
  ],
  sets: [
    ['sets.contains([], [])', 21, 21, 21],
    ['sets.contains([1], [])', 21, 21, 21],
    ['sets.contains([1], [1])', 22, 22, 22],
    ['sets.contains([1], [1, 1])', 23, 23, 23],
    ['sets.contains([1, 1], [1])', 23, 23, 23],
    ['sets.contains([2, 1], [1])', 23, 23, 23],
    ['sets.contains([1, 2, 3, 4], [2, 3])', 29, 29, 29],
    ['!sets.contains([1], [2])', 23, 23, 23],
    ['!sets.contains([1], [1, 2])', 24, 24, 24],
    ['sets.equivalent([], [])', 21, 21, 21],
    ['sets.equivalent([1], [1])', 23, 23, 23],
    ['sets.equivalent([1], [1, 1])', 25, 25, 25],
    ['sets.equivalent([1, 1], [1])', 25, 25, 25],
    ['!sets.equivalent([2, 1], [1])', 26, 26, 26],
    ['!sets.equivalent([1], [1, 2])', 26, 26, 26],
    ['sets.intersects([1], [1])', 22, 22, 22],
    ['sets.intersects([1], [1, 1])', 23, 23, 23],
    ['sets.intersects([1, 1], [1])', 23, 23, 23],
    ['sets.intersects([2, 1], [1])', 23, 23, 23],
    ['sets.intersects([1], [1, 2])', 23, 23, 23],
    ['!sets.intersects([], [])', 22, 22, 22],
    ['!sets.intersects([1], [])', 22, 22, 22],
    ['!sets.intersects([1], [2])', 23, 23, 23],
  ],
  versions: [
    ['semver("1.0.0")', 1, 1, 1],
    ['semver("1234.56789012345.67890123456789")', 4, 4, 4],
    ['isSemver("1.0.0")', 1, 1, 1],
    ['isSemver("1234.56789012345.67890123456789")', 4, 4, 4],
    ['semver("1.2.3").major()', 2, 2, 2],
    ['semver("1.2.3").minor()', 2, 2, 2],
    ['semver("1.2.3").patch()', 2, 2, 2],
    ['semver("1.0.0").isLessThan(semver("1.1.0"))', 3, 3, 3],
    ['semver("1.1.0").isGreaterThan(semver("1.0.0"))', 3, 3, 3],
    ['semver("1.0.0").compareTo(semver("1.2.3"))', 3, 3, 3],
  ],
  'macros with two variables': [
    [`{'a': 1, 'b': 2}.all(k, v, v > 0)`, 37, 41, 41],
    [`{'a': 1, 'b': 2}.exists(k, v, v > 0)`, 39, 43, 40],
    [`{'a': 1, 'b': 2}.existsOne(k, v, v > 0)`, 38, 40, 40],
    [`{'a': 1, 'b': 2}.transformMap(k, v, v + 1)`, 71, 71, 71],
    [`{'a': 1, 'b': 2}.transformMap(k, v, v < 5, v + 1)`, 67, 75, 75],
    [`{'a': 1, 'b': 2}.transformMapEntry(k, v, {k: v + 1})`, 131, 131, 131],
    [`{'a': 1, 'b': 2}.transformMapEntry(k, v, v < 5, {k: v + 1})`, 67, 135, 135],
    ['[1, 2].all(i, v, v > 0)', 17, 21, 21],
    ['[1, 2].exists(i, v, v > 0)', 19, 23, 20],
    ['[1, 2].existsOne(i, v, v > 0)', 18, 20, 20],
    ['[1, 2].transformList(i, v, v + 1)', 49, 49, 49],
    ['[1, 2].transformList(i, v, v < 5, v + 1)', 27, 53, 53],
  ],
  'canonical addresses': [
    [`ip.isCanonical('192.168.0.1')`, 3, 3, 3],
    [`ip.isCanonical('2001:db8:3333:4444:5555:6666:7777:8888')`, 8, 8, 8],
    [`ip.isCanonical('2001:db8::abcd')`, 3, 3, 3],
  ],
}

for (const [name, facts] of Object.entries(FACTS))
  t.test(`${name} cost what they cost in Kubernetes`, async (t) => {
    for (const [source, min, max, cost] of facts) {
      const program = literalProgram(source, ENVIRONMENT)
      const { estimatedCost: found } = program
      t.equal(found.min, min, `the least of ${source}`)
      if (max === UNBOUNDED) t.ok(found.max > FAR_TOO_MUCH, `no limit for ${source}`)
      else t.equal(found.max, max, `the most of ${source}`)
      t.equal(costOf(program, { authorizer }), cost, `cost of ${source}`)
    }
  })
