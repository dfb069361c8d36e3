import t from 'tap'
import { wideFault, wideKinds, wideUpdateFault } from './wide-objects.js'

const ITEMS = 6_000
/** Of all kinds together, one in so many fields; wide-objects.long.ts has all of them. */
const ONE_IN = 48

const fields = wideKinds().flatMap((kind) => kind.fields().map((field) => ({ kind, field })))
const sample = fields.filter((_, i) => i % ONE_IN === 0)

t.test('however wide an object is, time and answer grow with it', (t) => {
  t.ok(sample.length > 40)
  for (const { kind, field } of sample)
    t.equal(wideFault(kind, field, ITEMS), undefined, `${kind.info.resource}: ${field.path.join('.')}`)
  t.end()
})

/** What updates compare item by item with what was there. */
const COMPARED = new Set([
  'certificatesigningrequests status.conditions',
  'csinodes spec.drivers',
  'customresourcedefinitions spec.versions',
  'ingresses status.loadBalancer.ingress',
  'networkpolicies spec.ingress.[].from.[].ipBlock.except',
  'pods spec.tolerations',
  'pods status.containerStatuses',
  'pods status.resourceClaimStatuses',
  'services spec.externalIPs',
  'services spec.ports',
])

t.test('however wide an object is that is written again, time and answer grow with it', (t) => {
  const compared = fields.filter(({ kind, field }) => COMPARED.has(`${kind.info.resource} ${field.path.join('.')}`))
  t.equal(compared.length, COMPARED.size)
  for (const { kind, field } of compared)
    t.equal(wideUpdateFault(kind, field, ITEMS), undefined, `${kind.info.resource}: ${field.path.join('.')}`)
  t.end()
})
