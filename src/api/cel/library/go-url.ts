/** Thread: any. URLs as Go's net/url reads them: absolute, or a path from the root. */
import { isRequestUri } from '../../formats/request-uri.js'

export interface GoUrl {
  readonly scheme: string
  /** With its port. */
  readonly host: string
  readonly escapedPath: string
  readonly rawQuery: string
  readonly fragment: string
}

const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):/
const PORT = /^:\d*$/
/** What Go leaves as it is in a path that it escapes itself, and what it takes for escaped already. */
const PATH_CHARACTER = /^[A-Za-z0-9\-_.~$&+,/:;=@]$/
const ESCAPED_PATH = /^(?:[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]]|%[0-9a-fA-F]{2})*$/

/** Undefined when it is none. */
export function parseUrl(text: string): GoUrl | undefined {
  if (!isRequestUri(text)) return undefined
  const [before, fragment] = cut(text, '#')
  // Without its fragment it may no longer be one: `http:#` has nothing left.
  if (before === '' || /%(?![0-9a-fA-F]{2})/.test(fragment)) return undefined
  const found = SCHEME.exec(before)
  const [rest, rawQuery] = cut(before.slice(found?.[0].length ?? 0), '?')
  const scheme = (found?.[1] ?? '').toLowerCase()
  if (!rest.startsWith('/')) return { scheme, host: '', escapedPath: '', rawQuery, fragment }
  const hasHost = rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))
  const slash = hasHost ? rest.indexOf('/', 2) : 0
  const authority = hasHost ? rest.slice(2, slash < 0 ? undefined : slash) : ''
  const path = slash < 0 ? '' : rest.slice(slash)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return { scheme, host: unescaped(host) ?? host, escapedPath: escapedPath(path), rawQuery, fragment }
}

/** At the first of a character: what is before and after it. */
function cut(text: string, at: string): [string, string] {
  const index = text.indexOf(at)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)]
}

function escapedPath(raw: string): string {
  if (ESCAPED_PATH.test(raw)) return raw
  const escaped: string[] = []
  for (const byte of unescapedBytes(raw)) {
    const character = String.fromCharCode(byte)
    escaped.push(
      byte < 0x80 && PATH_CHARACTER.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
  }
  return escaped.join('')
}

/** The bytes of a text in which every percent sign begins an escape. */
function unescapedBytes(text: string): Buffer {
  const bytes = Buffer.from(text)
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    const isEscape = bytes[i] === 0x25
    bytes[length++] = isEscape ? Number.parseInt(bytes.toString('latin1', i + 1, i + 3), 16) : bytes[i]!
    if (isEscape) i += 2
  }
  return bytes.subarray(0, length)
}

/** Undefined when a percent sign does not begin an escape. */
const unescaped = (text: string): string | undefined =>
  /%(?![0-9a-fA-F]{2})/.test(text) ? undefined : unescapedBytes(text).toString()

function hostAndPort({ host }: GoUrl): [string, string] {
  const colon = host.lastIndexOf(':')
  const hasPort = colon >= 0 && PORT.test(host.slice(colon))
  const name = hasPort ? host.slice(0, colon) : host
  const bare = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
  return [bare, hasPort ? host.slice(colon + 1) : '']
}

export const hostnameOf = (url: GoUrl): string => hostAndPort(url)[0]
export const portOf = (url: GoUrl): string => hostAndPort(url)[1]

/** By key, in the order they came; what cannot be read is left out. */
export function queryOf({ rawQuery }: GoUrl): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const pair of rawQuery.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const [key, value] = cut(pair, '=').map((part) => unescaped(part.replaceAll('+', ' ')))
    if (key === undefined || value === undefined) continue
    const values = found.get(key)
    if (values === undefined) found.set(key, [value])
    else values.push(value)
  }
  return found
}

export const urlText = ({ scheme, host, escapedPath: path, rawQuery, fragment }: GoUrl): string =>
  `${scheme}://${host}${path}?${rawQuery}#${fragment}`
