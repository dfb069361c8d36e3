/** Thread: any. The formats of strings that schemas of custom resources check. Others say nothing. */
import { isAddress, parseAddress, parseCidr } from '../validation/addresses.js'
import { wordyDuration } from './durations.js'
import { isEmailAddress } from './email-address.js'
import { isCreditCard, isIsbn10, isIsbn13 } from './numbered-things.js'
import { isRequestUri } from './request-uri.js'

export type FormatCheck = (text: string) => boolean

const by =
  (pattern: RegExp): FormatCheck =>
  (text) =>
    pattern.test(text)

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return false
  const [y, m, d] = [Number(year), Number(month), Number(day)]
  const leap = y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0)
  const days = m === 2 && leap ? 29 : DAYS[m - 1]
  return days !== undefined && d >= 1 && d <= days
}

const CLOCK = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/

/** A leap second is none, and the offset may be anything of two digits. */
function isDateTime(text: string): boolean {
  const [date = '', clock] = text.toLowerCase().split('t')
  if (clock === undefined || !isDate(date)) return false
  const [, hours, minutes, seconds] = CLOCK.exec(clock) ?? []
  return hours !== undefined && hours <= '23' && minutes! <= '59' && seconds! <= '59'
}

/** Alone, a label has a hyphen nowhere but after its first character. */
const ONE_LABEL = /^[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]*$/u
const LABEL = /^[a-zA-Z0-9\p{S}\p{L}-]+$/u
const TOP_LABEL = /^[a-zA-Z\p{L}]{2,63}$/u
const MAX_HOST_BYTES = 255
const MAX_LABEL_BYTES = 63

const isLabel = (label: string): boolean => LABEL.test(label) && !label.startsWith('-') && !label.endsWith('-')

/** One label, or several of which the last has letters only. */
function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > MAX_HOST_BYTES) return false
  const labels = text.split('.')
  if (labels.some((label) => Buffer.byteLength(label) > MAX_LABEL_BYTES)) return false
  if (labels.length === 1) return ONE_LABEL.test(text)
  return TOP_LABEL.test(labels.at(-1)!) && labels.slice(0, -1).every(isLabel)
}

const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const MAX_LONG_NAME = 253
const isShortName = (text: string): boolean => text.length <= MAX_LABEL_BYTES && SHORT_NAME.test(text)
/** Labels of a long name have no limit of their own. */
const isLongName = (text: string): boolean =>
  text.length <= MAX_LONG_NAME && text.split('.').every((label) => SHORT_NAME.test(label))

const isIPv4 = (text: string): boolean => text.includes('.') && isAddress(text)
const isIPv6 = (text: string): boolean => text.includes(':') && !hasLeadingZeros(text) && isAddress(text)
/** Go reads no octet with a leading zero; only IPv4 alone is read as it was before. */
const hasLeadingZeros = (text: string): boolean =>
  text.includes('.') && /(?:^|[.:])0\d+(?:\.|$)/.test(text) && parseAddress(text) !== undefined

const BYTE_PAIRS = /^[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2})*)?$/
const BYTE_FOURS = /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/
/** In bytes: of Ethernet, of EUI-64, of InfiniBand. */
const MAC_LENGTHS = new Set([6, 8, 20])

function isMac(text: string): boolean {
  if (!BYTE_PAIRS.test(text) && !BYTE_FOURS.test(text)) return false
  return MAC_LENGTHS.has(text.replace(/[.:-]/g, '').length / 2)
}

const RGB = /^rgb\(([0-9,\t\n\f\r ]*)\)$/
const COLOR_PART = /^(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])$/
const isRgbColor = (text: string): boolean => {
  const parts = RGB.exec(text)?.[1]?.split(',') ?? []
  return parts.length === 3 && parts.every((part) => COLOR_PART.test(part.trim()))
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const isBase64 = (text: string): boolean => text.length % 4 === 0 && BASE64.test(text)

/** By name without hyphens: that is how they are compared. */
const CHECKS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['bsonobjectid', by(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestUri],
  ['email', isEmailAddress],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['cidr', (text) => parseCidr(text) !== undefined],
  ['mac', isMac],
  ['uuid', by(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', by(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', by(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', by(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', by(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', isRgbColor],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDate],
  ['duration', (text) => wordyDuration(text) !== undefined],
  ['datetime', isDateTime],
  ['k8sshortname', isShortName],
  ['k8slongname', isLongName],
])

const NUMBER_FORMATS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['integer', new Set(['int32', 'int64'])],
  ['number', new Set(['float', 'double'])],
])

/** The check of a format of strings; undefined when nobody knows it. */
export const formatCheck = (format: string): FormatCheck | undefined => CHECKS.get(format.replaceAll('-', ''))

/** Whether a format means something for values of a type; '' for values of no one type. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === '' || type === 'string') return CHECKS.has(format.replaceAll('-', ''))
  return NUMBER_FORMATS.get(type)?.has(format) ?? false
}
