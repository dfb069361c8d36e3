import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import path from 'node:path'
import t from 'tap'
import { issuerOf, makeCertificate } from '#keelson/main/certificates/certificate.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const life = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3600_000 }
const authority = makeCertificate({ commonName: 'proxies', use: 'authority', ...life })
const issuer = issuerOf('proxies', authority.key, new X509Certificate(authority.certificate).publicKey)
const client = (commonName: string) => makeCertificate({ commonName, use: 'client', ...life }, issuer)
const folder = temporaryFolder(t, 'front-proxy')
const caFile = path.join(folder, 'proxies.crt')
writeFileSync(caFile, authority.certificate)

const server = await KeelsonProcess.start(
  [
    '--front-ends=2',
    '--tls-min-version=VersionTLS13',
    `--requestheader-client-ca-file=${caFile}`,
    '--requestheader-allowed-names=proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
  ],
  undefined,
  { tls: true },
)
t.teardown(() => server.close())
const file = (name: string): string => readFileSync(path.join(server.certDir, name), 'utf8')

function get(
  headers: Record<string, string | string[]>,
  shown?: { certificate: string; key: string },
  maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3',
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      `${server.url}/api/v1/nodes`,
      {
        ca: file('ca.crt'),
        headers,
        agent: false,
        maxVersion,
        ...(shown === undefined ? {} : { cert: shown.certificate, key: shown.key }),
      },
      (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          body += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      },
    )
    call.on('error', reject)
    call.end()
  })
}

t.test('whom a front proxy names, and nobody else by headers', async (t) => {
  const master = { 'x-remote-user': 'jane', 'x-remote-group': ['dev', 'system:masters'] }
  t.equal((await get(master, client('proxy'))).status, 200)
  const jane = await get({ 'x-remote-user': 'jane' }, client('proxy'))
  t.equal(jane.status, 403)
  t.match(jane.body, 'User \\"jane\\"')
  t.match((await get(master)).body, 'system:anonymous')
  t.equal((await get(master, client('other'))).status, 401, 'a name that is not allowed')
  t.equal((await get({}, client('proxy'))).status, 401, 'the proxy itself is nobody')
  const admin = { certificate: file('admin.crt'), key: file('admin.key') }
  t.equal(
    (await get({ 'x-remote-user': 'jane' }, admin)).status,
    200,
    'a user’s own certificate counts, the header does not',
  )
})

t.test('a name is taken as it is, whatever its letters are', async (t) => {
  for (const name of ['janeé', 'éjane', '日本']) {
    const { status, body } = await get({ 'x-remote-user': Buffer.from(name).toString('latin1') }, client('proxy'))
    t.equal(status, 403)
    t.match(body, `User \\"${name}\\"`)
  }
  const both = {
    'x-remote-user': 'jane',
    'x-remote-group': 'system:masters',
    'impersonate-user': Buffer.from('日本').toString('latin1'),
  }
  t.match((await get(both, client('proxy'))).body, 'User \\"日本\\"', 'nor is one who is impersonated somebody else')
})

t.test('TLS 1.3 only, when asked for', async (t) => {
  await t.rejects(get({}, undefined, 'TLSv1.2'))
})
