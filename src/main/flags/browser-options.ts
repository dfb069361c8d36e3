/** Thread: main. The flags about browsers: which pages may use the server (CORS), and that they use TLS (HSTS). */
import { RE2JS, RE2JSException } from 're2js'
import { flagList } from './flag-values.js'
import { type FlagValues, flagsOf } from './flags.js'

const flag = flagsOf('Browsers')
const ORIGINS = 'cors-allowed-origins'
const DIRECTIVES = 'strict-transport-security-directives'

export const BROWSER_FLAGS = [
  flag(
    ORIGINS,
    'list',
    '',
    'Regular expressions of the origins whose pages may use this server from a browser; each must be pinned to the start of the host (^ or //) and to its end ($ or :).',
  ),
  flag(
    DIRECTIVES,
    'list',
    '',
    'Directives of the header Strict-Transport-Security: max-age=seconds, includeSubDomains, preload; without any there is no such header.',
  ),
]

export function browserErrors(values: FlagValues): string[] {
  const errors: string[] = []
  for (const text of flagList(values, ORIGINS)) {
    const problem = patternProblem(text)
    if (problem !== undefined) errors.push(`--${ORIGINS}: ${JSON.stringify(text)} ${problem}`)
  }
  for (const text of flagList(values, DIRECTIVES))
    if (text !== 'includeSubDomains' && text !== 'preload' && !/^max-age=[^=]+$/.test(text))
      errors.push(`--${DIRECTIVES}: ${JSON.stringify(text)} is none of max-age=seconds, includeSubDomains, preload`)
  return errors
}

/** Without pins a pattern would match other hosts too: good.example in good.example.evil.example. */
function patternProblem(text: string): string | undefined {
  try {
    RE2JS.compile(text)
  } catch (error) {
    if (error instanceof RE2JSException) return 'is no regular expression (RE2)'
    throw error
  }
  const isPinned = (text.includes('^') || text.includes('//')) && (text.includes('$') || text.includes(':'))
  return isPinned ? undefined : 'is not pinned to the start (^ or //) and the end ($ or :) of the host'
}

/** What front ends are told of these flags. */
export interface BrowserConfig {
  readonly allowedOrigins: readonly string[]
  /** The value of Strict-Transport-Security; '' for no such header. */
  readonly strictTransportSecurity: string
}

export const browserConfig = (values: FlagValues): BrowserConfig => ({
  allowedOrigins: flagList(values, ORIGINS),
  strictTransportSecurity: flagList(values, DIRECTIVES).join('; '),
})
