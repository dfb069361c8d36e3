import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { InvalidOptions, type RunningServer, startServer } from 'keelson'
import t from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'

function coreOf(server: RunningServer): CoreV1Api {
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromString(server.kubeconfig)
  return kubeConfig.makeApiClient(CoreV1Api)
}

t.test('servers in one process know nothing of each other, and leave nothing behind', async (t) => {
  const [one, two] = await Promise.all([startServer(), startServer()])
  t.not(one.port, two.port)
  await coreOf(one).createNamespace({ body: { metadata: { name: 'only-here' } } })
  t.ok((await coreOf(one).listNamespace()).items.some((namespace) => namespace.metadata?.name === 'only-here'))
  t.notOk((await coreOf(two).listNamespace()).items.some((namespace) => namespace.metadata?.name === 'only-here'))
  t.ok(existsSync(one.kubeconfigPath))
  await Promise.all([one.close(), one.close(), two.close()])
  t.notOk(existsSync(one.kubeconfigPath))
  await t.rejects(fetch(one.url), 'nobody listens any more')
})

t.test('a folder keeps what was written, and who may come in', async (t) => {
  const dataDir = path.join(temporaryFolder(t, 'library'), 'data')
  const first = await startServer({ dataDir })
  await coreOf(first).createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'kept' } } })
  await first.close()
  const second = await startServer({ dataDir, port: first.port })
  t.teardown(() => second.close())
  t.equal(second.url, first.url)
  // With the kubeconfig of the first start.
  const found = await coreOf(first).readNamespacedConfigMap({ namespace: 'default', name: 'kept' })
  t.equal(found.metadata?.name, 'kept')
})

const definition = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

t.test('definitions as objects, files and folders are served when the server is there', async (t) => {
  const folder = temporaryFolder(t, 'definitions')
  const two = JSON.stringify(definition('twos', 'Two'))
  const three = JSON.stringify(definition('threes', 'Three'))
  mkdirSync(path.join(folder, 'more'))
  writeFileSync(path.join(folder, 'two.yaml'), `# comment\n---\n${two}\n---\nkind: ConfigMap\napiVersion: v1\n`)
  writeFileSync(path.join(folder, 'more', 'three.json'), three)
  writeFileSync(path.join(folder, 'more', 'notes.txt'), 'no manifest')
  const crds = [definition('ones', 'One'), path.join(folder, 'two.yaml'), path.join(folder, 'more')]
  const dataDir = path.join(folder, 'data')
  for (const start of ['first', 'second']) {
    const server = await startServer({ crds, dataDir })
    const kubeConfig = new KubeConfig()
    kubeConfig.loadFromString(server.kubeconfig)
    const objects = kubeConfig.makeApiClient(CustomObjectsApi)
    for (const plural of ['ones', 'twos', 'threes']) {
      const list = await objects.listClusterCustomObject({ group: 'example.com', version: 'v1', plural })
      t.match(list, { items: [] }, `${plural} at the ${start} start`)
    }
    await server.close()
  }
})

t.test('definitions that cannot be read or served are refused', async (t) => {
  await t.rejects(startServer({ crds: ['/nowhere.yaml', { kind: 'Pod' }] }), {
    errors: [/nowhere\.yaml/, /"Pod" is no CustomResourceDefinition/],
  })
  const sameKind = [definition('ones', 'One'), definition('others', 'One')]
  await t.rejects(startServer({ crds: sameKind }), /cannot be served: .*already in use/)
  await t.rejects(startServer({ crds: [definition('ones', 'not a kind')] }), /is invalid/)
})

t.test('wrong options are told all at once', async (t) => {
  const started = startServer({ flags: { 'secure-prt': 1, 'request-timeout': 'soon', 'pool-threads': -1 } })
  const error = await started.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  t.ok(error instanceof InvalidOptions)
  t.same((error as InvalidOptions).errors, [
    'unknown flag --secure-prt; did you mean --secure-port?',
    '--request-timeout: "soon" is not a duration such as 90s, 5m or 1h30m',
    '--pool-threads must be between 0 and 40, not -1',
  ])
})
