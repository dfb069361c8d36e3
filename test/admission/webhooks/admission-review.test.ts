import t from 'tap'
import { ReviewError, readReview, verdictOf } from '#keelson/admission/webhooks/admission-review.js'
import { credentialsFor } from '#keelson/admission/webhooks/webhook-credentials.js'
import { rejection } from '#keelson/admission/webhooks/webhook-errors.js'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'

const schema = new BuiltinSchemas().kind('admission.k8s.io', 'v1', 'AdmissionReview')!
const read = (response: object | undefined, apiVersion = 'admission.k8s.io/v1') =>
  readReview(Buffer.from(JSON.stringify({ kind: 'AdmissionReview', apiVersion, response })), schema, 'v1')
const verdict = (response: object | undefined, mutating = true) => verdictOf(read(response), 'v1', 'u', mutating)

t.test('an answer to another question is none', async (t) => {
  t.throws(() => verdict({ uid: 'other', allowed: true }), ReviewError)
  t.throws(() => verdict(undefined), ReviewError)
  t.throws(() => read({ uid: 'u' }, 'admission.k8s.io/v1beta1'), ReviewError)
  t.throws(() => readReview(Buffer.from('{"kind"'), schema, 'v1'), ReviewError)
  t.equal(verdict({ uid: 'u', allowed: true }).allowed, true)
})

t.test('a patch comes with its type, and only from webhooks that may change something', async (t) => {
  const patch = Buffer.from('[]').toString('base64')
  t.throws(() => verdict({ uid: 'u', allowed: true, patch }), ReviewError)
  t.throws(() => verdict({ uid: 'u', allowed: true, patchType: 'JSONPatch' }), ReviewError)
  t.throws(() => verdict({ uid: 'u', allowed: true, patch, patchType: 'JSONPatch' }, false), ReviewError)
  t.equal(String(verdict({ uid: 'u', allowed: true, patch, patchType: 'JSONPatch' }).patch), '[]')
})

t.test('a refusal is a failure whatever the webhook says', async (t) => {
  t.match(rejection('w.example.com', { status: 'Success', code: 200 }).answer.status, { status: 'Failure', code: 400 })
  t.match(rejection('w.example.com', { code: 99_999 }).answer.status, { code: 500 }, 'any number is no status')
  t.match(rejection('w.example.com', { reason: 'because' }).message, /denied the request: because/)
})

t.test('users are found by host, by stars, by the current context', async (t) => {
  const users = {
    byName: { 'a.ns.svc': { token: '1' }, '*.ns.svc': { token: '2' }, me: { token: '3' } },
    current: 'me',
  }
  t.equal(credentialsFor(users, 'a.ns.svc:443').token, '1')
  t.equal(credentialsFor(users, 'b.ns.svc:443').token, '2')
  t.equal(credentialsFor(users, '10.0.0.1:8443').token, '3')
})
