import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node'
import t from 'tap'
import { freePort } from '../support/free-port.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const PATH = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, data: Record<string, string>): V1ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

function clientOf(server: KeelsonProcess): { config: KubeConfig; core: CoreV1Api } {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'keelson', server: server.url, skipTLSVerify: true }, { name: 'anybody' })
  return { config, core: config.makeApiClient(CoreV1Api) }
}

/** Keeps what happens and lets a test wait until it has. */
class Seen {
  readonly #lines: string[] = []

  add(line: string): void {
    this.#lines.push(line)
  }

  until(...lines: string[]): Promise<void> {
    return until(() => lines.every((line) => this.#lines.includes(line)), { what: lines.join(', ') })
  }

  count(line: string): number {
    return this.#lines.filter((seen) => seen === line).length
  }
}

t.test('an informer of @kubernetes/client-node follows a resource, also over a restart', async (t) => {
  const flags = [`--secure-port=${await freePort()}`]
  let server = await KeelsonProcess.start(flags)
  t.teardown(() => server.close())
  const { config, core } = clientOf(server)
  const namespace = 'default'
  await core.createNamespacedConfigMap({ namespace, body: configMap('first', { k: '1' }) })
  const informer = makeInformer(config, PATH, () => core.listNamespacedConfigMap({ namespace }))
  const seen = new Seen()
  const line = (type: string) => (object: V1ConfigMap) =>
    seen.add(`${type} ${object.metadata?.name} ${object.data?.['k']}`)
  informer.on('add', line('add'))
  informer.on('update', line('update'))
  informer.on('delete', line('delete'))
  let restart: NodeJS.Timeout | undefined
  let stopped = false
  // What its documentation tells users to do.
  informer.on('error', () => {
    seen.add('error')
    if (!stopped) restart = setTimeout(() => void informer.start(), 50)
  })
  await informer.start()
  t.teardown(async () => {
    stopped = true
    clearTimeout(restart)
    await informer.stop()
  })

  await t.test('list, then watch', async (t) => {
    await seen.until('add first 1')
    await core.createNamespacedConfigMap({ namespace, body: configMap('second', { k: '1' }) })
    await seen.until('add second 1')
    await core.replaceNamespacedConfigMap({ name: 'second', namespace, body: configMap('second', { k: '2' }) })
    await seen.until('update second 2')
    await core.deleteNamespacedConfigMap({ name: 'first', namespace })
    await seen.until('delete first 1')
    t.equal(seen.count('add second 1'), 1, 'every change is told once')
    t.equal(informer.get('second', namespace)?.data?.['k'], '2')
  })

  await t.test('the server is restarted in between', async (t) => {
    await server.stop('SIGKILL')
    server = await KeelsonProcess.start(flags, server.dataDir)
    // Not through the informer's own connections, which may still be broken.
    const written = await server.request('POST', PATH, configMap('third', { k: '1' }))
    t.equal(written.status, 201)
    await server.request('DELETE', `${PATH}/second`)
    await seen.until('add third 1', 'delete second 2')
    t.same(
      informer.list().map((object) => object.metadata?.name),
      ['third'],
    )
    t.equal(seen.count('add third 1'), 1)
  })
})

t.test('the typed client reads errors as what they are', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const { core } = clientOf(server)
  await t.rejects(core.readNamespacedConfigMap({ name: 'none', namespace: 'default' }), { code: 404 })
  const { items } = await core.listNamespace()
  t.same(items.map((item) => item.metadata?.name).sort(), ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
})
