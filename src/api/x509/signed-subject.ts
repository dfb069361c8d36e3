/**
 * Thread: any. The subject that a signer puts into a certificate: those attributes of the requested one that Go's signer knows, in its
 * order. Everything else that a request brings along is left out. Kubernetes' own attribute for uids is among it: who may ask for the
 * certificate of a node must not choose whose uid it carries.
 */
import { DerError, type NameAttribute } from './der-reader.js'
import { element, sequence, set } from './der-writer.js'

const OBJECT_IDENTIFIER = 0x06
const PRINTABLE_STRING = 0x13
const UTF8_STRING = 0x0c
/** Country, organization, organizational unit, locality, province, street address, postal code: each may stand there several times. */
const REPEATED = ['550406', '55040a', '55040b', '550407', '550408', '550409', '550411']
/** Common name and serial number: of several the last counts. */
const SINGLE = ['550403', '550405']
const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/

export function signedSubject(attributes: readonly NameAttribute[]): Buffer {
  const values = new Map<string, string[]>()
  for (const { type, value } of attributes) {
    const text = textOf(value)
    if (text !== undefined) values.set(type, [...(values.get(type) ?? []), text])
  }
  const names = [
    ...REPEATED.map((type) => (values.get(type) ?? []).map((text) => attribute(type, text))),
    ...SINGLE.map((type) => (values.get(type) ?? []).slice(-1).map((text) => attribute(type, text))),
  ]
  return sequence(...names.filter((group) => group.length > 0).map((group) => set(...group.sort(Buffer.compare))))
}

function attribute(type: string, text: string): Buffer {
  const tag = PRINTABLE.test(text) ? PRINTABLE_STRING : UTF8_STRING
  return sequence(element(OBJECT_IDENTIFIER, Buffer.from(type, 'hex')), element(tag, Buffer.from(text)))
}

/** Undefined for what is no text, which Go does not read. */
function textOf(value: () => string): string | undefined {
  try {
    return value()
  } catch (error) {
    if (error instanceof DerError) return undefined
    throw error
  }
}
