import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import path from 'node:path'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { skipWithoutKubectl } from '../support/kubectl.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const WATCHES = 500
const server = await KeelsonProcess.start(['--http-engine=node'], undefined, { tls: true })
t.teardown(() => server.close())
const file = (name: string): string => readFileSync(path.join(server.certDir, name), 'utf8')

function session(): ClientHttp2Session {
  const opened = connect(server.url, { ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') })
  opened.on('error', () => undefined)
  t.teardown(() => opened.destroy())
  return opened
}

interface Answer {
  readonly status: number
  readonly text: string
}
function request(over: ClientHttp2Session, method: string, target: string, body?: object): Promise<Answer> {
  const stream = over.request({ ':method': method, ':path': target, 'content-type': 'application/json' })
  let status = 0
  let text = ''
  stream.setEncoding('utf8')
  stream.on('response', (headers) => {
    status = Number(headers[':status'])
  })
  stream.on('data', (chunk: string) => {
    text += chunk
  })
  stream.end(body === undefined ? undefined : JSON.stringify(body))
  return new Promise((resolve, reject) => {
    stream.on('error', reject)
    stream.on('close', () => resolve({ status, text }))
  })
}
const configMap = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { a: 'b' },
})

t.test('a connection carries writes, reads and 500 watches', async (t) => {
  const over = session()
  const heads = new Set<ClientHttp2Stream>()
  const names: string[][] = []
  const watches = Array.from({ length: WATCHES }, (_, i) => {
    const stream = over.request({ ':path': `${CONFIGMAPS}?watch=1&fieldSelector=metadata.namespace%3Ddefault` })
    const seen: string[] = []
    names[i] = seen
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('error', () => undefined)
    stream.on('response', () => heads.add(stream))
    stream.on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } }
        if (type === 'ADDED' && object.metadata.name !== 'kube-root-ca.crt') seen.push(object.metadata.name)
      }
    })
    return stream
  })
  await until(() => heads.size === WATCHES, { what: 'the head of every watch, before there is an event' })
  const all = ['one', 'two', 'three']
  for (const name of all) t.equal((await request(over, 'POST', CONFIGMAPS, configMap(name))).status, 201)
  await until(() => names.every((seen) => seen.length >= all.length), { what: 'every event at every watch' })
  t.ok(
    names.every((seen) => seen.join() === all.join()),
    'each once and in order',
  )
  t.match(JSON.parse((await request(over, 'GET', CONFIGMAPS)).text), { kind: 'ConfigMapList' })
  for (const stream of watches) stream.close(8)
  t.equal((await request(over, 'GET', `${CONFIGMAPS}/one`)).status, 200, 'the connection goes on when they end')
  await until(
    async () =>
      /longrunning_requests\{[^}]*resource="configmaps"[^}]*\} 0/.test((await request(over, 'GET', '/metrics')).text),
    { what: 'no watch to be left' },
  )
})

t.test('a body beyond the limit is refused, and its connection goes on', async (t) => {
  const over = session()
  const large = { ...configMap('large'), data: { a: 'x'.repeat(4 * 1024 * 1024) } }
  t.equal((await request(over, 'POST', CONFIGMAPS, large)).status, 413)
  t.equal((await request(over, 'GET', '/readyz')).status, 200)
})

t.test('kubectl speaks HTTP/2 with it', { skip: skipWithoutKubectl }, async (t) => {
  const kubeconfig = path.join(server.certDir, 'admin.kubeconfig')
  const { stdout, stderr } = spawnSync(
    'kubectl',
    ['--kubeconfig', kubeconfig, '-v=9', 'get', 'configmaps', '-n', 'default', '-o', 'name'],
    { encoding: 'utf8' },
  )
  t.match(stdout, 'configmap/one')
  t.notMatch(stderr, /malformed HTTP response/)
})

t.test('a server that is told to stop tells its clients, and ends', async (t) => {
  const over = session()
  const goaway = new Promise((resolve) => over.once('goaway', resolve))
  const watch = over.request({ ':path': `${CONFIGMAPS}?watch=1` })
  watch.resume()
  await new Promise((resolve) => watch.once('response', resolve))
  const ended = new Promise((resolve) => watch.once('close', resolve))
  const stopped = server.stop()
  t.equal(await goaway, 0)
  await ended
  t.equal(watch.rstCode, 0, 'watches end whole')
  t.equal(await stopped, 0)
})
