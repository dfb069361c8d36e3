import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

/** Loaded before the server in each of its threads: no file of /proc is there, as on macOS and Windows. */
const WITHOUT_PROC = `
const fs = require('node:fs')
for (const name of ['readFileSync', 'readlinkSync', 'openSync', 'statSync', 'existsSync', 'readdirSync']) {
  const real = fs[name]
  fs[name] = (file, ...rest) => {
    if (!String(file).startsWith('/proc')) return real(file, ...rest)
    if (name === 'existsSync') return false
    throw Object.assign(new Error('ENOENT: no such file or directory, ' + file), { code: 'ENOENT' })
  }
}
require('node:module').syncBuiltinESMExports()
`

t.test('a system without /proc is served without what only /proc tells', async (t) => {
  const folder = temporaryFolder(t, 'no-proc')
  const preload = path.join(folder, 'without-proc.cjs')
  writeFileSync(preload, WITHOUT_PROC)
  const before = process.env['NODE_OPTIONS']
  process.env['NODE_OPTIONS'] = `${before ?? ''} --require=${preload}`
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_OPTIONS']
    else process.env['NODE_OPTIONS'] = before
  })
  const server = await KeelsonProcess.start(['--authorization-mode=AlwaysAllow', '--pool-threads=1'])
  t.teardown(() => server.close())
  const body = { metadata: { name: 'a' }, data: { key: 'value' } }
  t.equal((await server.request('POST', '/api/v1/namespaces/default/configmaps', body)).status, 201)
  t.equal((await server.request('GET', '/api/v1/namespaces/default/configmaps/a')).status, 200)
  const metrics = await server.request('GET', '/metrics')
  t.equal(metrics.status, 200)
  t.match(metrics.text, /^keelson_thread_cpu_seconds_total\{thread="[^"]+"\} /m, 'by the time the loop was busy')
  const threads = await server.request('GET', '/debug/pprof/threads')
  t.equal(threads.status, 200)
  t.notMatch(threads.text, /kernelThread/)
})
