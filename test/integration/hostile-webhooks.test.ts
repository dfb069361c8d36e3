import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import t from 'tap'
import { makeCertificate } from '#keelson/main/certificates/certificate.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const WEEK_MS = 7 * 24 * 3600 * 1000
const certificateFor = (hosts: readonly string[]) =>
  makeCertificate({
    commonName: 'hostile',
    use: 'server',
    hosts,
    notBeforeMs: Date.now() - WEEK_MS,
    notAfterMs: Date.now() + WEEK_MS,
  })
const own = certificateFor(['127.0.0.1'])
const elsewhere = certificateFor(['elsewhere.example.com'])
const bundleOf = ({ certificate }: { certificate: string }): string => Buffer.from(certificate).toString('base64')

interface Review {
  readonly request: { readonly uid: string }
}
type Behaviour = (review: Review, response: ServerResponse, request: IncomingMessage) => void

const reply = (response: ServerResponse, body: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
const allowing = ({ request }: Review, more: object = {}) => ({
  kind: 'AdmissionReview',
  apiVersion: 'admission.k8s.io/v1',
  response: { uid: request.uid, allowed: true, ...more },
})
const patching =
  (...operations: object[]): Behaviour =>
  (review, response) =>
    reply(
      response,
      allowing(review, {
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
      }),
    )

/** Copies all data into itself again and again: a megabyte after twenty, a terabyte after forty. */
const doubling = [
  { op: 'add', path: '/data', value: { a: 'x'.repeat(1000) } },
  ...Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/${i}` })),
]

const hung = new Set<ServerResponse>()
const hang: Behaviour = (_, response) => {
  hung.add(response)
  response.on('close', () => hung.delete(response))
}

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  never: hang,
  'a-byte-at-a-time': (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(timer))
  },
  'a-hundred-megabytes': (review, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const piece = Buffer.alloc(1024 * 1024, 0x20)
    let left = 100
    const send = (): void => {
      while (left-- > 0) if (!response.write(piece)) return void response.once('drain', send)
      response.end(JSON.stringify(allowing(review)))
    }
    send()
  },
  'a-long-error': (_, response) => {
    response.writeHead(500, { 'content-type': 'text/plain' })
    response.end('x'.repeat(20 * 1024 * 1024))
  },
  redirect: (_, response, { headers }) => {
    response.writeHead(307, { location: `https://${headers.host}/allow` })
    response.end()
  },
  'another-request': (_, response) => reply(response, allowing({ request: { uid: 'of-somebody-else' } })),
  garbage: (_, response) => void response.end('\u0000\u0001'),
  deep: (_, response) => void response.end('['.repeat(1_000_000)),
  wide: (_, response) => void response.end(`{"response":{"warnings":[${'"",'.repeat(700_000)}""]}}`),
  closes: (_, response) => void response.socket?.destroy(),
  'closes-midway': (_, response) => {
    response.writeHead(200, { 'content-length': 1000 })
    response.write('{"kind":', () => response.socket?.destroy())
  },
  'endless-headers': (_, response) => {
    const { socket } = response
    socket?.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket?.write(`x: ${'y'.repeat(10_000)}\r\n`), 5)
    socket?.on('close', () => clearInterval(timer))
    socket?.on('error', () => undefined)
  },
  'always-not-yet': (_, response) => {
    const { socket } = response
    const timer = setInterval(() => socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)), 5)
    socket?.on('close', () => clearInterval(timer))
    socket?.on('error', () => undefined)
  },
  'no-patch': (review, response) => reply(response, allowing(review, { patchType: 'JSONPatch', patch: '!!' })),
  doubling: patching(...doubling),
  'another-kind': patching({ op: 'replace', path: '/kind', value: 'Secret' }),
  'no-metadata': patching({ op: 'remove', path: '/metadata' }),
  'another-namespace': patching({ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }),
  'a-version': patching({ op: 'add', path: '/metadata/resourceVersion', value: '1' }),
  'ten-thousand-operations': patching(
    ...Array.from({ length: 10_001 }, () => ({ op: 'add', path: '/metadata/labels', value: {} })),
  ),
}

function serve(server: Server): Server {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as Review
      const behave = BEHAVIOURS[(request.url ?? '').slice(1).split('?', 1)[0]!]
      if (behave === undefined) reply(response, allowing(review))
      else behave(review, response, request)
    })
  })
  server.on('tlsClientError', () => undefined)
  return server
}

const hostile = serve(createServer({ cert: own.certificate, key: own.key })).listen(0, '127.0.0.1')
const misnamed = serve(createServer({ cert: elsewhere.certificate, key: elsewhere.key })).listen(0, '127.0.0.1')
/** Takes connections and says nothing, not even hello. */
const mute = createTcpServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1')
await Promise.all([hostile, misnamed, mute].map((server) => (server.listening ? undefined : once(server, 'listening'))))
const server = await KeelsonProcess.start(['--pool-threads=1'])
t.teardown(async () => {
  await server.close()
  for (const each of [hostile, misnamed]) {
    each.closeAllConnections()
    each.close()
  }
  mute.close()
})

const urlOf = (at: { address(): unknown }, path: string): string =>
  `https://127.0.0.1:${(at.address() as AddressInfo).port}/${path}`

