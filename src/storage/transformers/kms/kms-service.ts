/** Thread: any. The key service's three calls, KMS API v2, and their messages over a plugin's Unix socket. */
import type { Clock } from '../../../lib/clock.js'
import { TransformError } from '../../contract/transform-error.js'
import { GrpcUnaryClient } from './grpc-unary.js'
import { type Annotations, readMapEntry, readString, readWire, WireWriter } from './wire.js'

export interface StatusResponse {
  /** The version of the plugin's API: v2 or v2beta1. */
  readonly version: string
  /** 'ok', or what is wrong with the plugin. */
  readonly healthz: string
  /** The ID of the key that the plugin encrypts with now. */
  readonly keyId: string
}

export interface EncryptResponse {
  readonly ciphertext: Uint8Array
  readonly keyId: string
  readonly annotations: Annotations
}

export interface DecryptRequest {
  readonly ciphertext: Uint8Array
  readonly keyId: string
  readonly annotations: Annotations
}

/** `uid` names one operation in the plugin's logs and in ours. */
export interface KmsService {
  status(): Promise<StatusResponse>
  encrypt(uid: string, plaintext: Uint8Array): Promise<EncryptResponse>
  decrypt(uid: string, request: DecryptRequest): Promise<Uint8Array>
  close(): void
}

export interface GrpcKmsServiceOptions {
  /** The plugin's address: unix:///path, or unix:///@name for an abstract socket. */
  readonly endpoint: string
  readonly timeoutMs: number
  readonly clock: Clock
}

export class GrpcKmsService implements KmsService {
  readonly #grpcClient: GrpcUnaryClient

  constructor({ endpoint, timeoutMs, clock }: GrpcKmsServiceOptions) {
    this.#grpcClient = new GrpcUnaryClient({ socketPath: socketPathOf(endpoint), timeoutMs, clock })
  }

  async status(): Promise<StatusResponse> {
    const fields = ['', '', '', '']
    for (const { field, bytes } of readWire(await this.#call('Status', new WireWriter()))) {
      if (field <= 3) fields[field] = readString(bytes)
    }
    return { version: fields[1]!, healthz: fields[2]!, keyId: fields[3]! }
  }

  async encrypt(uid: string, plaintext: Uint8Array): Promise<EncryptResponse> {
    let ciphertext: Uint8Array = new Uint8Array(0)
    let keyId = ''
    const annotations = new Map<string, Uint8Array>()
    const request = new WireWriter().bytes(1, plaintext).string(2, uid)
    for (const { field, bytes } of readWire(await this.#call('Encrypt', request))) {
      if (field === 1) ciphertext = bytes
      else if (field === 2) keyId = readString(bytes)
      else if (field === 3) readMapEntry(bytes, annotations)
    }
    return { ciphertext, keyId, annotations }
  }

  async decrypt(uid: string, { ciphertext, keyId, annotations }: DecryptRequest): Promise<Uint8Array> {
    let plaintext: Uint8Array = new Uint8Array(0)
    const request = new WireWriter().bytes(1, ciphertext).string(2, uid).string(3, keyId).map(4, annotations)
    for (const { field, bytes } of readWire(await this.#call('Decrypt', request))) {
      if (field === 1) plaintext = bytes
    }
    return plaintext
  }

  close(): void {
    this.#grpcClient.close()
  }

  async #call(method: string, request: WireWriter): Promise<Uint8Array> {
    try {
      return await this.#grpcClient.call(`/v2.KeyManagementService/${method}`, request.finish())
    } catch (cause) {
      throw new TransformError('kms', `KMS ${method}: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
    }
  }
}

function socketPathOf(endpoint: string): string {
  const path = decodeURIComponent(new URL(endpoint).pathname)
  return path.startsWith('/@') ? path.slice(1) : path
}
