import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { encryptionFile } from '../support/encryption-file.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const SECRETS = '/api/v1/namespaces/default/secrets'
const COUNT = 25

function rewrite(...flags: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ['bundle/main/index.js', 'secrets', 'rewrite', ...flags])
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  return new Promise((resolve) => child.once('exit', (code) => resolve({ code, said })))
}

async function rotates(t: Test, folder: string, storage: readonly string[], dataDir: string): Promise<void> {
  const encryption = path.join(folder, 'encryption.json')
  const tokens = path.join(folder, 'tokens.csv')
  writeFileSync(tokens, 'admin,admin,admin,"system:masters"\n')
  const admin = { authorization: 'Bearer admin' }
  const start = async (...names: string[]): Promise<KeelsonProcess> => {
    writeFileSync(encryption, encryptionFile(...names))
    return KeelsonProcess.start(
      [`--token-auth-file=${tokens}`, `--encryption-provider-config=${encryption}`, ...storage],
      dataDir,
    )
  }
  let server = await start('old')
  t.teardown(() => server.close())
  for (let i = 0; i < COUNT; i++) {
    const secret = { metadata: { name: `s${i}` }, stringData: { password: `hush-${i}` } }
    t.equal((await server.request('POST', SECRETS, secret, admin)).status, 201)
  }
  const versions = async (): Promise<string[]> => {
    const { json } = await server.request('GET', SECRETS, undefined, admin)
    return (json as { items: { metadata: { resourceVersion: string } }[] }).items.map((s) => s.metadata.resourceVersion)
  }
  await server.stop()
  server = await start('new', 'old')
  const before = await versions()
  t.equal(before.length, COUNT)
  const state = path.join(folder, 'state.json')
  const flags = [
    `--server=${server.url}`,
    '--token=admin',
    `--encryption-provider-config=${encryption}`,
    '--page-size=10',
    `--state-file=${state}`,
  ]
  const first = await rewrite(...flags)
  t.equal(first.code, 0, first.said)
  t.match(first.said, /secrets: 10 written, 0 failed, 15 to go/)
  t.notOk(existsSync(state), 'a rewrite that is done has no place to keep')
  const after = await versions()
  t.equal(after.filter((version, i) => version !== before[i]).length, COUNT, 'an unchanged object is stored anew')
  const second = await rewrite(...flags)
  t.equal(second.code, 0, second.said)
  t.same(await versions(), after, 'what has the newest key already is not written again')
  await server.stop()
  server = await start('new')
  const { json } = await server.request('GET', `${SECRETS}/s7`, undefined, admin)
  t.equal(Buffer.from((json as { data: { password: string } }).data.password, 'base64').toString(), 'hush-7')
  t.equal((await versions()).length, COUNT, 'all of them are read without the old key')
}

t.test('embedded: after a rewrite the old key is not needed', async (t) => {
  const folder = temporaryFolder(t, 'rewrite')
  const dataDir = path.join(folder, 'keelson')
  mkdirSync(dataDir)
  await rotates(t, folder, [], dataDir)
})

t.test('etcd: the same', { skip: skipWithoutEtcd }, async (t) => {
  const folder = temporaryFolder(t, 'rewrite')
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const dataDir = path.join(folder, 'keelson')
  mkdirSync(dataDir)
  await rotates(t, folder, [`--etcd-servers=${etcd.endpoint}`], dataDir)
})

t.test('the command says what is wrong', async (t) => {
  const { code, said } = await rewrite('--page-size=0')
  t.equal(code, 2)
  t.match(said, /--kubeconfig or --server is needed\n.*--page-size must be at least 1/)
})
