/** Thread: any. JSON pointers (RFC 6901). */
import { unprocessable } from './patch-error.js'

/** The reference tokens of a pointer; none for the whole document. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/'))
    throw unprocessable(`a path must be empty or start with "/": ${JSON.stringify(pointer)}`)
  return pointer.slice(1).split('/').map(unescapeToken)
}

function unescapeToken(token: string): string {
  if (!token.includes('~')) return token
  if (/~(?![01])/.test(token)) throw unprocessable(`"~" must be written "~0" in a path: ${JSON.stringify(token)}`)
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** An array index as RFC 6901 allows it: digits, no leading zero. Undefined when the token is none. */
export function parseIndex(token: string): number | undefined {
  if (!/^(0|[1-9][0-9]*)$/.test(token)) return undefined
  const index = Number(token)
  return Number.isSafeInteger(index) ? index : undefined
}
