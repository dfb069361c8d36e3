/** Thread: any. The name of a field manager: what the request says, or the program that sent it. */
import { type FieldError, FieldPath, invalid, required, tooLong } from '../../../api/field-error.js'

export const MAX_FIELD_MANAGER_BYTES = 128

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

export function validateFieldManager(fieldManager: string, isApply: boolean): FieldError[] {
  const path = FieldPath.of('fieldManager')
  if (isApply && fieldManager === '') return [required(path, 'is required for apply patch')]
  if (Buffer.byteLength(fieldManager) > MAX_FIELD_MANAGER_BYTES) return [tooLong(path, MAX_FIELD_MANAGER_BYTES)]
  for (const character of fieldManager)
    if (!PRINTABLE.test(character)) return [invalid(path, fieldManager, 'should only contain printable characters')]
  return []
}
