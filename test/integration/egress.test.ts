/**
 * Everything that this server connects to is behind proxies here, under names that the proxies alone know: what arrives came through
 * them. etcd by a Unix socket, the cluster by TLS with certificates on both sides, the control plane by plain TCP.
 */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { makeCertificate } from '#keelson/main/certificates/certificate.js'
import { AdminClient } from '../support/admin-client.js'
import { TestAuthority } from '../support/certificates.js'
import { ConnectProxy } from '../support/connect-proxy.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { ExtensionServer, GROUP, newAuthority, VERSION } from '../support/extension-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { TestKubelet } from '../support/kubelet.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const FORECASTS = `/apis/${GROUP}/${VERSION}/namespaces/default/forecasts`
const MAPS = '/api/v1/namespaces/default/configmaps'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const HOUR_MS = 3600_000

interface Hook {
  readonly port: number
  readonly caBundle: string
  calls: number
}

/** A webhook that allows everything and counts. */
async function startHook(t: Test): Promise<Hook> {
  const { certificate, key } = makeCertificate({
    commonName: 'hooks',
    use: 'server',
    hosts: ['hook.inside', 'hook.default.svc'],
    notBeforeMs: Date.now() - HOUR_MS,
    notAfterMs: Date.now() + HOUR_MS,
  })
  const server = createServer({ cert: certificate, key }, (incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      hook.calls++
      const { request, apiVersion } = JSON.parse(Buffer.concat(chunks).toString()) as {
        request: { uid: string }
        apiVersion: string
      }
      outgoing.end(
        JSON.stringify({ kind: 'AdmissionReview', apiVersion, response: { uid: request.uid, allowed: true } }),
      )
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const hook: Hook = {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(certificate).toString('base64'),
    calls: 0,
  }
  return hook
}

const webhookConfiguration = (name: string, clientConfig: object): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name },
  webhooks: [
    {
      name: `${name}.example.com`,
      clientConfig,
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      objectSelector: { matchLabels: { asks: name } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 5,
    },
  ],
})

