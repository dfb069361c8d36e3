import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { open, type RawAnswer, sendRaw } from '../support/raw-http.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const JSON_TYPE = { 'content-type': 'application/json' }
const MIB = 1024 * 1024

const server = await KeelsonProcess.start()
t.teardown(() => server.close())

const post = (body: string | Buffer, type = 'application/json'): string =>
  `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`

/** A 4xx, or the connection closed (505: closed, since it is no HTTP): nothing else is an answer to nonsense. */
const isRefusal = ({ status }: RawAnswer): boolean => status === 0 || (status >= 400 && status < 500) || status === 505

const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) * 1024

/** After whatever was done to it, it is the same process and serves. */
async function stillServes(t: Test): Promise<void> {
  process.kill(server.pid, 0)
  const { status } = await server.request('GET', '/api/v1/namespaces/default')
  t.equal(status, 200, 'it still serves')
}

t.test('bodies that are too large get 413 and are not kept', async (t) => {
  const large = `{"data":{"k":"${'x'.repeat(3 * MIB)}"}}`
  t.equal((await server.request('POST', CONFIGMAPS, large)).status, 413)
  const put = await server.request('PUT', `${CONFIGMAPS}/a`, large)
  t.equal(put.status, 413)
  t.equal((put.json as { reason: string }).reason, 'RequestEntityTooLarge')
  const announced = `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n`
  t.equal((await sendRaw(server.url, announced)).status, 413, 'nobody waits for 100 GB')
  const chunk = `${(65536).toString(16)}\r\n${'y'.repeat(65536)}\r\n`
  const chunked = `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(50)}0\r\n\r\n`
  t.ok(isRefusal(await sendRaw(server.url, chunked)), 'also in chunks')
  const fits = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fits"}}${' '.repeat(2 * MIB)}`
  t.equal((await server.request('POST', CONFIGMAPS, fits)).status, 201, 'what fits is taken')
  await stillServes(t)
})

t.test('bodies that end too early', async (t) => {
  const whole = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cut' } })
  for (let length = 0; length < whole.length; length += 7) {
    const answer = await sendRaw(server.url, `${post(whole)}${whole.slice(0, length)}`, true)
    t.ok(isRefusal(answer), `a connection cut after ${length} bytes: ${answer.status}`)
    const { status } = await server.request('POST', CONFIGMAPS, whole.slice(0, length))
    t.ok(status >= 400 && status < 500, `a document cut after ${length} bytes: ${status}`)
  }
  await stillServes(t)
})

t.test('deep nesting, bad UTF-8 and other documents that are none', async (t) => {
  const deep = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth)
  const inObject = (text: string): string =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":${text}}`
  const bodies: [name: string, body: string | Buffer, type?: string][] = [
    ['arrays', deep('[', ']', 1_000_000)],
    ['open arrays', '['.repeat(3_000_000)],
    ['objects', `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`],
    ['arrays in an object', inObject(deep('[', ']', 500_000))],
    ['objects in an object', inObject(`${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`)],
    ['arrays where nothing is known', inObject('{}').replace('"data"', `"unknown":${deep('[', ']', 500_000)},"data"`)],
    ['YAML in flow', deep('[', ']', 100_000), 'application/yaml'],
    ['YAML in blocks', '- '.repeat(100_000), 'application/yaml'],
    ['YAML that multiplies', yamlBomb(), 'application/yaml'],
    ['bad UTF-8', Buffer.concat([Buffer.from('{"kind":"'), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), Buffer.from('"}')])],
    ['a lone surrogate', '{"kind":"\\ud800"}'],
    ['nothing', ''],
    ['zeros', Buffer.alloc(10_000)],
    ['a long number', inObject('9'.repeat(1_000_000))],
    ['an endless exponent', '{"metadata":{"generation":1e999999999}}'],
    ['its own prototype', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'],
    [
      'protobuf that is none',
      Buffer.from([0x6b, 0x38, 0x73, 0, 0xff, 0xff, 0xff, 0xff]),
      'application/vnd.kubernetes.protobuf',
    ],
    ['an unknown type', 'hello', 'text/plain'],
    ['a type that is none', 'hello', ';;;==/"'],
  ]
  for (const [name, body, type] of bodies) {
    const answer = await sendRaw(server.url, Buffer.concat([Buffer.from(post(body, type)), Buffer.from(body)]))
    t.ok(
      answer.status >= 400 && answer.status < 500,
      `${name}: ${answer.status} ${answer.status >= 500 ? answer.text : ''}`,
    )
  }
  await stillServes(t)
})

