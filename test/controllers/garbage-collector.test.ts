import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const MAPS = '/api/v1/namespaces/default/configmaps'

const server = await KeelsonProcess.start([
  '--controllers=garbage-collector-controller',
  '--authorization-mode=AlwaysAllow',
])
t.teardown(() => server.close())
const MERGE = { 'content-type': 'application/merge-patch+json' }
const UNKNOWN = {
  metadata: { name: 'unknowns.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'unknowns', singular: 'unknown', kind: 'Unknown', listKind: 'UnknownList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

async function create(name: string, owners: readonly KubeObject[] = [], block = false): Promise<KubeObject> {
  const ownerReferences = owners.map(({ metadata }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: metadata?.name,
    uid: metadata?.uid,
    blockOwnerDeletion: block,
  }))
  const { status, json } = await server.request('POST', MAPS, { metadata: { name, ownerReferences } })
  if (status !== 201) throw new Error(`status ${status}`)
  return { ...(json as KubeObject), apiVersion: 'v1', kind: 'ConfigMap' }
}
const isThere = async (name: string): Promise<boolean> =>
  (await server.request('GET', `${MAPS}/${name}`)).status === 200
const goes = (name: string): Promise<void> => until(async () => !(await isThere(name)), { what: `${name} to go` })
const remove = (name: string, propagationPolicy: string) =>
  server.request('DELETE', `${MAPS}/${name}`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy })

t.test('dependents go with the last of their owners', async () => {
  const [a, b] = [await create('a'), await create('b')]
  const child = await create('child', [a, b])
  await create('grandchild', [child])
  await remove('a', 'Background')
  await until(
    async () => {
      const { metadata } = (await server.request('GET', `${MAPS}/child`)).json as KubeObject
      return metadata?.ownerReferences?.length === 1
    },
    { what: 'the reference to the owner that is gone to go' },
  )
  await remove('b', 'Background')
  await Promise.all([goes('child'), goes('grandchild')])
})

t.test('an owner that is deleted in the foreground goes after what blocks it', async (t) => {
  const owner = await create('front')
  await create('blocker', [owner], true)
  const type = { 'content-type': 'application/merge-patch+json' }
  const hold = (finalizers: unknown) => server.request('PATCH', `${MAPS}/blocker`, { metadata: { finalizers } }, type)
  await hold(['example.com/hold'])
  await remove('front', 'Foreground')
  await until(
    async () =>
      ((await server.request('GET', `${MAPS}/blocker`)).json as KubeObject).metadata?.deletionTimestamp !== undefined,
    { what: 'the dependent to be deleted' },
  )
  t.ok(await isThere('front'), 'the owner waits')
  await hold(null)
  await Promise.all([goes('blocker'), goes('front')])
})

t.test('orphans stay, and lose their reference', async (t) => {
  const owner = await create('leaves')
  await create('stays', [owner])
  await remove('leaves', 'Orphan')
  await goes('leaves')
  const { metadata } = (await server.request('GET', `${MAPS}/stays`)).json as KubeObject
  t.equal(metadata?.ownerReferences, undefined)
  t.equal(metadata?.deletionTimestamp, undefined)
})

t.test('an object whose owner never was is deleted; one of the same name with another uid is no owner', async () => {
  const alike = await create('alike')
  await create('lost', [{ ...alike, metadata: { name: 'alike', uid: '00000000-0000-0000-0000-000000000000' } }])
  await goes('lost')
})

const healthStatus = async (): Promise<number> => (await server.request('GET', '/healthz/controllers')).status
/** Something else is collected, so that the collector has looked at whatever came before. */
async function turn(name: string): Promise<void> {
  const owner = await create(name)
  await create(`${name}-owned`, [owner])
  await remove(name, 'Background')
  await goes(`${name}-owned`)
}

t.test(
  'an owner of a kind that is not served deletes nothing and is no failure, until the kind is served',
  async (t) => {
    const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Unknown', name: 'x', uid: 'u' }]
    await server.request('POST', MAPS, { metadata: { name: 'unsure', ownerReferences } })
    await turn('first')
    // The look at it is the last thing that the collector did: what failed would be told now.
    await server.request(
      'PATCH',
      `${MAPS}/unsure`,
      { metadata: { ownerReferences: [{ ...ownerReferences[0], uid: 'v' }] } },
      MERGE,
    )
    await turn('second')
    t.equal(await healthStatus(), 200)
    t.ok(await isThere('unsure'))
    await server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', UNKNOWN)
    await goes('unsure')
  },
)

t.test('what a webhook or a rule of the server refuses is no failure of the collector', async (t) => {
  await server.request('POST', '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', {
    metadata: { name: 'keeps' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }],
      },
      validations: [{ expression: '!oldObject.metadata.name.startsWith("kept")' }],
    },
  })
  await server.request('POST', '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', {
    metadata: { name: 'keeps' },
    spec: { policyName: 'keeps', validationActions: ['Deny'] },
  })
  await create('kept-probe')
  await until(async () => (await remove('kept-probe', 'Background')).status !== 200, {
    what: 'the policy to be in force',
  })
  const owner = await create('owner-of-kept')
  await create('kept', [owner])
  await remove('owner-of-kept', 'Background')
  await until(
    async () =>
      /retries_total\{name="garbage_collector_controller"\} [1-9]/.test((await server.request('GET', '/metrics')).text),
    {
      what: 'the collector to have been refused',
    },
  )
  t.equal(await healthStatus(), 200)
  t.ok(await isThere('kept'))
})

t.test('an object with thousands of absent owners of two kinds is collected like any other', async (t) => {
  const ownerReferences = Array.from({ length: 6_000 }, (_, i) => ({
    apiVersion: 'v1',
    kind: i % 2 === 0 ? 'ConfigMap' : 'Secret',
    name: `absent-${i}`,
    uid: `absent-${i}`,
  }))
  const { status } = await server.request('POST', MAPS, { metadata: { name: 'many', ownerReferences } })
  t.equal(status, 201)
  await goes('many')
  t.equal(await healthStatus(), 200)
})

t.test('two that own each other and are deleted in the foreground both go', async () => {
  const one = await create('one')
  const two = await create('two', [one], true)
  const type = { 'content-type': 'application/merge-patch+json' }
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'two', uid: two.metadata?.uid, blockOwnerDeletion: true },
  ]
  await server.request('PATCH', `${MAPS}/one`, { metadata: { ownerReferences } }, type)
  await remove('one', 'Foreground')
  await Promise.all([goes('one'), goes('two')])
})