t.test('etcd, webhooks, extension servers and kubelets through proxies', { skip: skipWithoutEtcd }, async (t) => {
  const whole = t
  const folder = temporaryFolder(t, 'egress')
  const file = (name: string, text: string): string => {
    const full = path.join(folder, name)
    writeFileSync(full, text)
    return full
  }
  const authority = await TestAuthority.create()
  const own = await authority.sign('CN=kube-apiserver')
  const [ownCert, ownKey] = [file('own.pem', own.certificate), file('own.key', own.key)]
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const kubelet = await TestKubelet.start({
    identity: await authority.sign('CN=kubelet'),
    authority: authority.certificate,
  })
  t.teardown(() => kubelet.close())
  const hook = await startHook(t)
  const clusterTargets: Record<string, number> = { 'node.inside:10250': kubelet.port, 'hook.inside:8443': hook.port }
  const socketPath = path.join(folder, 'etcd.sock')
  const toEtcd = await ConnectProxy.start({ targets: { 'etcd.inside:2379': etcd.port }, socketPath })
  const toControlPlane = await ConnectProxy.start({ targets: { 'hook.inside:9443': hook.port } })
  const toCluster = await ConnectProxy.start({
    targets: clusterTargets,
    tls: { ...(await authority.sign('CN=proxy')), authority: authority.certificate },
  })
  for (const proxy of [toEtcd, toControlPlane, toCluster]) t.teardown(() => proxy.cut())
  const tlsConfig = { caBundle: file('ca.pem', authority.certificate), clientCert: ownCert, clientKey: ownKey }
  const selection = (name: string, transport: object): object => ({
    name,
    connection: { proxyProtocol: 'HTTPConnect', transport },
  })
  const configuration = file(
    'egress.yaml',
    JSON.stringify({
      apiVersion: 'apiserver.k8s.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [
        selection('etcd', { uds: { udsName: socketPath } }),
        selection('controlplane', { tcp: { url: toControlPlane.url } }),
        selection('cluster', { tcp: { url: toCluster.url, tlsConfig } }),
      ],
    }),
  )
  const server = await KeelsonProcess.start(
    [
      '--etcd-servers=http://etcd.inside:2379',
      `--egress-selector-config-file=${configuration}`,
      `--kubelet-client-certificate=${ownCert}`,
      `--kubelet-client-key=${ownKey}`,
      '--pool-threads=1',
    ],
    undefined,
    { tls: true },
  )
  t.teardown(() => server.close())
  const admin = new AdminClient(server)
  t.teardown(() => admin.close())
  const send = admin.request.bind(admin)
  const made = async (t: Test, url: string, body: unknown): Promise<void> => {
    const { status, text } = await send('POST', url, body)
    t.equal(status, 201, status === 201 ? url : text)
  }
  const map = (name: string, asks: string): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { asks } },
  })

  await t.test('etcd is reached by its proxy alone', async (t) => {
    await made(t, MAPS, map('first', 'nobody'))
    t.ok(toEtcd.asked.every((target) => target === 'etcd.inside:2379'))
    t.ok(toEtcd.tunnels > 0)
    t.strictSame(toCluster.asked, [])
  })

  await t.test('a webhook by URL goes the way of the control plane, one by service that of the cluster', async (t) => {
    await made(t, '/api/v1/namespaces/default/services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'hook' },
      spec: { type: 'ExternalName', externalName: 'hook.inside' },
    })
    const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    const { caBundle } = hook
    await made(t, configurations, webhookConfiguration('url', { url: 'https://hook.inside:9443/', caBundle }))
    const service = { name: 'hook', namespace: 'default', port: 8443 }
    await made(t, configurations, webhookConfiguration('service', { service, caBundle }))
    // A configuration takes effect with its event: until then a write is not asked about.
    for (const asks of ['url', 'service']) {
      const before = hook.calls
      let count = 0
      await until(
        async () => {
          await made(t, MAPS, map(`${asks}-${count++}`, asks))
          return hook.calls > before
        },
        { what: `the webhook by ${asks}` },
      )
    }
    t.ok(toControlPlane.asked.includes('hook.inside:9443'))
    t.ok(toCluster.asked.includes('hook.inside:8443'))
  })

  await t.test('an extension server is served, its document too, and its WebSocket', async (t) => {
    const frontProxyCa = readFileSync(path.join(server.certDir, 'front-proxy-ca.crt'), 'utf8')
    const extension = await ExtensionServer.start({ hosts: ['weather.default.svc'], frontProxyCa }, newAuthority())
    whole.teardown(() => extension.kill())
    clusterTargets['weather.inside:443'] = extension.port
    await made(t, '/api/v1/namespaces/default/services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'weather' },
      spec: { type: 'ExternalName', externalName: 'weather.inside' },
    })
    await made(t, '/apis/apiregistration.k8s.io/v1/apiservices', {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${VERSION}.${GROUP}` },
      spec: {
        group: GROUP,
        version: VERSION,
        groupPriorityMinimum: 100,
        versionPriority: 10,
        service: { name: 'weather', namespace: 'default' },
        caBundle: Buffer.from(extension.authority).toString('base64'),
      },
    })
    await until(async () => (await send('GET', FORECASTS)).status === 200, { what: 'the extension server' })
    t.equal((await send('GET', `/openapi/v3/apis/${GROUP}/${VERSION}`)).status, 200)
    const socket = new WebSocket(`${server.url.replace('https', 'wss')}${FORECASTS}/a/talk`, { ...admin.tls })
    const [told] = (await once(socket, 'message')) as [Buffer]
    t.match(JSON.parse(told.toString()), { user: 'kubernetes-admin' })
    socket.close()
    t.ok(toCluster.asked.includes('weather.inside:443'))
  })

  await t.test('logs and WebSockets of a kubelet', async (t) => {
    await made(t, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
    const status = { addresses: [{ type: 'Hostname', address: 'node.inside' }] }
    t.equal((await send('PATCH', '/api/v1/nodes/n/status', { status }, MERGE)).status, 200)
    await made(t, '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    })
    const pod = '/api/v1/namespaces/default/pods/p'
    t.equal((await send('GET', `${pod}/log`)).text, 'first line\nlast line\n')
    const url = `${server.url.replace('https', 'wss')}${pod}/exec?command=exit&command=3&stdout=true&stderr=true`
    const socket = new WebSocket(url, ['v5.channel.k8s.io'], { ...admin.tls })
    let text = ''
    socket.on('message', (data: Buffer) => {
      text += data.subarray(1).toString()
    })
    await once(socket, 'close')
    t.match(text, /about to end[\s\S]*exit code 3/)
    t.ok(toCluster.asked.includes('node.inside:10250'))
  })

  await t.test('proxies that are cut off and come back: everything recovers', async (t) => {
    const write = (name: string, asks: string) => send('POST', MAPS, map(name, asks))
    await toCluster.cut()
    await toControlPlane.cut()
    t.equal((await write('cut-url', 'url')).status, 500)
    t.equal((await write('cut-service', 'service')).status, 500)
    t.equal((await write('cut-nobody', 'nobody')).status, 201, 'nothing else notices')
    t.equal((await send('GET', '/api/v1/namespaces/default/pods/p/log')).status, 500)
    await until(async () => (await send('GET', FORECASTS)).status === 503, { what: '503 of the extension server' })
    await toCluster.back()
    await toControlPlane.back()
    await until(async () => (await write(`back-url-${performance.now()}`, 'url')).status === 201, { what: 'URL' })
    await until(async () => (await write(`back-service-${performance.now()}`, 'service')).status === 201, {
      what: 'the webhook by service',
    })
    await until(async () => (await send('GET', '/api/v1/namespaces/default/pods/p/log')).status === 200, {
      what: 'the kubelet',
    })
    await until(async () => (await send('GET', FORECASTS)).status === 200, { what: 'the extension server' })
    await toEtcd.cut()
    t.ok((await write('while-cut', 'nobody')).status >= 500, 'nothing is stored past the proxy')
    t.equal((await send('GET', `${MAPS}/first?resourceVersion=0`)).status, 200, 'what is in memory is served')
    const before = toEtcd.asked.length
    await toEtcd.back()
    await until(async () => (await write(`back-etcd-${performance.now()}`, 'nobody')).status === 201, { what: 'etcd' })
    t.ok(toEtcd.asked.length > before)
    t.equal((await send('GET', `${MAPS}/first`)).status, 200)
  })
})

t.test('a wrong file is refused at start', async (t) => {
  const file = path.join(temporaryFolder(t, 'egress'), 'egress.yaml')
  writeFileSync(file, 'apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections: 7\n')
  await t.rejects(
    KeelsonProcess.start([`--egress-selector-config-file=${file}`]),
    /--egress-selector-config-file: .*egress\.yaml: egressSelections must be a list/,
  )
})
