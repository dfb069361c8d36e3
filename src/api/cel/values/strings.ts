/** Thread: any. Strings as CEL sees them: sequences of code points. */

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** How many code points a string has. */
export function codePointCount(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++)
    if (isLowSurrogate(text.charCodeAt(i)) && isHighSurrogate(text.charCodeAt(i - 1))) {
      count--
      i++
    }
  return count
}

/** Where units of two strings differ, surrogates stand for code points above all others. */
const weight = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit)

/** Negative, zero or positive, by code points: JavaScript compares units, and puts U+1F600 before U+FF5E. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return weight(x) - weight(y)
  }
  return a.length - b.length
}

/** What walking over a string once costs. */
export const traversalCost = (text: string): number =>
  text.length <= 10 ? (text.length === 0 ? 0 : 1) : Math.ceil(codePointCount(text) * 0.1)
