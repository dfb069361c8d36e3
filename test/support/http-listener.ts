/** A listener of this process, without a server behind it: what it answers is up to the test. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import type { Exchange } from '#keelson/main/http/exchange.js'
import { HttpServer, type HttpServerOptions } from '#keelson/main/http/http-server.js'
import type { TlsFiles } from '#keelson/protocol/server-credentials.js'
import type { TestAuthority } from './certificates.js'
import { testEngineChoice } from './http-engine.js'
import { temporaryFolder } from './temporary-folder.js'

/** On the engine that tests run on and without TLS, unless told otherwise; closed with the test. */
export async function listen(
  t: Test,
  onRequest: (exchange: Exchange) => void,
  options: Partial<HttpServerOptions> = {},
): Promise<HttpServer> {
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    engine: testEngineChoice(),
    http2: { enabled: false, maxStreams: 0 },
    sharePort: false,
    isTaken: false,
    services: {},
    onRequest,
    ...options,
  })
  await server.start()
  t.teardown(() => server.close())
  return server
}

/** The files of a listener on loopback, which knows the clients of the same authority. */
export async function listenerFiles(t: Test, authority: TestAuthority): Promise<TlsFiles> {
  const folder = temporaryFolder(t, 'listener')
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text)
    return path.join(folder, name)
  }
  const { certificate, key } = await authority.sign('CN=server')
  return {
    certFile: file('server.crt', certificate),
    keyFile: file('server.key', key),
    caFile: file('ca.crt', authority.certificate),
    ciphers: '',
  }
}
