/**
 * Thread: main, or a front end's own. The contract of an HTTP engine, the code that speaks HTTP for a front end. There
 * are two: uws/ over uWebSockets.js, and node/ over Node's own modules. The code above this file cannot tell them
 * apart.
 *
 *   made ──start()──▶ listening ──stopListening()──▶ open connections go on ──close()──▶ closed
 */
import type { Duplex } from 'node:stream'
import type { Closable } from '../../lib/lifecycle.js'
import type { TlsFiles } from '../../protocol/server-credentials.js'
import type { ConnectionLimit } from './connection-limit.js'
import type { RequestHead } from './request-head.js'
import type { ResponsePort } from './response-port.js'
import type { ServerSocket } from './server-socket.js'

/** Turns the connection into a WebSocket and calls the socket's `opened` before it returns. */
export type Upgrade = (protocol: string, socket: ServerSocket) => void

/**
 * Answers 101 with these headers (name, value, …) and gives the connection, whose bytes are from then on the caller's.
 */
export type TakeOver = (headers: readonly string[]) => Duplex

/** How HTTP/2 is served, by an engine that speaks it. */
export interface Http2Options {
  readonly enabled: boolean
  /** The most requests that a connection may have under way; 0 stands for the engine's own number. */
  readonly maxStreams: number
  /** The part of requests after which their client is told to open another connection; none without it. */
  readonly goawayChance?: number
}

export interface EngineOptions {
  readonly host: string
  /** The port to listen on; 0 stands for any free one. */
  readonly port: number
  readonly tls: TlsFiles | undefined
  /** True when several threads listen on the port and the kernel shares the connections out among them. */
  readonly sharePort: boolean
  readonly http2: Http2Options
  readonly connections: ConnectionLimit
  /**
   * Called for each request, in the turn in which its head was read. `upgrade` is given when the client asks for a
   * WebSocket, `takeOver` when it asks for another protocol and the engine can let go of a connection. It does not
   * throw.
   */
  readonly accept: (head: RequestHead, port: ResponsePort, upgrade?: Upgrade, takeOver?: TakeOver) => void
}

/** The engine that serves, chosen once for all front ends of a process. `binary` is the path of uWebSockets.js. */
export type EngineChoice = { readonly name: 'uws'; readonly binary: string } | { readonly name: 'node' }

export interface HttpEngine extends Closable {
  /** The port that the engine listens on; 0 before start(). */
  readonly port: number
  /** Listens. Rejects with ListenError. */
  start(): Promise<void>
  /** Changes the certificates: new connections get these, open ones keep theirs. */
  useCertificates(tls: TlsFiles): void
  /** Accepts no new connections; open ones go on. */
  stopListening(): void
  /** Closes the connections that are still open. */
  close(): void | Promise<void>
}

/**
 * The longest head of a request. kube-apiserver takes 1 MiB; here it is less, because every connection may hold as much
 * before its client is authenticated.
 */
export const MAX_HEAD_BYTES = 64 * 1024
/** The longest message on a WebSocket. Clients of exec send up to 32 KiB, those of tunnels and others more. */
export const MAX_SOCKET_MESSAGE_BYTES = 16 * 1024 * 1024
/** The time within which pings find a WebSocket client that has gone without closing its connection. */
export const SOCKET_IDLE_SECONDS = 120

export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly code = 'listen'
}
