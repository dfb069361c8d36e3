import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { Etcd3 } from 'etcd3'
import t from 'tap'
import { encryptionFileOf } from '../support/encryption-file.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const ENCRYPTED = 'k8s:enc:aescbc:v1:new:'
/** What servers keep for themselves and no resource shows. kube-apiserver on the same etcd reads it as it is. */
const INTERNAL = /^\/registry\/(ranges|masterleases)\//

t.test(
  '*.* encrypts every object, and nothing that servers keep for themselves',
  { skip: skipWithoutEtcd },
  async (t) => {
    const etcd = await EtcdServer.start()
    t.teardown(() => etcd.stop())
    const witness = new Etcd3({ hosts: etcd.endpoint })
    t.teardown(() => witness.close())
    const file = path.join(temporaryFolder(t, 'encrypt'), 'encryption.json')
    writeFileSync(file, encryptionFileOf(['*.*'], 'new'))
    const server = await KeelsonProcess.start([
      `--etcd-servers=${etcd.endpoint}`,
      `--encryption-provider-config=${file}`,
    ])
    t.teardown(() => server.close())
    const service = { metadata: { name: 'door' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }
    t.equal((await server.request('POST', '/api/v1/namespaces/default/services', service)).status, 201)

    const stored = await witness.getAll().prefix('/registry/').strings()
    const plain = Object.keys(stored).filter((key) => !stored[key]!.startsWith(ENCRYPTED))
    t.match(stored['/registry/services/specs/default/door'], new RegExp(`^${ENCRYPTED}`))
    t.ok(plain.includes('/registry/ranges/servicenodeports'), 'the ports that are taken')
    t.ok(
      plain.some((key) => key.startsWith('/registry/masterleases/')),
      'the addresses of the servers',
    )
    t.same(
      plain.filter((key) => !INTERNAL.test(key)),
      [],
    )
  },
)
