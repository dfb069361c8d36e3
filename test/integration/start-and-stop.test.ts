/** A server that is started before its etcd, or stopped before it has started. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { freePort } from '../support/free-port.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

t.test('an etcd that comes later is waited for', { skip: skipWithoutEtcd }, async (t) => {
  const port = await freePort()
  const starting = KeelsonProcess.start([`--etcd-servers=http://127.0.0.1:${port}`])
  const etcd = await EtcdServer.start({ port })
  t.teardown(() => etcd.stop())
  const server = await starting
  t.teardown(() => server.close())
  t.equal((await server.request('GET', '/readyz')).status, 200)
})

t.test('a server that waits for its etcd says so, and ends when asked', async (t) => {
  const folder = temporaryFolder(t, 'start')
  const etcd = `http://127.0.0.1:${await freePort()}`
  const flags = ['--secure-port=0', '--cert-dir', path.join(folder, 'certs'), `--etcd-servers=${etcd}`]
  const server = spawn(process.execPath, ['bundle/main/index.js', ...flags], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => server.kill('SIGKILL'))
  let said = ''
  for await (const chunk of server.stdout) {
    said += String(chunk)
    if (said.includes('no connection to etcd')) break
  }
  t.match(said, `"endpoint":"${etcd}","reason":"${etcd}: connect ECONNREFUSED`)
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  t.same(await ended, [130, null])
})

t.test('a stop in the middle of a start: the start ends in order', async (t) => {
  const folder = temporaryFolder(t, 'start')
  const flags = ['--secure-port=0', '--cert-dir', path.join(folder, 'certs'), '--data-dir', path.join(folder, 'data')]
  const server = spawn(process.execPath, ['bundle/main/index.js', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(() => server.kill('SIGKILL'))
  const ended = once(server, 'exit')
  await until(() => existsSync(path.join(folder, 'data')), { what: 'the folder of the data' })
  server.kill('SIGTERM')
  t.same(await ended, [0, null])
})
