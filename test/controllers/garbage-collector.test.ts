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

t.test('an owner of a kind that is not served deletes nothing', async (t) => {
  const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Unknown', name: 'x', uid: 'u' }]
  await server.request('POST', MAPS, { metadata: { name: 'unsure', ownerReferences } })
  const owner = await create('last')
  await create('after', [owner])
  await remove('last', 'Background')
  await goes('after')
  t.ok(await isThere('unsure'))
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
