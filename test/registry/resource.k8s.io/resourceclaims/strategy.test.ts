import t from 'tap'
import type { FieldError } from '#keelson/api/field-error.js'
import type { KubeObject } from '#keelson/api/object.js'
import { beforeUpdate } from '#keelson/registry/generic/before-write.js'
import { StatusStrategy } from '#keelson/registry/generic/rules-strategy.js'
import type { RequestContext } from '#keelson/registry/generic/strategy.js'
import { claimStatusHooks } from '#keelson/registry/resource.k8s.io/resourceclaims/claim-status-hooks.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { requestContext } from '../../../support/request-context.js'

const context = requestContext({ namespace: 'a' })
const rules = rulesOf({ group: 'resource.k8s.io', resource: 'resourceclaims' })
const said = (errors: readonly FieldError[] = []): string[] => errors.map(({ field, type }) => `${field}|${type}`)

const SHARE = '6d9a8f0c-5b1e-4c38-9f4e-2f3f1b1f6d10'
const DEVICE = { driver: 'gpu.example.com', pool: 'rack/one', device: 'd0' }
const REQUEST = { name: 'r', exactly: { deviceClassName: 'gpu.example.com' } }
const claim = (devices: object, status?: object): KubeObject => ({
  metadata: {
    name: 'c',
    namespace: 'a',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { devices },
  ...(status === undefined ? {} : { status }),
})

t.test('what a claim asks for', (t) => {
  const at = 'spec.devices'
  const many = <T>(count: number, item: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i))
  const attribute = (matchAttribute: string): object => ({ requests: [REQUEST], constraints: [{ matchAttribute }] })
  const cases: [object, string[]][] = [
    [{ requests: [REQUEST] }, []],
    [{ requests: [REQUEST, REQUEST] }, [`${at}.requests[1]|FieldValueDuplicate`]],
    // Nothing is said of what is in a list that is too long.
    [{ requests: many(33, () => ({})) }, [`${at}.requests|FieldValueTooMany`]],
    [
      { requests: [{ name: 'r', firstAvailable: many(9, (i) => ({ name: `s${i}` })) }] },
      [`${at}.requests[0].firstAvailable|FieldValueTooMany`],
    ],
    [attribute('example.com/numa'), []],
    [attribute('example.com/a/b'), []],
    [attribute('numa'), [`${at}.constraints[0].matchAttribute|FieldValueInvalid`]],
    [attribute('/numa'), [`${at}.constraints[0].matchAttribute|FieldValueInvalid`]],
    [attribute(`example.com/${'a'.repeat(33)}`), [`${at}.constraints[0].matchAttribute|FieldValueTooLong`]],
    // The first of two attributes is the one that is looked at.
    [{ requests: [REQUEST], constraints: [{ matchAttribute: 'a.b/c', distinctAttribute: '!' }] }, []],
    [{ requests: [REQUEST], constraints: [{}] }, [`${at}.constraints[0]|FieldValueRequired`]],
  ]
  for (const [devices, expected] of cases) {
    const object = claim(structuredClone(devices))
    rules.setDefaults?.(object)
    t.same(said(rules.validate?.(object, context)), expected, JSON.stringify(devices).slice(0, 100))
  }
  const changed = claim({ requests: [{ name: 'Not valid!' }] })
  t.same(said(rules.validateUpdate?.(changed, claim({ requests: [REQUEST] }), context)), ['spec|FieldValueInvalid'])
  t.end()
})

t.test('what became of a claim', (t) => {
  const allocation = (...results: object[]): object => ({ devices: { results } })
  const got = { ...DEVICE, request: 'r' }
  const user = { resource: 'pods', name: 'p', uid: '1' }
  const result = 'status.allocation.devices.results[0]'
  const network = (ip: string): object => ({
    allocation: allocation(got),
    devices: [{ ...DEVICE, networkData: { ips: [ip] } }],
  })
  const cases: [object, string[]][] = [
    [{ allocation: allocation(got), reservedFor: [user], devices: [DEVICE] }, []],
    [{ allocation: allocation({ ...got, request: 'other' }) }, [`${result}.request|FieldValueInvalid`]],
    [{ allocation: allocation({ ...got, pool: '' }) }, [`${result}.pool|FieldValueRequired`]],
    [{ allocation: allocation({ ...got, shareID: SHARE }) }, []],
    [{ allocation: allocation({ ...got, shareID: SHARE.toUpperCase() }) }, [`${result}.shareID|FieldValueInvalid`]],
    [
      { allocation: allocation({ ...got, bindingConditions: ['x'], bindingFailureConditions: ['x'] }) },
      [`${result}.bindingFailureConditions[0]|FieldValueInvalid`],
    ],
    [
      { allocation: { devices: { config: [{}] } } },
      [
        'status.allocation.devices.config[0].source|FieldValueRequired',
        'status.allocation.devices.config[0].opaque|FieldValueRequired',
      ],
    ],
    [{ reservedFor: [user] }, ['status.reservedFor|FieldValueForbidden']],
    [{ allocation: allocation(got), reservedFor: [user, user] }, ['status.reservedFor[1]|FieldValueDuplicate']],
    [{ allocation: allocation(got), devices: [{ ...DEVICE, device: 'd1' }] }, ['status.devices[0]|FieldValueInvalid']],
    [network('10.0.0.1/24'), []],
    [network('10.0.0.1'), ['status.devices[0].networkData.ips[0]|FieldValueInvalid']],
    [network('2001:DB8::1/64'), ['status.devices[0].networkData.ips[0]|FieldValueInvalid']],
  ]
  const devices = { requests: [REQUEST] }
  for (const [status, expected] of cases)
    t.same(
      said(rules.status?.validateUpdate?.(claim(devices, status), claim(devices), context)),
      expected,
      JSON.stringify(status),
    )
  const other = claim(devices, { allocation: allocation({ ...got, device: 'd1' }) })
  const fixed = said(rules.status?.validateUpdate?.(other, claim(devices, { allocation: allocation(got) }), context))
  t.same(fixed, ['status.allocation|FieldValueInvalid'])
  t.end()
})

