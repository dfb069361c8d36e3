import t from 'tap'
import { complete } from '#keelson/main/flags/config.js'
import { parseCommandLine } from '#keelson/main/flags/config-file.js'
import { errorLines, type Flag, type FlagType } from '#keelson/main/flags/flags.js'
import { FLAGS } from '#keelson/main/flags/options.js'

// Every flag with the extreme values of its type: each is taken, or refused in one short line that names the flag.

const LONG = 'x'.repeat(100_000)
const EXTREMES: Readonly<Record<FlagType, readonly string[]>> = {
  boolean: ['', 'yes', '2', 'TRUE', LONG, '\0'],
  integer: [
    ...['0', '1', '-1', '2147483647', '2147483648', '-2147483649', '9007199254740991', '9007199254740992'],
    ...['9223372036854775807', '99999999999999999999999999', '', ' 5', '5 ', '1e3', '1.5', '0x10', '５', LONG, '\0'],
  ],
  number: ['0', '0.02', '.5', '1.', '-1', '2147483648', '1e400', '', ' 1', '1e3', 'NaN', 'Infinity', '0x1', LONG, '\0'],
  duration: [
    ...['0', '0s', '1ns', '-1s', '2147483647ms', '2147483648ms', '2562047h47m16.854775807s', '2562048h'],
    ...['99999999999999999999h', '', '5', '1d', '1 s', '1week', `${'9'.repeat(100_000)}s`, '\0'],
  ],
  bytes: [
    ...['0', '1', '-1', '2147483648', '9007199254740991', '9007199254740992', '9999999999999999999Gi', '8388608Gi'],
    ...['', '1Ti', '1K', '1kb', ' 1', '1.5Gi', LONG, '\0'],
  ],
  string: ['', '-1', LONG, 'a'.repeat(5000), '\0', 'a\nb', '..', '/dev/null/x', 'ü', '$(id)'],
  list: ['', ',,,', LONG, 'a,a,a', '\0', 'a\nb', Array.from({ length: 5000 }, (_, i) => `n${i}`).join(',')],
  map: ['', 'a', '=', '=a', 'a=', 'a=b,a=c', `${LONG}=y`, '\0=\0', 'constructor=true', '__proto__=true'],
}

/** What the flag needs beside it, where its value is looked at only then. */
const WITH: Readonly<Record<string, readonly string[]>> = {
  'etcd-prefix': ['--etcd-servers=http://127.0.0.1:1'],
  'oidc-client-id': ['--oidc-issuer-url=https://issuer.example'],
}

const errorsOf = (argv: readonly string[]): readonly string[] => {
  const parsed = parseCommandLine(argv, FLAGS)
  const result = complete(parsed.values)
  return errorLines([...parsed.errors, ...('errors' in result ? result.errors : [])])
}

/** Of a line and its mark that it was cut. */
const MAX_LINE = 1001

for (const flag of FLAGS)
  t.test(`--${flag.name}`, async (t) => {
    for (const value of EXTREMES[flag.type]) {
      const errors = errorsOf([`--${flag.name}=${value}`, ...(WITH[flag.name] ?? [])])
      const name = JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
      for (const error of errors) {
        t.notMatch(error, /[\0\n]/, `${name}: one line`)
        t.ok(error.length <= MAX_LINE, `${name}: a short one, not ${error.length} characters`)
      }
      t.equal(errors.length > 0 && !errors.some((error) => error.includes(`--`)), false, `${name}: a flag is named`)
    }
  })

t.test('numbers that would not be what they say are refused, whatever the flag', async (t) => {
  const refused: Readonly<Record<string, readonly string[]>> = {
    integer: ['-2147483649', '2147483648', '9007199254740992', '99999999999999999999999999', '', ' 5', '1e3', '\0'],
    number: ['1e400', '', ' 1', 'NaN', 'Infinity', '0x1', '2147483648'],
    duration: ['-1s', '2562048h', '', '5', '1d', '1week', '\0'],
    bytes: ['-1', '9007199254740992', '9999999999999999999Gi', '', '1Ti', '1kb'],
    boolean: ['', 'yes', '2'],
  }
  for (const flag of FLAGS)
    for (const value of refused[flag.type] ?? [])
      t.match(errorsOf([`--${flag.name}=${value}`])[0], `--${flag.name}: `, `--${flag.name}=${JSON.stringify(value)}`)
})

t.test('a flag that is given twice has its last value, or both when it is a list', async (t) => {
  const value = (flag: Flag, ...given: string[]): string | undefined =>
    parseCommandLine(
      given.map((text) => `--${flag.name}=${text}`),
      FLAGS.filter(({ name }) => name !== 'config' || flag.name !== 'config'),
    ).values.get(flag.name)
  const two: Readonly<Record<FlagType, readonly [string, string]>> = {
    boolean: ['true', 'false'],
    integer: ['1', '2'],
    number: ['0.01', '0.02'],
    duration: ['1s', '2s'],
    bytes: ['1Mi', '2Mi'],
    string: ['a', 'b'],
    list: ['a', 'b'],
    map: ['a=1', 'b=2'],
  }
  for (const flag of FLAGS) {
    if (flag.name === 'config') continue
    const [first, second] = two[flag.type]
    const isMany = flag.type === 'list' || flag.type === 'map'
    t.equal(value(flag, first, second), isMany ? `${first},${second}` : second, flag.name)
  }
})

t.test('folders and files that cannot be are told before anything starts', async (t) => {
  t.match(errorsOf(['--data-dir=']), ['--data-dir: it needs a folder, or memory'])
  t.match(errorsOf([`--data-dir=/${'a'.repeat(5000)}`]), [/^--data-dir: .* its name is too long$/])
  t.match(errorsOf([`--client-ca-file=/${'a'.repeat(5000)}`]), [
    /^--client-ca-file: .* cannot be read: its name is too long$/,
  ])
  t.match(errorsOf(['--client-ca-file=/dev/null/x']), [/a part of its path is a file$/])
  t.match(errorsOf(['--audit-log-path=/dev/null/x/audit.log']), [/^--audit-log-path: /])
  t.match(errorsOf(['--service-account-jwks-uri=../keys']), [/^--service-account-jwks-uri must be a URL/])
  t.match(errorsOf(['--etcd-compaction-interval=1ns']), [
    '--etcd-compaction-interval must be 0, which turns it off, or at least 1s',
  ])
})