/** Webhooks that fail by themselves: their addresses, and the authority they are believed by. */
const CONFIGS: Record<string, { url: string; caBundle?: string }> = {
  ...Object.fromEntries(
    Object.keys(BEHAVIOURS).map((path) => [path, { url: urlOf(hostile, path), caBundle: bundleOf(own) }]),
  ),
  'wrong-authority': { url: urlOf(hostile, 'allow'), caBundle: bundleOf(elsewhere) },
  'no-authority': { url: urlOf(hostile, 'allow') },
  'wrong-name': { url: urlOf(misnamed, 'allow'), caBundle: bundleOf(elsewhere) },
  mute: { url: urlOf(mute, 'allow'), caBundle: bundleOf(own) },
  nobody: { url: 'https://127.0.0.1:1/allow', caBundle: bundleOf(own) },
}

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'

/** Webhooks for the ConfigMaps of namespaces with a label. */
const webhook = (name: string, clientConfig: object, failurePolicy: string, timeoutSeconds: number) => ({
  name: `${name}.example.com`,
  clientConfig,
  failurePolicy,
  timeoutSeconds,
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  namespaceSelector: { matchLabels: { hook: name } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
})

async function install(name: string, webhooks: object[], namespace = name): Promise<void> {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
  }
  const made = await server.request('POST', CONFIGURATIONS, { ...body, webhooks })
  if (made.status !== 201) throw new Error(made.text)
  const labels = { hook: namespace }
  await server.request('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } })
}

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const create = (namespace: string, name: string) =>
  server.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, configMap(name))

async function residentBytes(): Promise<number> {
  const { text } = await server.request('GET', '/metrics')
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
}

/** What Ignore does not forgive, as in Kubernetes: patches that can be read and not applied. */
const UNFORGIVEN = new Set([
  'doubling',
  'another-kind',
  'ten-thousand-operations',
  'another-namespace',
  'a-version',
  'no-metadata',
])

/** They end by their timeout alone; the others have as much time as they may need. */
const ENDLESS = new Set(['never', 'a-byte-at-a-time', 'mute'])

t.test('each hostile webhook ends in its failure policy', async (t) => {
  for (const [name, clientConfig] of Object.entries(CONFIGS)) {
    const timeoutSeconds = ENDLESS.has(name) ? 1 : 30
    await install(`${name}-fail`, [webhook(`${name}-fail`, clientConfig, 'Fail', timeoutSeconds)])
    await install(`${name}-ignore`, [webhook(`${name}-ignore`, clientConfig, 'Ignore', timeoutSeconds)])
  }
  const names = Object.keys(CONFIGS)
  const outcomes = await Promise.all(
    names.map(async (name) => {
      const [failed, ignored] = await Promise.all([create(`${name}-fail`, 'a'), create(`${name}-ignore`, 'a')])
      return { name, failed, ignored }
    }),
  )
  for (const { name, failed, ignored } of outcomes) {
    t.ok(failed.status >= 400, `${name}: ${failed.status} ${failed.text.slice(0, 200)}`)
    t.ok(failed.text.length < 10_000, `${name}: what the webhook said is not passed on without end`)
    if (UNFORGIVEN.has(name)) t.ok(ignored.status >= 400, `${name} is not forgiven: ${ignored.status}`)
    else t.equal(ignored.status, 201, `${name} is forgiven: ${ignored.text.slice(0, 200)}`)
    const stored = await server.request('GET', `/api/v1/namespaces/${name}-fail/configmaps/a`)
    t.equal(stored.status, 404, `${name}: nothing was stored`)
  }
  t.equal((await server.request('GET', '/readyz')).status, 200)
})

t.test('long answers to many requests at once take bounded memory', async (t) => {
  const before = await residentBytes()
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => create('a-hundred-megabytes-ignore', `many-${i}`)),
  )
  t.same([...new Set(answers.map(({ status }) => status))], [201])
  const grown = (await residentBytes()) - before
  t.ok(grown < 400 * 1024 * 1024, `${Math.round(grown / 1024 / 1024)} MiB more for 6,000 MB of answers`)
})

t.test('requests that wait for a webhook are in nobody’s way', async (t) => {
  await install('silent', [webhook('silent', CONFIGS['never']!, 'Fail', 30)])
  let ended = 0
  const waiting = Array.from({ length: 400 }, async (_, i) => {
    const { status } = await create('silent', `w-${i}`)
    ended++
    return status
  })
  await until(() => hung.size >= 60, { what: 'the webhook has all the connections that it gets' })
  for (let i = 0; i < 50; i++) {
    t.equal((await create('default', `quiet-${i}`)).status, 201)
    t.equal((await server.request('GET', `/api/v1/namespaces/default/configmaps/quiet-${i}`)).status, 200)
  }
  t.equal(ended, 0, 'all others still wait')
  hostile.closeAllConnections()
  const closing = setInterval(() => hostile.closeAllConnections(), 20)
  t.teardown(() => clearInterval(closing))
  t.same([...new Set(await Promise.all(waiting))], [500])
})

t.test('failures are counted, and told once a minute', async (t) => {
  const { text } = await server.request('GET', '/metrics')
  t.match(text, /apiserver_admission_webhook_fail_open_count\{name="never-ignore.example.com",type="admit"\} \d/)
  t.match(
    text,
    /apiserver_admission_webhook_rejection_count\{name="never-fail.example.com",type="admit",operation="CREATE",error_type="calling_webhook_error"/,
  )
})
