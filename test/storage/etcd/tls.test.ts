import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'tap'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { loadTlsOptions } from '#keelson/storage/etcd/tls-options.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'
import { until } from '../../support/until.js'

const opensslAvailable = spawnSync('openssl', ['version']).status === 0
const skip = skipWithoutEtcd || (opensslAvailable ? false : 'openssl is not on the PATH')

/** An authority, and what it signs: key and certificate files in a folder. */
class Authority {
  readonly #folder: string
  readonly #name: string

  constructor(folder: string, name: string) {
    this.#folder = folder
    this.#name = name
    this.#openssl(
      'req',
      '-x509',
      ...NEW_KEY,
      '-keyout',
      this.file(name, 'key'),
      '-out',
      this.file(name, 'crt'),
      '-subj',
      `/CN=${name}`,
    )
  }

  sign(name: string, usage: 'serverAuth' | 'clientAuth'): void {
    const request = this.file(name, 'csr')
    const extensions = this.file(name, 'ext')
    writeFileSync(extensions, `extendedKeyUsage=${usage}\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n`)
    this.#openssl('req', ...NEW_KEY, '-keyout', this.file(name, 'key'), '-out', request, '-subj', `/CN=${name}`)
    this.#openssl(
      ...['x509', '-req', '-in', request, '-CA', this.file(this.#name, 'crt'), '-CAkey', this.file(this.#name, 'key')],
      ...['-CAcreateserial', '-days', '1', '-extfile', extensions, '-out', this.file(name, 'crt')],
    )
  }

  file(name: string, kind: string): string {
    return path.join(this.#folder, `${name}.${kind}`)
  }

  pem(name: string, kind: string): Buffer {
    return readFileSync(this.file(name, kind))
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { stdio: 'pipe' })
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']

test('etcd over TLS with client certificates', { skip }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-tls-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const ca = new Authority(folder, 'ca')
  ca.sign('server', 'serverAuth')
  ca.sign('client', 'clientAuth')
  const otherCa = new Authority(folder, 'other-ca')
  otherCa.sign('stranger', 'clientAuth')
  // etcd's own gateway connects to itself as a client with the server's certificate, so that one is for both uses.
  const server = await EtcdServer.start({
    scheme: 'https',
    args: [
      ...['--cert-file', ca.file('server', 'crt'), '--key-file', ca.file('server', 'key')],
      ...['--trusted-ca-file', ca.file('ca', 'crt'), '--client-cert-auth'],
    ],
  })
  t.teardown(() => server.stop())
  const client = { cert: ca.pem('client', 'crt'), key: ca.pem('client', 'key') }

  t.test('reads, writes, watches and leases with the right certificates', async (t) => {
    const kv = new EtcdKV({ endpoints: [server.endpoint], tls: () => ({ ca: ca.pem('ca', 'crt'), ...client }) })
    t.teardown(() => kv.close())
    const lease = await kv.grantLease(60)
    const { revision } = await kv.optimisticPut('/a', Buffer.from('1'), 0, { lease })
    t.match(await kv.get('/a'), { revision, kv: { lease } })
    const watch = kv.watch({ key: '/a', prefix: false, startRevision: revision })
    t.match(await watch.next(), { revision })
    t.ok((await kv.databaseSizes())[0]!.bytes > 0)
  })

  const refused = (title: string, tls: { ca?: Buffer; cert?: Buffer; key?: Buffer }): void => {
    t.test(title, async (t) => {
      const kv = new EtcdKV({ endpoints: [server.endpoint], tls: () => tls, timeoutMs: 500 })
      t.teardown(() => kv.close())
      await t.rejects(kv.get('/a'), { code: 'unreachable' })
    })
  }
  refused('a client without a certificate is refused', { ca: ca.pem('ca', 'crt') })
  refused('a certificate of another authority is refused', {
    ca: ca.pem('ca', 'crt'),
    cert: otherCa.pem('stranger', 'crt'),
    key: otherCa.pem('stranger', 'key'),
  })

  t.test('files that are replaced are used by the next connection, once they go together', async (t) => {
    const use = (name: string, kind: string) => copyFileSync(ca.file(name, kind), path.join(folder, `used.${kind}`))
    for (const kind of ['crt', 'key']) use('stranger', kind)
    const [certFile, keyFile] = ['crt', 'key'].map((kind) => path.join(folder, `used.${kind}`)) as [string, string]
    const transport = { servers: [server.endpoint], trustedCaFile: ca.file('ca', 'crt'), certFile, keyFile }
    const tls = loadTlsOptions(transport)!
    const kv = new EtcdKV({ endpoints: transport.servers, tls, timeoutMs: 500 })
    t.teardown(() => kv.close())
    await t.rejects(kv.get('/a'), { code: 'unreachable' })
    use('client', 'crt')
    t.match(tls().cert, ca.pem('stranger', 'crt'), 'half of a pair is not used')
    use('client', 'key')
    const answered = (): Promise<boolean> =>
      kv.get('/a').then(
        () => true,
        () => false,
      )
    await until(answered, { what: 'an answer by the new certificate' })
    rmSync(certFile)
    t.match(tls().cert, ca.pem('client', 'crt'), 'a file that is gone for a moment changes nothing')
  })

  refused('a server that an unknown authority signed is not trusted', { ca: otherCa.pem('other-ca', 'crt'), ...client })
})
