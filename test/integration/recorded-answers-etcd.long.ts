import t from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { replayRecordings } from './recorded-answers.js'

t.test('the server answers as the recorded one did, over etcd', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  await replayRecordings(t, temporaryFolder(t, 'recorded'), [`--etcd-servers=${etcd.endpoint}`])
})
