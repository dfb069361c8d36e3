/** Thread: any. What a rule says that does not hold: its words, the kind of error, and where. */
import { MAX_MESSAGE_SIZE } from '../../api/cel/limits.js'
import type { CelValue } from '../../api/cel/values/value.js'
import { duplicate, type FieldError, type FieldPath, forbidden, invalid, required } from '../../api/field-error.js'
import type { ValidationRule } from '../../api/generated/kinds/apiextensions.v1.js'

/** How errors name a rule: by its message, else by its source. */
export const ruleText = ({ rule = '', message = '' }: ValidationRule): string =>
  (message === '' ? rule : message).trim()

export const defaultMessage = (rule: ValidationRule): string =>
  (rule.message ?? '') === '' ? `failed rule: ${ruleText(rule)}` : ruleText(rule)

/** The message that an expression made; undefined when it made none that can be shown. */
export function shownMessage(value: CelValue): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  const isShown = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_MESSAGE_SIZE
  return isShown ? text : undefined
}

export function failure(rule: ValidationRule, path: FieldPath, value: unknown, detail: string): FieldError {
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail)
    case 'FieldValueRequired':
      return required(path, detail)
    case 'FieldValueDuplicate':
      return duplicate(path, value)
    default:
      return invalid(path, value, detail)
  }
}