t.test('a device that is given back takes what was said of it along; metadata stays as it was', (t) => {
  const strategy = new StatusStrategy(
    { kind: { group: 'resource.k8s.io', kind: 'ResourceClaim' }, namespaceScoped: true, hasStatus: true },
    rules,
  )
  const devices = { requests: [REQUEST] }
  const old = claim(devices, { allocation: { devices: { results: [{ ...DEVICE, request: 'r' }] } }, devices: [DEVICE] })
  const next: KubeObject = {
    metadata: { name: 'c', namespace: 'a', resourceVersion: '1', labels: { a: 'b' } },
    status: { devices: [DEVICE] },
  }
  beforeUpdate(strategy, next, old, context)
  t.same(next, claim(devices, {}))
  t.end()
})

t.test('who writes a status needs more rights for what is allocated, and for what is said of devices', async (t) => {
  const request = {
    ...context,
    apiGroup: 'resource.k8s.io',
    resource: 'resourceclaims',
    verb: 'patch',
    user: {
      name: 'system:serviceaccount:a:driver',
      groups: [],
      extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
    },
  } as unknown as RequestContext
  const asked: string[] = []
  const write = async (rights: readonly string[], status: object, before: object, labels = {}): Promise<string[]> => {
    const hooks = claimStatusHooks({
      namespace: async () => ({ metadata: { labels } }),
      authorizer: {
        authorize: ({ verb, subresource, namespace, name }) => {
          const right = [verb, subresource, namespace, name].join(' ')
          asked.push(right)
          return { decision: rights.includes(right) ? 'allow' : 'no-opinion', reason: '' }
        },
      },
    })
    const devices = { requests: [REQUEST] }
    try {
      await hooks!.beginStatusUpdate!(claim(devices, status), claim(devices, before), request)
      return []
    } catch (error) {
      const { causes = [] } = (error as { status: { details?: { causes?: { field: string }[] } } }).status.details ?? {}
      return causes.map(({ field }) => field)
    }
  }
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['n1'] }]
  const allocation = { devices: { results: [DEVICE] }, nodeSelector: { nodeSelectorTerms: [{ matchFields }] } }
  const bind = 'patch binding  '
  const near = 'associated-node:patch driver a gpu.example.com'
  t.same(await write([], { allocation }, {}), ['status.allocation'])
  t.same(await write([bind], { allocation }, {}), [])
  t.same(await write([], { allocation }, { allocation }), [])
  t.same(await write([], { allocation, devices: [DEVICE] }, { allocation }), ['status.devices'])
  t.same(await write([near], { allocation, devices: [DEVICE] }, { allocation }), [])
  t.same(await write([near], { allocation }, { allocation, devices: [DEVICE] }), [])
  const away = { ...allocation, nodeSelector: undefined }
  t.same(await write([near], { allocation: away, devices: [DEVICE] }, { allocation: away }), ['status.devices'])
  // What is said of devices goes with them, and is nobody's to allow.
  t.same(await write([bind], {}, { allocation, devices: [DEVICE] }), [])
  const admin = { devices: { results: [{ ...DEVICE, adminAccess: true }] } }
  const label = { 'resource.kubernetes.io/admin-access': 'true' }
  t.same(await write([bind], { allocation: admin }, {}), ['status.allocation.devices.results[0].adminAccess'])
  t.same(await write([bind], { allocation: admin }, {}, label), [])
  t.ok(asked.includes('arbitrary-node:patch driver a gpu.example.com'))
})
