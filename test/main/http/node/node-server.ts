import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2'
import type { Test } from 'tap'
import type { Exchange } from '#keelson/main/http/exchange.js'
import type { Http2Options } from '#keelson/main/http/http-engine.js'
import type { HttpServer } from '#keelson/main/http/http-server.js'
import { TestAuthority } from '../../../support/certificates.js'
import { listen, listenerFiles } from '../../../support/http-listener.js'

/** A listener on Node's engine: what it answers is up to the test. */
export class NodeServer {
  readonly http: HttpServer
  readonly authority: TestAuthority
  readonly isTls: boolean

  private constructor(http: HttpServer, authority: TestAuthority, isTls: boolean) {
    this.http = http
    this.authority = authority
    this.isTls = isTls
  }

  static async start(
    t: Test,
    onRequest: (exchange: Exchange) => void,
    {
      tls = true,
      http2 = { enabled: true, maxStreams: 0 },
    }: { readonly tls?: boolean; readonly http2?: Http2Options } = {},
  ): Promise<NodeServer> {
    const authority = await TestAuthority.create()
    const http = await listen(t, onRequest, {
      tls: tls ? await listenerFiles(t, authority) : undefined,
      engine: { name: 'node' },
      http2,
      services: {
        failures: {
          failed: (error) => {
            throw error
          },
        },
      },
    })
    return new NodeServer(http, authority, tls)
  }

  get port(): number {
    return this.http.port
  }

  session(t: Test, options: object = {}): ClientHttp2Session {
    const session = connect(`https://127.0.0.1:${this.port}`, { ca: this.authority.certificate, ...options })
    session.on('error', () => undefined)
    t.teardown(() => session.destroy())
    return session
  }
}

export interface Http2Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
  /** Of the stream's end; 0: whole. */
  readonly code: number
}

export function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: Buffer): Promise<Http2Answer> {
  return answerOf(session.request(headers, { endStream: body === undefined }), body)
}

export function answerOf(stream: ClientHttp2Stream, body?: Buffer): Promise<Http2Answer> {
  const chunks: Buffer[] = []
  let answer: Record<string, unknown> = {}
  return new Promise((resolve) => {
    stream.on('response', (headers) => {
      answer = { ...headers }
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', () => undefined)
    stream.on('close', () =>
      resolve({
        status: Number(answer[':status'] ?? 0),
        headers: answer,
        body: Buffer.concat(chunks),
        code: stream.rstCode ?? 0,
      }),
    )
    if (body !== undefined) stream.end(body)
  })
}
