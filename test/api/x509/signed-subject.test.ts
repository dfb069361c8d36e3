import { generateKeyPairSync, sign } from 'node:crypto'
import t from 'tap'
import { parseCertificateRequest } from '#keelson/api/x509/certificate-request.js'
import { DerReader, readName } from '#keelson/api/x509/der-reader.js'
import { bitString, element, integer, oid, sequence, set, utf8String } from '#keelson/api/x509/der-writer.js'

const UID = '1.3.6.1.4.1.57683.2'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })

/** A request with these attributes in its subject, one after the other. */
function requestOf(attributes: readonly Buffer[]): string {
  const info = sequence(
    integer(Buffer.of(0)),
    sequence(...attributes.map((one) => set(one))),
    publicKey.export({ format: 'der', type: 'spki' }),
    element(0xa0),
  )
  const signature = bitString(sign('sha256', info, privateKey))
  const der = sequence(info, sequence(oid('1.2.840.10045.4.3.2')), signature)
  return `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
}

const named = (type: string, text: string): Buffer => sequence(oid(type), utf8String(text))
const signed = (pem: string): string[] =>
  readName(new DerReader(parseCertificateRequest(pem).subject).expect(0x30)).map(
    ({ type, value }) => `${type} ${value()}`,
  )

t.test('a signed subject has what Go’s signer knows, in its order, and nothing else', async (t) => {
  const request = requestOf([
    named('2.5.4.3', 'admin'),
    named(UID, 'somebody else'),
    named('2.5.4.3', 'system:node:n1'),
    named('2.5.4.10', 'system:nodes'),
    named('2.5.4.12', 'a title'),
    named('2.5.4.6', 'DE'),
    named('2.5.4.11', 'ü'),
    sequence(oid('2.5.4.7'), element(0x02, Buffer.of(1))),
  ])
  t.same(signed(request), ['550406 DE', '55040a system:nodes', '55040b ü', '550403 system:node:n1'])
  t.match(parseCertificateRequest(request), { commonName: 'system:node:n1', organizations: ['system:nodes'] })
})

t.test('bytes behind a value are not carried over; several organizations stay, as one set', async (t) => {
  const request = requestOf([
    sequence(oid('2.5.4.3'), utf8String('system:node:n1'), utf8String('behind')),
    named('2.5.4.10', 'b'),
    named('2.5.4.10', 'a'),
  ])
  t.same(signed(request), ['55040a a', '55040a b', '550403 system:node:n1'])
  t.notOk(Buffer.from(parseCertificateRequest(request).subject).includes('behind'))
})
