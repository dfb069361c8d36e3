/**
 * A KMS v2 plugin as an operator would run one: gRPC on a Unix socket, keys of its own, AES-GCM. Its protobuf and its
 * framing are written here a second time on purpose, so that it does not agree with ours by sharing the code.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import http2 from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ANNOTATION = 'nonce.kms.example.com'
const PERMISSION_DENIED = 7

/** Fields by number, in order; a varint is given as its first byte. */
export function parseMessage(message: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>()
  let at = 0
  const varint = (): number => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = message.readUInt8(at++)
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = varint()
    const length = (tag & 7) === 2 ? varint() : 1
    const value = message.subarray(at, at + length)
    at += length
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}

export function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value)
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7]
  return Buffer.concat([Buffer.of((number << 3) | 2), Buffer.from(length), bytes])
}

export class KmsPlugin {
  readonly calls: string[] = []
  version = 'v2'
  healthz = 'ok'
  keyId = 'key-1'
  /** What Encrypt says it used; the current key unless set. */
  encryptKeyId: string | undefined
  annotationKey = ANNOTATION
  /** gRPC status with which every call fails. */
  failWith: number | undefined
  /** Takes calls and never answers. */
  mute = false
  readonly folder = mkdtempSync(join(tmpdir(), 'keelson-kms-'))
  readonly socketPath: string
  readonly #keys = new Map<string, Buffer>()
  readonly #sessions = new Set<http2.ServerHttp2Session>()
  #server: http2.Http2Server | undefined

  constructor(socketPath?: string) {
    this.socketPath = socketPath ?? join(this.folder, 'kms.sock')
  }

  get endpoint(): string {
    return `unix://${this.socketPath.startsWith('\0') ? `/@${this.socketPath.slice(1)}` : this.socketPath}`
  }

  async start(): Promise<void> {
    const server = http2.createServer()
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.on('close', () => this.#sessions.delete(session))
    })
    server.on('stream', (stream, headers) => this.#serve(stream, headers))
    await new Promise<void>((resolve) => server.listen(this.socketPath, resolve))
    this.#server = server
  }

  /** As a crash does: connections end without a word. */
  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    const server = this.#server
    this.#server = undefined
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()))
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #serve(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void {
    const chunks: Buffer[] = []
    stream.on('error', () => stream.destroy())
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const method = String(headers[':path']).replace('/v2.KeyManagementService/', '')
      this.calls.push(method)
      if (this.mute) return
      if (headers['content-type'] !== 'application/grpc' || headers['te'] !== 'trailers') {
        stream.respond({ ':status': 415 }, { endStream: true })
        return
      }
      try {
        if (this.failWith !== undefined) throw new Error('not today: 100%')
        this.#reply(stream, this.#handle(method, parseMessage(Buffer.concat(chunks).subarray(5))))
      } catch (error) {
        const message = encodeURIComponent(error instanceof Error ? error.message : String(error))
        const status = String(this.failWith ?? PERMISSION_DENIED)
        const refused = { 'content-type': 'application/grpc', 'grpc-status': status, 'grpc-message': message }
        stream.respond(refused, { endStream: true })
      }
    })
  }

  #reply(stream: http2.ServerHttp2Stream, message: Buffer): void {
    stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    const head = Buffer.alloc(5)
    head.writeUInt32BE(message.length, 1)
    // In two pieces, as a network may deliver it.
    stream.write(head.subarray(0, 3))
    stream.end(Buffer.concat([head.subarray(3), message]))
  }

  #handle(method: string, request: Map<number, Buffer[]>): Buffer {
    switch (method) {
      case 'Status':
        return Buffer.concat([field(1, this.version), field(2, this.healthz), field(3, this.keyId)])
      case 'Encrypt':
        return this.#encrypt(request.get(1)![0]!)
      case 'Decrypt':
        return this.#decrypt(request)
      default:
        throw new Error(`no method ${method}`)
    }
  }

  #key(id: string): Buffer {
    const key = this.#keys.get(id) ?? randomBytes(32)
    this.#keys.set(id, key)
    return key
  }

  #encrypt(plaintext: Buffer): Buffer {
    const id = this.encryptKeyId ?? this.keyId
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key(id), nonce)
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
    const annotation = Buffer.concat([field(1, this.annotationKey), field(2, nonce)])
    return Buffer.concat([field(1, ciphertext), field(2, id), field(3, annotation)])
  }

  #decrypt(request: Map<number, Buffer[]>): Buffer {
    const [ciphertext, id, entry] = [request.get(1)![0]!, request.get(3)![0]!.toString(), request.get(4)![0]!]
    if (!this.#keys.has(id)) throw new Error(`no key ${id}`)
    const annotation = parseMessage(entry)
    if (annotation.get(1)![0]!.toString() !== ANNOTATION) throw new Error('annotation lost')
    const decipher = createDecipheriv('aes-256-gcm', this.#key(id), annotation.get(2)![0]!)
    decipher.setAuthTag(ciphertext.subarray(-16))
    return field(1, Buffer.concat([decipher.update(ciphertext.subarray(0, -16)), decipher.final()]))
  }
}
