import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { parseTraceHeader } from '#keelson/api/trace-context.js'
import { makeCertificate } from '#keelson/main/certificates/certificate.js'
import { freePort } from '../support/free-port.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { type CollectedSpan, OtlpCollector } from '../support/otlp-collector.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

// Spans of a real server, as a collector gets them over gRPC.

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const REMOTE = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const traceparent = (flags: string): string => `00-${REMOTE.traceId}-${REMOTE.spanId}-${flags}`
const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

function tracingFile(t: Parameters<typeof temporaryFolder>[0], port: number, rate: number): string {
  const file = path.join(temporaryFolder(t, 'tracing'), 'tracing.yaml')
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nendpoint: 127.0.0.1:${port}\nsamplingRatePerMillion: ${rate}\n`,
  )
  return `--tracing-config-file=${file}`
}

t.test('a write is one trace from the front end to the storage and to webhooks', async (t) => {
  const collector = await OtlpCollector.start()
  t.teardown(() => collector.close())
  const server = await KeelsonProcess.start([tracingFile(t, collector.port, 1_000_000)])
  t.teardown(() => server.close())
  const headers = await webhook(t, server)
  const made = await server.request('POST', CONFIGMAPS, configMap('traced'))
  t.equal(made.status, 201)
  const auditId = made.headers.get('audit-id')
  const find = (test: (span: CollectedSpan) => boolean): CollectedSpan | undefined => collector.spans.find(test)
  const front = (): CollectedSpan | undefined =>
    find((span) => span.kind === 2 && span.attributes['audit-id'] === auditId)
  const below = (parent: CollectedSpan | undefined, name: string): CollectedSpan | undefined =>
    find((span) => parent !== undefined && span.parentSpanId === parent.spanId && span.name === name)
  const pool = (): CollectedSpan | undefined => below(front(), 'Create')
  await until(() => below(pool(), 'Create embedded') !== undefined && below(pool(), 'Call webhook') !== undefined, {
    what: 'the spans of the write',
  })
  const [root, work, stored, hook] = [
    front()!,
    pool()!,
    below(pool(), 'Create embedded')!,
    below(pool(), 'Call webhook')!,
  ]
  t.match(root, {
    name: 'POST /api/v1/namespaces/{:namespace}/configmaps',
    parentSpanId: '',
    attributes: { 'http.method': 'POST', 'http.target': CONFIGMAPS, 'http.status_code': 201n },
    status: { code: 0 },
    resource: { 'service.name': 'apiserver' },
  })
  t.match(stored, { kind: 3, attributes: { key: '/registry/configmaps/default/traced' } })
  for (const span of [work, stored, hook]) {
    t.equal(span.traceId, root.traceId)
    t.ok(span.startNs <= span.endNs)
  }
  const told = parseTraceHeader(headers()[0] ?? '')
  t.same(told, { traceId: hook.traceId, spanId: hook.spanId, isSampled: true }, 'the webhook is told')
  const metrics = (await server.request('GET', '/metrics')).text
  t.match(metrics, /^keelson_trace_spans_total\{result="sent"\} [1-9]/m)
})

t.test('without a rate, a believed client alone has its traces recorded', async (t) => {
  const collector = await OtlpCollector.start()
  t.teardown(() => collector.close())
  const server = await KeelsonProcess.start([tracingFile(t, collector.port, 0), '--authorization-mode=AlwaysAllow'])
  t.teardown(() => server.close())
  const get = (target: string, header: Record<string, string>) => server.request('GET', target, undefined, header)
  await get(`${CONFIGMAPS}?limit=1`, { traceparent: traceparent('00') })
  await get(`${CONFIGMAPS}?limit=2`, {})
  await get(`${CONFIGMAPS}?limit=3`, { traceparent: 'nonsense' })
  await get(`${CONFIGMAPS}?limit=4`, { traceparent: traceparent('01') })
  await until(() => collector.spans.length > 0, { what: 'the span of the client' })
  const [span] = collector.spans
  t.match(span, { traceId: REMOTE.traceId, parentSpanId: REMOTE.spanId })
  t.match(span?.attributes['http.target'], /limit=4$/)
  t.equal(collector.spans.length, 1)
})

t.test('a collector that is away or refuses costs spans and nothing else, and is found again', async (t) => {
  const port = await freePort()
  const server = await KeelsonProcess.start([tracingFile(t, port, 1_000_000)])
  t.teardown(() => server.close())
  const lost = async (): Promise<boolean> =>
    /^keelson_trace_spans_total\{result="failed"\} [1-9]/m.test((await server.request('GET', '/metrics')).text)
  await until(lost, { what: 'spans to be lost' })
  t.equal((await server.request('POST', CONFIGMAPS, configMap('a'))).status, 201)
  const collector = await OtlpCollector.start(port)
  t.teardown(() => collector.close())
  await until(
    async () => {
      await server.request('GET', `${CONFIGMAPS}/a`)
      return collector.spans.some((span) => span.name.startsWith('GET /api/v1/'))
    },
    { what: 'spans to come again' },
  )
  t.equal(await server.stop(), 0)
})

/** A webhook that allows everything; gives the headers `traceparent` that it was sent. */
async function webhook(t: Parameters<typeof temporaryFolder>[0], server: KeelsonProcess): Promise<() => string[]> {
  const life = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3600_000 }
  const { certificate, key } = makeCertificate({ commonName: 'hook', use: 'server', hosts: ['127.0.0.1'], ...life })
  const seen: string[] = []
  const hook = createServer({ cert: certificate, key }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    seen.push(String(incoming.headers['traceparent']))
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { apiVersion, request } = JSON.parse(Buffer.concat(chunks).toString()) as {
        apiVersion: string
        request: { uid: string }
      }
      outgoing.end(
        JSON.stringify({ kind: 'AdmissionReview', apiVersion, response: { uid: request.uid, allowed: true } }),
      )
    })
  }).listen(0, '127.0.0.1')
  await once(hook, 'listening')
  t.teardown(() => {
    hook.closeAllConnections()
    hook.close()
  })
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hook' },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: {
          url: `https://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
          caBundle: Buffer.from(certificate).toString('base64'),
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  }
  const made = await server.request(
    'POST',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    configuration,
  )
  t.equal(made.status, 201)
  return () => seen
}
