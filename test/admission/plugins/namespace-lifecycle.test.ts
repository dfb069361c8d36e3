import t from 'tap'
import { NamespaceAutoProvision } from '#keelson/admission/plugins/namespace-auto-provision.js'
import { NamespaceExists } from '#keelson/admission/plugins/namespace-exists.js'
import { NamespaceLifecycle } from '#keelson/admission/plugins/namespace-lifecycle.js'
import { FakeClock } from '../../support/fake-clock.js'
import { ask, FakeObjects, namespaceObject } from '../fixture.js'

const active = namespaceObject('a', { status: { phase: 'Active' } })
const ending = namespaceObject('b', { status: { phase: 'Terminating' } })
const configMap = { metadata: { name: 'c' } }

t.test('NamespaceLifecycle', async (t) => {
  const objects = new FakeObjects({ namespaces: [active, ending] })
  const plugin = new NamespaceLifecycle(objects, new FakeClock())
  const create = (namespace: string, resource = 'configmaps'): Promise<string> =>
    ask(plugin, { resource, namespace, object: configMap })
  t.equal(await create('a'), '')
  t.equal(objects.liveReads, 0, 'memory is enough')
  t.match(await create('b'), /^403 configmaps "c" is forbidden: .*being terminated/)
  t.match(await create('x'), /^404 namespaces "x" not found/)
  t.equal(await create('x', 'localsubjectaccessreviews.authorization.k8s.io'), '', 'a question needs no namespace')
  for (const name of ['default', 'kube-system', 'kube-public'])
    t.match(await ask(plugin, { operation: 'DELETE', resource: 'namespaces', name, namespace: name }), /^403/)
  t.equal(await ask(plugin, { operation: 'DELETE', resource: 'namespaces', name: 'kube-node-lease' }), '')
  t.equal(await ask(plugin, { resource: 'configmaps', namespace: 'b', object: configMap, oldObject: configMap }), '')
})

t.test('for some time after a namespace was deleted, storage is asked about it', async (t) => {
  const objects = new FakeObjects({ namespaces: [active] })
  const clock = new FakeClock()
  const plugin = new NamespaceLifecycle(objects, clock)
  const create = (): Promise<string> => ask(plugin, { resource: 'configmaps', object: configMap })
  await ask(plugin, { operation: 'DELETE', resource: 'namespaces', name: 'a' })
  await create()
  t.equal(objects.liveReads, 1)
  await clock.advance(31_000)
  await create()
  t.equal(objects.liveReads, 1)
})

t.test('NamespaceExists, NamespaceAutoProvision', async (t) => {
  const objects = new FakeObjects({ namespaces: [active] })
  const exists = new NamespaceExists(objects)
  t.equal(await ask(exists, { object: configMap }), '')
  t.match(await ask(exists, { object: configMap, oldObject: configMap, namespace: 'x' }), /^404/)
  const provision = new NamespaceAutoProvision(objects, objects)
  await ask(provision, { object: configMap, namespace: 'y', dryRun: true })
  t.match(await ask(exists, { object: configMap, namespace: 'y' }), /^404/, 'a dry run leaves nothing behind')
  await ask(provision, { object: configMap, namespace: 'y' })
  t.equal(await ask(exists, { object: configMap, namespace: 'y' }), '')
})
