/** Thread: any. The rules for names. Each gives the reasons why a text is not one; an empty list means that it is. */

export type NameRule = (name: string, isPrefix: boolean) => string[]

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const DNS_1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/

const DNS_LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const DNS_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
const DNS_SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

const tooLong = (limit: number): string => `must be no more than ${limit} bytes`
const bytes = (text: string): number => Buffer.byteLength(text)

/** generateName may end in a dash: what is appended makes the name whole. */
const whole = (name: string, isPrefix: boolean): string =>
  isPrefix && name.endsWith('-') ? `${name.slice(0, -1)}a` : name

export const isDns1123Label = (value: string): string[] => [
  ...(bytes(value) > 63 ? [tooLong(63)] : []),
  ...(DNS_LABEL.test(value) ? [] : [DNS_LABEL_TEXT]),
]

export const isDns1035Label = (value: string): string[] => [
  ...(bytes(value) > 63 ? [tooLong(63)] : []),
  ...(DNS_1035_LABEL.test(value) ? [] : [DNS_1035_TEXT]),
]

export const isDns1123Subdomain = (value: string): string[] => [
  ...(bytes(value) > 253 ? [tooLong(253)] : []),
  ...(DNS_SUBDOMAIN.test(value) ? [] : [DNS_SUBDOMAIN_TEXT]),
]

/** `name` or `prefix/name`: keys of labels and annotations, finalizers. */
export function isQualifiedName(value: string): string[] {
  const parts = value.split('/')
  if (parts.length > 2) return [`a qualified name ${QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/'`]
  const reasons: string[] = []
  const name = parts[parts.length - 1]!
  if (parts.length === 2) {
    if (parts[0] === '') reasons.push('prefix part must be non-empty')
    else reasons.push(...isDns1123Subdomain(parts[0]!).map((reason) => `prefix part ${reason}`))
  }
  if (name === '') reasons.push('name part must be non-empty')
  else if (bytes(name) > 63) reasons.push(`name part ${tooLong(63)}`)
  if (!QUALIFIED_NAME.test(name)) reasons.push(QUALIFIED_TEXT)
  return reasons
}

export const isValidLabelValue = (value: string): string[] => [
  ...(bytes(value) > 63 ? [tooLong(63)] : []),
  ...(LABEL_VALUE.test(value) ? [] : [LABEL_VALUE_TEXT]),
]

/** Anything that can stand in a URL path. */
export function pathSegmentName(name: string, isPrefix: boolean): string[] {
  if (!isPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`)
}

export const dnsSubdomainName: NameRule = (name, isPrefix) => isDns1123Subdomain(whole(name, isPrefix))
export const dnsLabelName: NameRule = (name, isPrefix) => isDns1123Label(whole(name, isPrefix))
