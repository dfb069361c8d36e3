/** Thread: any. Books and credit cards: numbers with a check digit, and anything between their digits. */

const CARDS = [
  /^4\d{12}(?:\d{3})?$/,
  /^5[1-5]\d{14}$/,
  /^6(?:011|5\d\d)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|[68]\d)\d{11}$/,
  /^(?:2131|1800|35\d{3})\d{11}$/,
]
const LONGEST_CARD = 16

export function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D+/g, '')
  if (digits.length > LONGEST_CARD || !CARDS.some((card) => card.test(digits))) return false
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const weighed = i % 2 === 0 ? digit : digit * 2
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return sum % 10 === 0
}

const bare = (text: string): string => text.replace(/[\s-]+/g, '')

export function isIsbn10(text: string): boolean {
  const digits = bare(text)
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, i) => total + (i + 1) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

export function isIsbn13(text: string): boolean {
  const digits = bare(text)
  if (!/^\d{13}$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, i) => total + (i % 2 === 0 ? 1 : 3) * Number(digit), 0)
  return sum % 10 === 0
}
