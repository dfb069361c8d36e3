import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Etcd3 } from 'etcd3'
import t from 'tap'
import { encryptionFile } from '../support/encryption-file.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const SECRETS = '/api/v1/namespaces/default/secrets'
const NEW_KEY = 'k8s:enc:aescbc:v1:new:'

t.test('a new key is used as soon as it is in the file', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const witness = new Etcd3({ hosts: etcd.endpoint })
  t.teardown(() => witness.close())
  const folder = temporaryFolder(t, 'reload')
  const start = (file: string): Promise<KeelsonProcess> =>
    KeelsonProcess.start([
      `--etcd-servers=${etcd.endpoint}`,
      `--encryption-provider-config=${file}`,
      '--encryption-provider-config-automatic-reload',
    ])
  const files = ['first', 'second'].map((name) => path.join(folder, `${name}.json`))
  writeFileSync(files[0]!, encryptionFile('old'))
  writeFileSync(files[1]!, encryptionFile('new', 'old'))
  const server = await start(files[0]!)
  t.teardown(() => server.close())
  const write = async (one: KeelsonProcess, name: string): Promise<string> => {
    const secret = { metadata: { name }, stringData: { password: name } }
    t.equal((await one.request('POST', SECRETS, secret)).status, 201)
    return (await witness.get(`/registry/secrets/default/${name}`).string()) ?? ''
  }
  t.match(await write(server, 'before'), /^k8s:enc:aescbc:v1:old:/)

  // Another server has the key first: what it writes comes to this one's owner over the watch.
  const other = await start(files[1]!)
  t.teardown(() => other.close())
  const replace = (text: string): void => {
    writeFileSync(`${files[0]}.next`, text)
    renameSync(`${files[0]}.next`, files[0]!)
  }
  replace(encryptionFile('new', 'old'))
  t.match(await write(other, 'others'), NEW_KEY)
  await until(async () => (await server.request('GET', `${SECRETS}/others?resourceVersion=0`)).status === 200, {
    what: 'the secret of the other server to be readable',
  })

  let written = 0
  await until(async () => (await write(server, `own-${written++}`)).startsWith(NEW_KEY), {
    what: 'a write with the new key',
  })
  replace('{')
  t.equal((await server.request('GET', `${SECRETS}/before`)).status, 200, 'a file that is wrong changes nothing')
  await server.request('DELETE', `${SECRETS}/before`)
  const list = (await server.request('GET', SECRETS)).json as { items: object[] }
  t.equal(list.items.length, written + 1, 'what has the old key is read as before')
  const fromStorage = (await server.request('GET', `${SECRETS}?limit=500&resourceVersion=`)).json as { items: object[] }
  t.equal(fromStorage.items.length, written + 1)
})
