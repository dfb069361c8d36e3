/** etcd is restored from a backup under a running server: what was lost with it is not shown, what came after it is. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

const PATH = '/api/v1/namespaces/default/configmaps'
const YAML = { accept: 'application/yaml' }
const configMap = (name: string, note: string): object => ({ metadata: { name }, data: { note } })

t.test(
  'a store that went back is read as it is now, and watchers begin again',
  { skip: skipWithoutEtcd },
  async (t) => {
    let etcd = await EtcdServer.start()
    const backup = mkdtempSync(path.join(tmpdir(), 'keelson-backup-'))
    t.teardown(() => rmSync(backup, { recursive: true, force: true }))
    t.teardown(() => etcd.stop())
    const { dataDir, port } = etcd
    const server = await KeelsonProcess.start([`--etcd-servers=${etcd.endpoint}`, '--authorization-mode=AlwaysAllow'])
    t.teardown(() => server.stop())
    const get = (name: string, headers = {}) => server.request('GET', `${PATH}/${name}`, undefined, headers)

    t.equal((await server.request('POST', PATH, configMap('kept', 'old'))).status, 201)
    await etcd.kill()
    cpSync(dataDir, backup, { recursive: true })
    etcd = await EtcdServer.start({ dataDir, port })
    await until(async () => (await get('kept')).status === 200, { what: 'the kept object to be read' })
    for (let i = 0; i < 20; i++) t.equal((await server.request('POST', PATH, configMap(`lost${i}`, 'x'))).status, 201)
    const watch = new WatchClient(server.url, `${PATH}?watch=1&resourceVersion=0`)
    t.teardown(() => watch.close())
    await until(() => watch.eventCount >= 21, { what: 'the watch to see every object' })
    // So that conversions of the revisions that will be used a second time are at hand.
    for (let i = 0; i < 20; i++) t.equal((await get(`lost${i}`, YAML)).status, 200)

    await etcd.kill()
    rmSync(dataDir, { recursive: true })
    cpSync(backup, dataDir, { recursive: true })
    etcd = await EtcdServer.start({ dataDir, port })
    await until(async () => (await get('kept')).status === 200, { what: 'the kept object to be read' })
    t.equal((await get('lost5')).status, 404, 'what the backup does not have is not shown')
    await until(() => watch.closed || watch.events.some(({ code }) => code === 410), {
      what: 'the watch to be told that it has expired',
    })
    t.ok(
      watch.events.some(({ code }) => code === 410),
      'whoever watched is told to begin again',
    )
    for (let i = 0; i < 20; i++) {
      t.equal((await server.request('POST', PATH, configMap(`lost${i}`, 'new'))).status, 201)
      t.match((await get(`lost${i}`)).json, { data: { note: 'new' } }, 'an acknowledged write is read')
      t.match((await get(`lost${i}`, YAML)).text, /note: new/, 'in every form')
    }
    const list = (await server.request('GET', PATH)).json as { items: unknown[] }
    t.equal(list.items.length, 21)
  },
)
