/**
 * Thread: any. --runtime-config: which versions and resources are served. What is said of a resource counts before what is
 * said of its version, that before what is said of a class of versions, and that before the default, which is GA alone.
 */
import { type Catalogue, isGA, type ResourceInfo } from './catalogue.js'

const BETA = /^v\d+beta\d+$/
const ALPHA = /^v\d+alpha\d+$/
/** In the order in which they are taken: later ones win. */
const CLASSES: readonly (readonly [key: string, matches: (version: string) => boolean])[] = [
  ['api/all', () => true],
  ['api/ga', isGA],
  ['api/beta', (version) => BETA.test(version)],
  ['api/alpha', (version) => ALPHA.test(version)],
]
const TRUE = new Set(['', '1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/** From `key=value` texts, of which the last of a key counts. A key alone is true. */
function parseEntries(entries: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of entries) {
    const equals = entry.indexOf('=')
    if (equals < 0) found.set(entry, '')
    else found.set(entry.slice(0, equals), entry.slice(equals + 1))
  }
  return found
}

/** Everything that is wrong with the flag. */
export function validateRuntimeConfig(entries: readonly string[], all: Catalogue): string[] {
  const found = parseEntries(entries)
  const problems: string[] = []
  if (found.size === 1 && FALSE.has(found.get('api/all') ?? 'true'))
    problems.push('api/all=false alone leaves nothing to serve')
  for (const [key, value] of found) {
    if (!TRUE.has(value) && !FALSE.has(value)) problems.push(`the value of ${key} is ${value}, not true or false`)
    if (CLASSES.some(([name]) => name === key)) continue
    const problem = keyProblem(key, all)
    if (problem !== undefined) problems.push(problem)
  }
  return problems.map((problem) => `--runtime-config: ${problem}`)
}

function keyProblem(key: string, all: Catalogue): string | undefined {
  const [group = '', version = '', resource, ...more] = key.split('/')
  if (version === '' || more.length > 0) return `${key} is not of the form group/version or group/version/resource`
  const known = groupOf(group)
  if (!all.groups().includes(known)) return `there is no API group ${group}`
  if (!all.versions(known).includes(version)) return `there is no version ${group}/${version}`
  if (resource === undefined) return undefined
  return all.find(known, version, resource) === undefined ? `there is no resource ${key}` : undefined
}

/** The core group is called by its path. */
const groupOf = (name: string): string => (name === 'api' ? '' : name)

/** What a valid flag leaves of all that there is. */
export function servedByConfig(entries: readonly string[], all: Catalogue): Catalogue {
  const found = parseEntries(entries)
  const said = (key: string): boolean | undefined => {
    const value = found.get(key)
    return value === undefined ? undefined : TRUE.has(value)
  }
  return all.filter((info) => isServed(info, said))
}

function isServed(info: ResourceInfo, said: (key: string) => boolean | undefined): boolean {
  const { group, version, resource, servedByDefault } = info
  const path = `${group === '' ? 'api' : group}/${version}`
  const own = said(`${path}/${resource}`) ?? said(path)
  if (own !== undefined) return own
  let served = servedByDefault
  for (const [key, matches] of CLASSES) if (matches(version)) served = said(key) ?? served
  return served
}
