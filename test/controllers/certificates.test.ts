import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { CertificateSigningRequest } from '#keelson/api/generated/kinds/certificates.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { overAt } from '#keelson/controllers/certificates/cleaner-controller.js'
import { makeCertificate } from '#keelson/main/certificates/certificate.js'
import { ApiClient } from '../support/api-client.js'
import { certificateRequest } from '../support/certificates.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
type Request = CertificateSigningRequest & KubeObject

const folder = temporaryFolder(t, 'certificates')
const DAY_MS = 86_400_000
const authority = makeCertificate({
  commonName: 'test-ca',
  use: 'authority',
  notBeforeMs: Date.now() - 60_000,
  notAfterMs: Date.now() + 30 * DAY_MS,
})
const [certFile, keyFile, tokens] = ['ca.crt', 'ca.key', 'tokens.csv'].map((name) => path.join(folder, name))
writeFileSync(certFile!, authority.certificate)
writeFileSync(keyFile!, authority.key)
writeFileSync(
  tokens!,
  [
    'admin,admin,1,system:masters',
    'node,system:node:one,2,system:nodes',
    'boot,system:bootstrap:abc,3,system:bootstrappers',
    'nobody,nobody,4',
  ].join('\n'),
)
const server = await KeelsonProcess.start([
  '--controllers=csrapproving,csrsigning,csrcleaner',
  '--authorization-mode=Node,RBAC',
  `--token-auth-file=${tokens}`,
  `--cluster-signing-cert-file=${certFile}`,
  `--cluster-signing-key-file=${keyFile}`,
])
t.teardown(() => server.close())
const as = (token: string): ApiClient => new ApiClient(server, { authorization: `Bearer ${token}` })
const admin = as('admin')
const CLIENT = ['digital signature', 'key encipherment', 'client auth']

async function request(
  api: ApiClient,
  name: string,
  signer: string,
  { subject = 'O=system:nodes, CN=system:node:one', hosts = [] as string[], usages = CLIENT, ...spec } = {},
): Promise<void> {
  const pem = await certificateRequest(subject, hosts)
  const encoded = Buffer.from(pem).toString('base64')
  await api.create(REQUESTS, {
    metadata: { name },
    spec: { request: encoded, signerName: `kubernetes.io/${signer}`, usages, ...spec },
  })
}
const approve = async (name: string): Promise<void> => {
  const found = (await admin.get<Request>(`${REQUESTS}/${name}`))!
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'yes' }]
  await admin.update(`${REQUESTS}/${name}/approval`, { ...found, status: { conditions } })
}
const signed = async (name: string): Promise<X509Certificate> => {
  const { status } = await admin.when<Request>(
    `${REQUESTS}/${name}`,
    `${name} to be signed`,
    (found) => (found.status?.certificate ?? '') !== '',
  )
  return new X509Certificate(Buffer.from(status!.certificate!, 'base64'))
}
const reasonOf = async (name: string): Promise<string> => {
  const { status } = await admin.when<Request>(`${REQUESTS}/${name}`, `${name} to fail`, (found) =>
    (found.status?.conditions ?? []).some(({ type }) => type === 'Failed'),
  )
  return status?.conditions?.find(({ type }) => type === 'Failed')?.message ?? ''
}

t.test('a node that renews its certificate is approved and signed by itself', async (t) => {
  await admin.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'self' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' }],
  })
  await request(as('node'), 'renewed', 'kube-apiserver-client-kubelet')
  const certificate = await signed('renewed')
  t.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey))
  t.ok(certificate.checkIssued(new X509Certificate(authority.certificate)))
  t.equal(certificate.subject, 'O=system:nodes\nCN=system:node:one')
  t.same(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2'])
  t.equal(certificate.ca, false)
  t.ok(Date.parse(certificate.validFrom) <= Date.now() - 290_000, 'it begins five minutes ago')
  t.ok(Date.parse(certificate.validTo) <= Date.now() + 30 * DAY_MS, 'it ends with the authority')
  const { status } = (await admin.get<Request>(`${REQUESTS}/renewed`))!
  t.match(status?.conditions, [{ type: 'Approved', reason: 'AutoApproved', message: /self kubelet client/ }])
})

