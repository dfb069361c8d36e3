import t from 'tap'
import { parseListOptions } from '#keelson/api/list-options.js'
import { negotiate, parseMediaType } from '#keelson/api/media-type.js'
import type { RequestInfo } from '#keelson/api/request-info.js'
import { parseSelectors } from '#keelson/api/selectors.js'
import { StatusError } from '#keelson/api/status.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import { fuzzRounds, fuzzSeed, Random } from '../support/fuzz.js'

const ROUNDS = 30_000
const FIELDS = ['metadata.name', 'metadata.namespace']
const WORDS = [
  ...'/,;=!()<>"\\%.*-+ \t\n\0é',
  ...['api', 'apis', 'v1', 'apps', 'namespaces', 'pods', 'watch', 'proxy', 'status', 'finalize', '..', '__proto__'],
  ...['in', 'notin', 'a', 'app', 'x.io/y', 'metadata.name', 'true', 'false', '0', '1', '-1', '1e9', '\ud800'],
  ...['application/json', 'application/*', '*/*', 'q=', 'as=Table', 'g=meta.k8s.io', 'v=v1', 'constructor'],
]
const PARAMETERS = [
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
  'allowWatchBookmarks',
]

const text = (random: Random, words: number): string =>
  Array.from({ length: random.below(words + 1) }, () => random.pick(WORDS)).join('')

const options = (random: Random): URLSearchParams => {
  const query = new URLSearchParams()
  for (let i = random.below(5); i >= 0; i--) query.append(random.pick(PARAMETERS), text(random, 8))
  return query
}

/** Undefined: refused. */
const asked = (method: string, rawPath: string, query: URLSearchParams): RequestInfo | undefined => {
  try {
    return resolveRequestInfo(method, rawPath, query)
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) return undefined
    throw error
  }
}

t.test('whatever a request says is understood or refused with a 4xx', async (t) => {
  const random = new Random(fuzzSeed())
  let refused = 0
  for (let round = 0; round < fuzzRounds(ROUNDS); round++) {
    const query = options(random)
    const path = `/${text(random, 12)}`
    const header = text(random, 10)
    const method = random.pick(['GET', 'POST', 'DELETE', 'HEAD', 'BREW'])
    // Half of them encoded well, half as they are.
    const info = random.chance(50)
      ? asked(method, path, query)
      : asked(method, encodeURI(path.replaceAll('\ud800', '')), query)
    if (info?.isResourceRequest && (info.apiVersion === '' || info.resource === '')) t.fail(`${path} names no resource`)
    const accepted = negotiate(header)
    if (typeof accepted === 'object' && !['json', 'yaml', 'protobuf'].includes(accepted.serialization)) t.fail(header)
    parseMediaType(header)
    try {
      parseSelectors(parseListOptions(query, random.chance(50)), FIELDS)
    } catch (error) {
      const code = error instanceof StatusError ? (error.status.code ?? 0) : 0
      if (code < 400 || code >= 500) t.fail(`${query}: ${String(error)}`)
      refused++
    }
  }
  t.ok(refused > 0, `${refused} refused`)
})

t.test('a selector that was understood means the same when it is written out', async (t) => {
  const random = new Random(fuzzSeed() + 1)
  let understood = 0
  for (let round = 0; round < fuzzRounds(ROUNDS); round++) {
    const query = new URLSearchParams({ labelSelector: text(random, 6), fieldSelector: '' })
    try {
      const { label } = parseSelectors(parseListOptions(query, false), FIELDS)
      const again = parseSelectors(
        parseListOptions(new URLSearchParams({ labelSelector: String(label), fieldSelector: '' }), false),
        FIELDS,
      )
      if (String(again.label) !== String(label)) t.fail(`${query}: ${String(label)} became ${String(again.label)}`)
      understood++
    } catch (error) {
      if (!(error instanceof StatusError)) t.fail(`${query}: ${String(error)}`)
    }
  }
  t.ok(understood > 0, `${understood} understood`)
})
