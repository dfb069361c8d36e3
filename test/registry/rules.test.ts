import t from 'tap'
import { FieldPath } from '#keelson/api/field-error.js'
import type { KubeObject } from '#keelson/api/object.js'
import {
  formatAddress,
  legacyIP,
  parseAddress,
  parseCidr,
  strictCidr,
  strictIP,
} from '#keelson/api/validation/addresses.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { requestContext } from '../support/request-context.js'

const AT = FieldPath.of('field')
const context = requestContext({ namespace: 'a' })

t.test('addresses are canonical in the form of RFC 5952', (t) => {
  const form = (text: string): string => formatAddress(parseAddress(text)!)
  t.equal(form('2001:DB8:0:0:1:0:0:1'), '2001:db8::1:0:0:1')
  t.equal(form('::'), '::')
  t.equal(form('::ffff:1.2.3.4'), '1.2.3.4')
  t.equal(form('010.001.0.7'), '10.1.0.7')
  t.equal(strictIP('2001:db8::1', AT).length, 0)
  t.equal(strictIP('2001:DB8::1', AT).length, 1)
  t.equal(legacyIP('2001:DB8::1', AT).length, 0)
  t.equal(legacyIP('1.2.3.04', AT).length, 1)
  t.equal(legacyIP('fe80::1%eth0', AT).length, 1)
  t.end()
})

t.test('a CIDR has no bits beyond its prefix', (t) => {
  t.equal(strictCidr('10.0.0.0/8', AT).length, 0)
  t.equal(strictCidr('10.0.0.1/8', AT).length, 1)
  t.equal(strictCidr('10.0.0.0/33', AT).length, 1)
  t.equal(parseCidr('2001:db8::/32')?.network, 0x20010db8n << 96n)
  t.end()
})

const causes = (resource: string, group: string, object: KubeObject, old?: KubeObject): string[] => {
  const rules = rulesOf({ group, resource })
  rules.setDefaults?.(object)
  const errors = old === undefined ? rules.validate?.(object, context) : rules.validateUpdate?.(object, old, context)
  return (errors ?? []).map(({ field, type }) => `${field}|${type}`).sort()
}

t.test('each resource says which field is wrong', (t) => {
  t.same(causes('roles', 'rbac.authorization.k8s.io', { rules: [{ verbs: ['get'] }] }), [
    'rules[0].apiGroups|FieldValueRequired',
    'rules[0].resources|FieldValueRequired',
  ])
  t.same(causes('ingresses', 'networking.k8s.io', { spec: { rules: [{ host: '1.2.3.4' }] } }), [
    'spec.rules[0].host|FieldValueInvalid',
  ])
  t.same(
    causes('limitranges', '', { spec: { limits: [{ type: 'Pod', min: { constructor: '2' }, max: { cpu: '1' } }] } }),
    ['spec.limits[0].min[constructor]|FieldValueInvalid', 'spec.limits[0].min[constructor]|FieldValueInvalid'],
    'what every object has is no amount',
  )
  t.same(
    causes('limitranges', '', { spec: { limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }] } }),
    [
      'spec.limits[0].defaultRequest[cpu]|FieldValueInvalid',
      'spec.limits[0].default[cpu]|FieldValueInvalid',
      'spec.limits[0].min[cpu]|FieldValueInvalid',
    ],
  )
  t.same(causes('persistentvolumes', '', { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] } }), [
    'spec|FieldValueRequired',
  ])
  t.end()
})

t.test('what may not change is said', (t) => {
  const storage = (parameters: Record<string, string>): KubeObject => ({
    provisioner: 'example.com/disk',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    parameters,
  })
  t.same(causes('storageclasses', 'storage.k8s.io', storage({ a: '1' }), storage({ a: '2' })), [
    'parameters|FieldValueInvalid',
  ])
  t.same(causes('storageclasses', 'storage.k8s.io', storage({ a: '1' }), storage({ a: '1' })), [])
  t.end()
})
