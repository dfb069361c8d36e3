/**
 * Thread: main, or a front end's own. The client's address and certificate, looked up once for all requests of a
 * connection.
 */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** The prefix of an IPv4 address on a socket that takes both IPv4 and IPv6. */
const MAPPED = '::ffff:'

export class NodeConnection {
  readonly socket: Socket
  readonly remoteAddress: string
  /** True over TLS: bytes are encrypted before the write returns, so their memory may be reused at once. */
  readonly isEncrypted: boolean
  #certificate: string | undefined

  constructor(socket: Socket) {
    this.socket = socket
    const address = socket.remoteAddress ?? ''
    this.remoteAddress = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address
    this.isEncrypted = socket instanceof TLSSocket
  }

  /** The client's certificate in PEM; '' when it sent none. */
  clientCertificate(): string {
    this.#certificate ??=
      this.socket instanceof TLSSocket ? (this.socket.getPeerX509Certificate()?.toString() ?? '') : ''
    return this.#certificate
  }
}
