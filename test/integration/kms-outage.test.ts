import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { Etcd3 } from 'etcd3'
import t from 'tap'
import { KmsPlugin } from '../storage/transformers/kms/kms-plugin.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

// The key service is gone: what is stored is unreachable to whoever does not know its keys, and corrupt to nobody.

const SECRETS = '/api/v1/namespaces/default/secrets'
const UNSAFE = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'

const configuration = (endpoint: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      { resources: ['secrets'], providers: [{ kms: { apiVersion: 'v2', name: 'test', endpoint, timeout: '1s' } }] },
    ],
  })

t.test('reads and deletions while the key service is gone', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const witness = new Etcd3({ hosts: etcd.endpoint })
  t.teardown(() => witness.close())
  const plugin = new KmsPlugin()
  await plugin.start()
  t.teardown(() => plugin.remove())
  const file = path.join(temporaryFolder(t, 'kms'), 'encryption.json')
  writeFileSync(file, configuration(plugin.endpoint))
  const flags = [`--etcd-servers=${etcd.endpoint}`, `--encryption-provider-config=${file}`]
  const stored = async (): Promise<string[]> =>
    Object.keys(await witness.getAll().prefix('/registry/secrets/default/').buffers())
      .map((key) => key.slice('/registry/secrets/default/'.length))
      .sort()

  const server = await KeelsonProcess.start(flags)
  t.teardown(() => server.close())
  for (const name of ['a', 'b', 'c']) {
    const secret = { metadata: { name }, stringData: { password: name } }
    t.equal((await server.request('POST', SECRETS, secret)).status, 201)
  }
  t.match(await witness.get('/registry/secrets/default/a').string(), /^k8s:enc:kms:v2:test:/)
  await plugin.stop()

  await t.test('who knows the keys reads and deletes as before', async (t) => {
    t.equal((await server.request('GET', `${SECRETS}/a`)).status, 200)
    const list = (await server.request('GET', SECRETS)).json as { items: object[] }
    t.equal(list.items.length, 3)
    t.equal((await server.request('DELETE', `${SECRETS}/c`)).status, 200)
    t.same(await stored(), ['a', 'b'])
  })

  const late = await KeelsonProcess.start(flags)
  t.teardown(() => late.close())
  await t.test('who does not is told that it cannot be reached, and deletes nothing', async (t) => {
    for (const [method, url] of [
      ['GET', `${SECRETS}/a`],
      ['GET', SECRETS],
      ['DELETE', `${SECRETS}/a`],
      ['DELETE', `${SECRETS}/a?${UNSAFE}`],
      ['DELETE', SECRETS],
    ] as const) {
      const { status, text } = await late.request(method, url)
      t.ok(status >= 500, `${method} ${url}: ${status}`)
      t.notMatch(text, /cannot be decoded|corrupt/i, `${method} ${url} takes it for no broken object`)
    }
    t.same(await stored(), ['a', 'b'], 'everything is there')
    const map = { metadata: { name: 'm' } }
    const maps = '/api/v1/namespaces/default/configmaps'
    t.equal((await late.request('POST', maps, map)).status, 201, 'what needs no key is served')
    t.equal((await late.request('GET', `${maps}/m`)).status, 200)
  })

  await t.test('all of it is there again with the service', async (t) => {
    await plugin.start()
    await until(async () => (await late.request('GET', `${SECRETS}/a`)).status === 200, {
      what: 'the secret to be readable again',
    })
    const ready = /keelson_cache_ready\{[^}]*resource="secrets"[^}]*\} 1/
    await until(async () => ready.test((await late.request('GET', '/metrics')).text), {
      what: 'secrets to be in memory again',
    })
    const { json } = await late.request('GET', `${SECRETS}/a`)
    t.match(json, { data: { password: Buffer.from('a').toString('base64') } })
    t.equal((await late.request('DELETE', `${SECRETS}/b`)).status, 200)
    t.same(await stored(), ['a'])
  })
})