t.test('another node is not approved for it; who may make nodes is', async (t) => {
  await request(as('node'), 'foreign', 'kube-apiserver-client-kubelet', {
    subject: 'O=system:nodes, CN=system:node:two',
  })
  await admin.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'boot' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers' }],
  })
  await admin.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'boot-create' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers' }],
  })
  await request(as('boot'), 'booted', 'kube-apiserver-client-kubelet', {
    subject: 'O=system:nodes, CN=system:node:new',
  })
  await signed('booted')
  t.same((await admin.get<Request>(`${REQUESTS}/foreign`))?.status, {})
})

t.test('what a person approved is signed for each signer, for as long as was asked', async (t) => {
  await request(admin, 'client', 'kube-apiserver-client', {
    subject: 'O=dev, CN=jane',
    expirationSeconds: 3600,
  } as object)
  await approve('client')
  const client = await signed('client')
  t.equal(client.subject, 'O=dev\nCN=jane')
  t.ok(Date.parse(client.validTo) <= Date.now() + 3_600_000)
  const usages = ['digital signature', 'key encipherment', 'server auth']
  await request(as('node'), 'serving', 'kubelet-serving', { hosts: ['one.example', '10.0.0.1'], usages })
  await approve('serving')
  const serving = await signed('serving')
  t.equal(serving.checkIP('10.0.0.1'), '10.0.0.1')
  t.equal(serving.checkHost('one.example'), 'one.example')
  t.same(serving.keyUsage, ['1.3.6.1.5.5.7.3.1'])
})

t.test('what a signer does not sign fails, with the reason', async (t) => {
  await request(admin, 'bad-usage', 'kube-apiserver-client', { usages: ['server auth'] })
  await approve('bad-usage')
  t.equal(await reasonOf('bad-usage'), 'invalid usage for client certificate: server auth')
  await request(as('node'), 'no-host', 'kubelet-serving', { usages: ['digital signature', 'server auth'] })
  await approve('no-host')
  t.equal(await reasonOf('no-host'), 'DNS or IP subjectAltName is required')
})

t.test('a signer of somebody else is left alone, and so is what nobody approved or somebody denied', async (t) => {
  await admin.create(REQUESTS, {
    metadata: { name: 'elsewhere' },
    spec: {
      request: Buffer.from(await certificateRequest('CN=x', [])).toString('base64'),
      signerName: 'example.com/mine',
      usages: ['client auth'],
    },
  })
  await approve('elsewhere')
  await request(admin, 'waits', 'kube-apiserver-client')
  await request(admin, 'after', 'kube-apiserver-client')
  await approve('after')
  await signed('after')
  for (const name of ['elsewhere', 'waits'])
    t.equal((await admin.get<Request>(`${REQUESTS}/${name}`))?.status?.certificate, undefined)
})

t.test('requests are over an hour after their answer, and after a day without one', async (t) => {
  const creationTimestamp = '2026-01-01T00:00:00Z'
  const hour = Date.parse('2026-01-01T01:00:00Z')
  const over = (type: string, certificate?: string) =>
    overAt({
      metadata: { creationTimestamp },
      status: { conditions: [{ type, lastUpdateTime: creationTimestamp }], ...(certificate ? { certificate } : {}) },
    })
  t.equal(overAt({ metadata: { creationTimestamp } }), Date.parse('2026-01-02T00:00:00Z'))
  t.equal(over('Denied'), hour)
  t.equal(over('Failed'), hour)
  t.equal(over('Approved'), Date.parse('2026-01-02T00:00:00Z'))
  t.equal(over('Approved', 'bm8gY2VydGlmaWNhdGU='), hour)
  t.equal(over('Approved', Buffer.from(authority.certificate).toString('base64')), hour)
})
