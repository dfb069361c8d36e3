import type { Json } from '#keelson/api/object.js'

/** A text that is the same for the same values, in whatever order their fields are. */
export function textOf(value: Json | undefined): string {
  if (typeof value === 'bigint') return `${value}`
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const fields = Object.keys(value).sort()
  return `{${fields.map((field) => `${JSON.stringify(field)}:${textOf(value[field] as Json)}`).join()}}`
}

export const isSame = (one: Json | undefined, two: Json | undefined): boolean => textOf(one) === textOf(two)
