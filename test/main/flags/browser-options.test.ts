import t from 'tap'
import { browserConfig, browserErrors } from '#keelson/main/flags/browser-options.js'
import { parseCommandLine } from '#keelson/main/flags/config-file.js'
import { FLAGS } from '#keelson/main/flags/options.js'

const values = (...argv: string[]) => parseCommandLine(argv, FLAGS).values
const origins = (...patterns: string[]): string[] =>
  browserErrors(values(`--cors-allowed-origins=${patterns.join(',')}`))
const directives = (text: string): string[] => browserErrors(values(`--strict-transport-security-directives=${text}`))

t.test('patterns of origins must be pinned at both ends of the host', async (t) => {
  t.same(origins('^https://good\\.example$', '//localhost:', '//127\\.0\\.0\\.1(:|$)'), [])
  for (const loose of ['good\\.example', '^good', '//good', 'good$', '.*'])
    t.match(origins(loose), [/is not pinned to the start/], loose)
  t.match(origins('^(a$'), [/is no regular expression/])
  t.match(origins('^(?=a)$'), [/is no regular expression/], 'what RE2 does not have')
})

t.test('directives of Strict-Transport-Security', async (t) => {
  t.same(directives('max-age=31536000,includeSubDomains,preload'), [])
  for (const wrong of ['max-age', 'max-age=', 'max-age=1=2', 'Preload', 'x'])
    t.equal(directives(wrong).length, 1, wrong)
  t.equal(
    browserConfig(values('--strict-transport-security-directives=max-age=5,preload')).strictTransportSecurity,
    'max-age=5; preload',
  )
})