t.test('patches that go deep', async (t) => {
  await server.request('POST', CONFIGMAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'deep' } })
  const nested = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
  const patches: [type: string, body: string][] = [
    ['application/merge-patch+json', `{"data":${nested}}`],
    ['application/strategic-merge-patch+json', `{"metadata":{"labels":${nested}}}`],
    ['application/json-patch+json', `[{"op":"add","path":"/data","value":${nested}}]`],
    ['application/json-patch+json', `[{"op":"add","path":"${'/a'.repeat(500_000)}","value":1}]`],
    [
      'application/json-patch+json',
      `[${'{"op":"test","path":"/kind","value":"ConfigMap"},'.repeat(20_000)}{"op":"x"}]`,
    ],
    [
      'application/apply-patch+yaml',
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"data":${nested}}`,
    ],
  ]
  for (const [type, body] of patches) {
    const { status, text } = await server.request('PATCH', `${CONFIGMAPS}/deep?fieldManager=m`, body, {
      'content-type': type,
    })
    t.ok(status >= 400 && status < 500, `${type}: ${status} ${status >= 500 ? text.slice(0, 300) : ''}`)
  }
  await stillServes(t)
})

t.test('paths that try to be clever', async (t) => {
  const targets = [
    '/api/v1/namespaces/default/configmaps/..%2f..%2fsecrets',
    '/api/v1/namespaces/%2e%2e/configmaps/x',
    '/api/v1/namespaces/../secrets/x',
    '/api//v1//namespaces//none',
    '//api/v1/namespaces/none',
    '/api/v1/namespaces/default%2Fconfigmaps%2Fnone',
    '/api/v1/namespaces/default/configmaps/a%00b',
    '/api/v1/namespaces/default/configmaps/%',
    '/api/v1/namespaces/default/configmaps/%zz',
    '/api/v1/namespaces/default/configmaps/%ff%fe',
    '/api/v1/namespaces/default/configmaps/%c0%ae%c0%ae',
    `/api/v1/namespaces/default/configmaps/${'a'.repeat(3000)}`,
    `/api/v1/namespaces/${'a/'.repeat(1000)}`,
    '/api/v1/namespaces/default/__proto__/constructor',
    '/apis/__proto__/v1/constructor',
    '/openapi/v3/../../etc/passwd',
    '/openapi/v3/apis/constructor/__proto__',
    '/healthz/__proto__',
    '/proxy/http://127.0.0.1',
    '/api/v1/proxy/nodes/x',
    `${CONFIGMAPS}?labelSelector=${'a,'.repeat(1500)}%`,
    `${CONFIGMAPS}?labelSelector=${'('.repeat(3000)}`,
    `${CONFIGMAPS}?labelSelector=a%20in%20(${'b,'.repeat(1200)}`,
    `${CONFIGMAPS}?fieldSelector=${'%5C'.repeat(1000)}`,
    `${CONFIGMAPS}?limit=9e99&resourceVersion=-1`,
    `${CONFIGMAPS}?continue=${'A'.repeat(3000)}`,
    `${CONFIGMAPS}?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4vLi4vc2VjcmV0cyJ9%00`,
    `${CONFIGMAPS}?watch=true&timeoutSeconds=1e9`,
  ]
  for (const target of targets) {
    const answer = await sendRaw(server.url, get(target))
    t.ok(
      isRefusal(answer),
      `${target.slice(0, 90)}: ${answer.status} ${isRefusal(answer) ? '' : answer.text.slice(0, 400)}`,
    )
  }
  await stillServes(t)
})

t.test('requests that are no requests', async (t) => {
  const requests: [name: string, bytes: string | Buffer][] = [
    ['noise', Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919) % 256))],
    ['no version', 'GET /\r\n\r\n'],
    [
      'TLS to a plain port',
      Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 13, 10, 13, 10]),
    ],
    [
      'two lengths',
      `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello`,
    ],
    ['a negative length', `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\nhello`],
    ['a length that is a word', `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: five\r\n\r\nhello`],
    ['a chunk that is none', `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`],
    ['a head of 1 MB', get('/', `X: ${'x'.repeat(MIB)}\r\n`)],
    ['10,000 headers', get('/', 'X: y\r\n'.repeat(10_000))],
    ['no host', 'GET /none HTTP/1.1\r\n\r\n'],
    ['a path of 100 KB', get(`/${'a'.repeat(100_000)}`)],
    ['an unknown method', `BREW ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ]
  for (const [name, bytes] of requests) {
    const answer = await sendRaw(server.url, bytes, true)
    t.ok(isRefusal(answer), `${name}: ${answer.status}`)
  }
  await stillServes(t)
})

t.test('a head may be as long as tokens and selectors are', async (t) => {
  for (const bytes of [8_000, 30_000, 60_000]) {
    t.equal(
      (await sendRaw(server.url, get('/version', `X: ${'x'.repeat(bytes)}\r\n`))).status,
      200,
      `${bytes} in a header`,
    )
    const listed = await sendRaw(
      server.url,
      get(`${CONFIGMAPS}?labelSelector=a!%3D${'x'.repeat(60)}&x=${'x'.repeat(bytes)}`),
    )
    t.equal(listed.status, 200, `${bytes} in the query`)
  }
  t.equal((await sendRaw(server.url, get('/version', `X: ${'x'.repeat(70_000)}\r\n`))).status, 431)
})

t.test('thousands of connections that say half a sentence', async (t) => {
  const before = residentBytes()
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  let closed = 0
  const halves = ['', 'GET /api/v1', get('/healthz').slice(0, -2), `${post('x'.repeat(1000))}{"apiVersion":`]
  for (let i = 0; i < 2000; i++) {
    const socket = open(server.url)
    socket.on('error', () => undefined)
    socket.on('close', () => closed++)
    socket.write(halves[i % halves.length]!)
    socket.resume()
    sockets.push(socket)
  }
  await stillServes(t)
  for (const socket of sockets.slice(0, 1000)) socket.resetAndDestroy()
  await stillServes(t)
  await until(() => closed === sockets.length, { what: 'every socket to be closed' })
  t.pass('the server closes what never goes on')
  const healthy = await server.request('POST', CONFIGMAPS, { metadata: { name: 'after' } }, JSON_TYPE)
  t.equal(healthy.status, 201, 'no place was lost to them')
  t.ok(residentBytes() - before < 128 * MIB, `${Math.round((residentBytes() - before) / MIB)} MiB more than before`)
  await stillServes(t)
})

/** A few lines that stand for a billion. */
function yamlBomb(): string {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
  for (let i = 1; i < 10; i++)
    lines.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(',')}]`,
    )
  return lines.join('\n')
}
