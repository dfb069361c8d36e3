import t from 'tap'
import { describeFlags, type Flag, parseBytes, parseFlags } from '#keelson/main/flags/flags.js'

const flag = (name: string, type: Flag['type'], preset = ''): Flag => ({
  name,
  type,
  default: preset,
  group: 'Group',
  help: `About ${name}.`,
})
const FLAGS = [
  flag('data-dir', 'string', './data'),
  flag('watch-cache', 'boolean', 'true'),
  flag('secure-port', 'integer', '6443'),
  flag('request-timeout', 'duration', '60s'),
  flag('cache-memory-limit', 'bytes', '1Gi'),
  flag('etcd-servers', 'list'),
  flag('labels', 'map'),
]
const values = (...argv: string[]): Record<string, string> => Object.fromEntries(parseFlags(argv, FLAGS).values)
const errors = (...argv: string[]): readonly string[] => parseFlags(argv, FLAGS).errors

t.test('a value follows an equals sign or a space; what is not given has its default', async (t) => {
  t.match(values('--data-dir=a=b', '--secure-port', '-1'), {
    'data-dir': 'a=b',
    'secure-port': '-1',
    'watch-cache': 'true',
    'request-timeout': '60s',
  })
})

t.test('a boolean takes no word after it', async (t) => {
  t.equal(values('--watch-cache=false')['watch-cache'], 'false')
  t.same(errors('--watch-cache', 'false'), ['unexpected argument "false": flags start with --'])
})

t.test('booleans as Go reads them, names with underscores as pflag does', async (t) => {
  t.equal(values('--watch_cache=F')['watch-cache'], 'false')
  t.equal(values('--watch-cache=1')['watch-cache'], 'true')
})

t.test('a value that is wrong leaves the default, so that nothing more is said about it', async (t) => {
  t.equal(values('--secure-port=abc')['secure-port'], '6443')
})

t.test('a flag of kube-apiserver that does nothing here is a suggestion too', async (t) => {
  t.same(errors('--loging-format=json'), ['unknown flag --loging-format; did you mean --logging-format?'])
})

t.test('long help is broken into lines', async (t) => {
  const long = { ...flag('long', 'string'), help: 'word '.repeat(40).trim() }
  t.ok(
    describeFlags([long])
      .split('\n')
      .every((line) => line.length <= 100),
  )
})

t.test('a list may come in pieces, anything else is replaced', async (t) => {
  const given = values('--etcd-servers=a,b', '--etcd-servers', 'c', '--data-dir=x', '--data-dir=y')
  t.equal(given['etcd-servers'], 'a,b,c')
  t.equal(given['data-dir'], 'y')
})

t.test('every mistake is told, each in its own words', async (t) => {
  t.same(
    errors(
      'stray',
      '--dta-dir=x',
      '--zzzzzzzzzz',
      '--secure-port=abc',
      '--watch-cache=yes',
      '--request-timeout=1 day',
      '--cache-memory-limit=1T',
      '--labels=a',
      '--data-dir',
      '--etcd-servers',
    ),
    [
      'unexpected argument "stray": flags start with --',
      'unknown flag --dta-dir; did you mean --data-dir?',
      'unknown flag --zzzzzzzzzz',
      '--secure-port: "abc" is not a whole number',
      '--watch-cache: "yes" is not true or false',
      '--request-timeout: "1 day" is not a duration such as 90s, 5m or 1h30m',
      '--cache-memory-limit: "1T" is not a size such as 512Mi or 2Gi',
      '--labels: "a" is not a list of key=value',
      '--data-dir needs a value',
      '--etcd-servers needs a value',
    ],
  )
})

t.test('the value of an unknown flag is no second mistake', async (t) => {
  t.equal(errors('--unknown', 'value').length, 1)
})

t.test('help is asked for beside anything else', async (t) => {
  t.equal(parseFlags(['--data-dir=x', '-h'], FLAGS).help, true)
  t.equal(parseFlags([], FLAGS).help, false)
  t.equal(parseFlags(['--version'], FLAGS).version, true)
  t.match(describeFlags(FLAGS), /Group:\n {2}--data-dir string\n {8}About data-dir\. \(default \.\/data\)/)
})

t.test('a duration is written as in Go, and is not negative', async (t) => {
  const flags: Flag[] = [{ name: 'wait', type: 'duration', default: '0', group: 'Group', help: 'Waits.' }]
  const errorsOf = (text: string) => parseFlags([`--wait=${text}`], flags).errors
  for (const good of ['0', '90s', '1h30m', '.5s', '1µs']) t.same(errorsOf(good), [], good)
  for (const bad of ['', '5', '-1s', '1s ', '1d']) t.match(errorsOf(bad), [/--wait: .* is not a duration/], bad)
})

t.test('sizes in powers of two and of ten', async (t) => {
  t.equal(parseBytes('512Mi'), 512 * 2 ** 20)
  t.equal(parseBytes('2G'), 2e9)
  t.equal(parseBytes('7'), 7)
  t.equal(parseBytes('1.5Gi'), undefined)
  t.equal(parseBytes('Mi'), undefined)
})
