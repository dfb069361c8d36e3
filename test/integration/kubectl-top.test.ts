import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { issuerOf, makeCertificate } from '#keelson/main/certificates/certificate.js'
import { AdminClient } from '../support/admin-client.js'
import { newAuthority } from '../support/extension-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { Kubectl, skipWithoutKubectl } from '../support/kubectl.js'
import { until } from '../support/until.js'

const GROUP_VERSION = 'metrics.k8s.io/v1beta1'
const MIB = 1024 * 1024
const usage = { timestamp: '2026-01-01T00:00:00Z', window: '30s' }
const list = (kind: string, items: object[]): object => ({ kind, apiVersion: GROUP_VERSION, metadata: {}, items })
const ANSWERS: Readonly<Record<string, object>> = {
  [`/apis/${GROUP_VERSION}`]: {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: GROUP_VERSION,
    resources: [
      { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
      { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
    ],
  },
  [`/apis/${GROUP_VERSION}/nodes`]: list('NodeMetricsList', [
    { metadata: { name: 'one' }, ...usage, usage: { cpu: '500m', memory: `${256 * MIB}` } },
  ]),
  [`/apis/${GROUP_VERSION}/namespaces/default/pods`]: list('PodMetricsList', [
    {
      metadata: { name: 'web', namespace: 'default' },
      ...usage,
      containers: [
        { name: 'a', usage: { cpu: '10m', memory: `${20 * MIB}` } },
        { name: 'b', usage: { cpu: '5m', memory: `${12 * MIB}` } },
      ],
    },
  ]),
}

t.test('kubectl top shows nodes and pods by a server of metrics', { skip: skipWithoutKubectl }, async (t) => {
  const server = await KeelsonProcess.start([], undefined, { tls: true })
  t.teardown(() => server.close())
  const admin = new AdminClient(server)
  t.teardown(() => admin.close())
  const life = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3600_000 }
  const authority = newAuthority()
  const issuer = issuerOf('extensions', authority.key, new X509Certificate(authority.certificate).publicKey)
  const hosts = ['metrics-server.kube-system.svc']
  const { certificate: cert, key } = makeCertificate({ commonName: 'metrics', use: 'server', hosts, ...life }, issuer)
  const ca = readFileSync(path.join(server.certDir, 'front-proxy-ca.crt'), 'utf8')
  const metrics = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    const found = (request.socket as TLSSocket).authorized ? ANSWERS[request.url?.split('?')[0] ?? ''] : undefined
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }))
  })
  await new Promise<void>((resolve) => metrics.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    metrics.closeAllConnections()
    metrics.close()
  })
  const create = async (where: string, body: object): Promise<void> => {
    const { status, text } = await admin.request('POST', where, body)
    t.equal(status, 201, text)
  }
  await create('/api/v1/namespaces/kube-system/services', {
    metadata: { name: 'metrics-server' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { name: 'metrics-server', namespace: 'kube-system', port: (metrics.address() as AddressInfo).port },
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
  })
  await create('/api/v1/nodes', { metadata: { name: 'one' } })
  const capacity = { cpu: '2', memory: `${1024 * MIB}` }
  const status = await admin.request(
    'PATCH',
    '/api/v1/nodes/one/status',
    { status: { capacity, allocatable: capacity } },
    { 'content-type': 'application/merge-patch+json' },
  )
  t.equal(status.status, 200)
  const kubectl = new Kubectl(server.url)
  t.teardown(() => kubectl.close())
  const kubeconfig = path.join(server.certDir, 'admin.kubeconfig')
  const top = (...args: string[]) => kubectl.run(['--kubeconfig', kubeconfig, 'top', ...args, '--no-headers'])
  await until(async () => (await top('nodes')).code === 0, { what: 'kubectl top nodes to be answered' })
  t.match((await top('nodes')).stdout, /^one\s+500m\s+25%\s+256Mi\s+25%/)
  t.match((await top('pods')).stdout, /^web\s+15m\s+32Mi/)
  t.match((await top('pods', '--containers')).stdout, /^web\s+a\s+10m\s+20Mi[\s\S]*web\s+b\s+5m\s+12Mi/)
})
