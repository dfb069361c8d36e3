/** Thread: any. JSON pointers (RFC 6901), read as leniently as kube-apiserver's JSON patch library reads them. */

/** The reference tokens of a pointer. What stands before the first slash is not looked at; without a slash there are none. */
export function parsePointer(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeToken)
}

/** A "~" that escapes nothing is itself. */
function unescapeToken(token: string): string {
  return token.includes('~') ? token.replace(/~[01]/g, (pair) => (pair === '~1' ? '/' : '~')) : token
}

/** An index into an array of that length: decimal, with a sign or zeros before it; a negative one counts from the end. */
export function parseIndex(token: string, length: number): number | undefined {
  if (!/^[+-]?[0-9]+$/.test(token)) return undefined
  const number = Number(token)
  const index = number < 0 ? number + length : number
  return index >= 0 && index < length ? index : undefined
}
