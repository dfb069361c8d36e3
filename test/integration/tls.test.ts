import { spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { Agent, request } from 'node:https'
import path from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { issuerOf, makeCertificate } from '#keelson/main/certificates/certificate.js'
import { CertificateFolder } from '#keelson/main/certificates/certificate-folder.js'
import { testEngineChoice } from '../support/http-engine.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { skipWithoutKubectl } from '../support/kubectl.js'
import { until } from '../support/until.js'

const server = await KeelsonProcess.start(['--service-cluster-ip-range=10.96.0.0/16'], undefined, { tls: true })
t.teardown(() => server.close())
const file = (name: string): string => readFileSync(path.join(server.certDir, name), 'utf8')
const port = Number(new URL(server.url).port)

interface Shown {
  readonly cert?: string
  readonly key?: string
  readonly headers?: Record<string, string>
  readonly agent?: Agent
}

function get(
  pathname: string,
  { cert, key, headers = {}, agent }: Shown = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: pathname, ca: file('ca.crt'), headers, agent: agent ?? false }
    const call = request({ ...options, ...(cert === undefined ? {} : { cert, key }) }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    call.on('error', reject)
    call.end()
  })
}

/** A client certificate of the server's own authority, or of another one of the same name. */
function clientCertificate(
  commonName: string,
  organizations: string[],
  { own = true, use = 'client' as 'client' | 'server', startMs = Date.now() - 1000, endMs = Date.now() + 60_000 } = {},
): { cert: string; key: string } {
  const life = { notBeforeMs: startMs, notAfterMs: endMs }
  const other = makeCertificate({ commonName: 'keelson-ca', use: 'authority', ...life })
  const authority = own ? { certificate: file('ca.crt'), key: file('ca.key') } : other
  const issuer = issuerOf('keelson-ca', authority.key, new X509Certificate(authority.certificate).publicKey)
  const { certificate, key } = makeCertificate({ commonName, organizations, use, ...life }, issuer)
  return { cert: certificate, key }
}

t.test('what is made at the first start is good by others’ judgement, and for its owner only', async (t) => {
  for (const [name, purpose] of [
    ['apiserver.crt', 'sslserver'],
    ['admin.crt', 'sslclient'],
  ] as const) {
    const args = ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', path.join(server.certDir, 'ca.crt')]
    const verified = spawnSync('openssl', [...args, path.join(server.certDir, name)], { encoding: 'utf8' })
    t.equal(verified.status, 0, `${name}: ${verified.stdout}${verified.stderr}`)
  }
  for (const name of ['ca.key', 'apiserver.key', 'admin.key', 'sa.key', 'admin.kubeconfig'])
    t.equal(statSync(path.join(server.certDir, name)).mode & 0o777, 0o600, name)
  const certificate = new X509Certificate(file('apiserver.crt'))
  for (const host of ['localhost', 'kubernetes', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'])
    t.equal(certificate.checkHost(host), host)
  for (const address of ['127.0.0.1', '::1', '10.96.0.1']) t.equal(certificate.checkIP(address), address)
  t.ok(certificate.checkPrivateKey(createPrivateKey(file('apiserver.key'))))
})

t.test('kubectl is the admin with the kubeconfig that was written', { skip: skipWithoutKubectl }, async (t) => {
  const kubeconfig = path.join(server.certDir, 'admin.kubeconfig')
  const run = (...args: string[]) => spawnSync('kubectl', ['--kubeconfig', kubeconfig, ...args], { encoding: 'utf8' })
  t.match(run('get', 'namespaces', '-o', 'name').stdout, 'namespace/kube-system')
  t.equal(run('get', 'nodes').status, 0)
})

t.test('a certificate is its user: common name and organisations', async (t) => {
  const nodes = '/api/v1/nodes'
  t.equal((await get(nodes, { cert: file('admin.crt'), key: file('admin.key') })).status, 200)
  const { status, body } = await get(nodes, clientCertificate('carol', ['dev']))
  t.equal(status, 403)
  t.match(body, 'User \\"carol\\" cannot list resource')
  t.equal((await get(nodes, clientCertificate('carol', ['dev', 'system:masters']))).status, 200)
})

/** uWebSockets.js ends the handshake; the other engine answers, as kube-apiserver does. */
const REFUSED = testEngineChoice().name === 'uws' ? 'in the handshake' : 401
const refused = (): string => 'in the handshake'

t.test('certificates that must not count do not', async (t) => {
  const nodes = '/api/v1/nodes'
  const hour = 3600_000
  const masters = ['system:masters']
  for (const [what, shown] of Object.entries({
    'of another authority': clientCertificate('admin', masters, { own: false }),
    'for servers': clientCertificate('admin', masters, { use: 'server' }),
    'that has ended': clientCertificate('admin', masters, { startMs: Date.now() - 2 * hour, endMs: Date.now() - hour }),
    'that begins later': clientCertificate('admin', masters, {
      startMs: Date.now() + hour,
      endMs: Date.now() + 2 * hour,
    }),
  }))
    t.equal(await get(nodes, shown).then(({ status }) => status, refused), REFUSED, `one ${what}`)
})

t.test('nobody is somebody by headers alone', async (t) => {
  const nodes = '/api/v1/nodes'
  const anonymous = await get(nodes)
  t.equal(anonymous.status, 403)
  t.match(anonymous.body, 'system:anonymous')
  for (const headers of [
    { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
    { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
    { 'impersonate-user': 'system:serviceaccount:kube-system:default' },
  ]) {
    const { status, body } = await get(nodes, { headers })
    t.equal(status, 403, JSON.stringify(headers))
    t.match(body, 'system:anonymous')
  }
  t.equal((await get(nodes, { headers: { authorization: 'Bearer nonsense' } })).status, 401)
  t.equal((await get(nodes, { headers: { 'impersonate-group': 'system:masters' } })).status, 400)
})

t.test('versions of TLS before 1.2 are refused', async (t) => {
  const spoken = (maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> =>
    new Promise((resolve, reject) => {
      const socket: TLSSocket = connect(
        { host: '127.0.0.1', port, ca: file('ca.crt'), minVersion: 'TLSv1', maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' },
        () => {
          resolve(socket.getProtocol())
          socket.destroy()
        },
      )
      socket.on('error', reject)
    })
  t.equal(await spoken('TLSv1.3'), 'TLSv1.3')
  t.equal(await spoken('TLSv1.2'), 'TLSv1.2')
  await t.rejects(spoken('TLSv1.1'))
})

t.test('new files are taken over without losing a connection', async (t) => {
  const shown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca: file('ca.crt') }, () => {
        resolve(socket.getPeerX509Certificate()!.serialNumber)
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const admin = { cert: file('admin.crt'), key: file('admin.key') }
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: file('ca.crt'), ...admin })
  t.teardown(() => agent.destroy())
  t.equal((await get('/api/v1/nodes', { agent })).status, 200)
  const before = await shown()
  // What a clock far ahead has made is not valid now: the server makes it anew, and shows that from then on.
  const later = new CertificateFolder(server.certDir, () => Date.now() + 300 * 24 * 3600_000)
  later.server([])
  t.not(new X509Certificate(file('apiserver.crt')).serialNumber, before)
  const { certificate, key } = { certificate: file('apiserver.crt'), key: file('apiserver.key') }
  t.ok(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
  await until(async () => (await shown()) !== before, { what: 'another certificate to be shown' })
  t.equal((await get('/api/v1/nodes', { agent })).status, 200, 'the connection from before goes on')
})
