/** Thread: any. The name of a field manager: what the request says, or the program that sent it. */
const MAX_FIELD_MANAGER_BYTES = 128

/** As Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the space. */
const PRINTABLE = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u

/** The fieldManager of the request, else the part of the user agent before its first slash. */
export function managerOrUserAgent(fieldManager: string | undefined, userAgent: string | undefined): string {
  if (fieldManager) return fieldManager
  const prefix = (userAgent ?? '').split('/', 1)[0]!
  let name = ''
  let bytes = 0
  for (const character of prefix) {
    if (!PRINTABLE.test(character)) continue
    bytes += Buffer.byteLength(character)
    if (bytes > MAX_FIELD_MANAGER_BYTES) break
    name += character
  }
  return name
}
