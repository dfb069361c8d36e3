/**
 * Thread: main, or a front end's own. The HTTP/2 sessions of an engine, one a connection, and the limits of what one
 * may cost.
 *
 *   open ──drain(), or by chance after a request──▶ GOAWAY is sent, open streams go on ──the last one ends──▶ closed
 *
 * Floods are refused below this file: nghttp2 closes a connection that sends too many PING, SETTINGS or RST_STREAM
 * frames (1,000 at once, then 33 a second), and Node one that sends empty frames or endless headers. The limits here
 * say how much a connection may have before that.
 */
import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { MAX_HEAD_BYTES } from '../http-engine.js'

/**
 * The most streams of a connection at a time. kube-apiserver allows 250; a client that needs more opens another
 * connection, which costs one more handshake and more memory.
 */
export const DEFAULT_MAX_STREAMS = 1000
/** The most headers of a request: as many as fit into MAX_HEAD_BYTES with meaningful names and values. */
export const MAX_HEADER_PAIRS = 1000
/**
 * So many headers every stream may have. Those beyond it are counted together, because a head that repeats an entry of HPACK's table
 * costs its client a byte a header, and this process some 200: streams that would hold more of them, of one connection or of all, are
 * refused.
 */
const USUAL_PAIRS = 64
const MAX_SESSION_EXCESS = 20_000
const MAX_EXCESS = 200_000
/**
 * The memory of a session, in megabytes: received heads and bytes that wait to be sent. Beyond it a session gets no new
 * streams.
 */
const MAX_SESSION_MEGABYTES = 64
/** A session is closed after so many frames that are invalid without being fatal, or after so many refused streams. */
const MAX_INVALID_FRAMES = 100
const MAX_REJECTED_STREAMS = 100
/** A connection without streams is closed after this time, which is as long as Go's server waits. */
const IDLE_MS = 90_000

export type StreamListener = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => void

export class Http2Sessions {
  readonly #options: ServerOptions
  readonly #open = new Set<ServerHttp2Session>()
  readonly #isLast: () => boolean
  #draining = false
  /** Headers beyond the usual number, of all streams that are open. */
  #excess = 0

  /**
   * `isLast` is asked at each request: true tells the client to open another connection, which a load balancer may lead
   * to another server.
   */
  constructor(maxStreams: number, isLast: () => boolean = () => false) {
    this.#isLast = isLast
    this.#options = {
      maxSessionMemory: MAX_SESSION_MEGABYTES,
      maxHeaderListPairs: MAX_HEADER_PAIRS,
      maxSessionInvalidFrames: MAX_INVALID_FRAMES,
      maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: MAX_HEAD_BYTES, enablePush: false },
    }
  }

  accept(socket: Duplex, onStream: StreamListener): void {
    const session = performServerHandshake(socket, this.#options)
    let streams = 0
    let ownExcess = 0
    this.#open.add(session)
    // Errors need no handling here: Node closes the session and its streams after them.
    session.on('error', () => undefined)
    session.on('frameError', () => undefined)
    session.once('close', () => this.#open.delete(session))
    session.setTimeout(IDLE_MS, () => {
      if (streams === 0) session.close()
    })
    const listener = (
      stream: ServerHttp2Stream,
      headers: IncomingHttpHeaders,
      _flags: number,
      rawHeaders: readonly string[],
    ): void => {
      const excess = Math.max(0, rawHeaders.length / 2 - USUAL_PAIRS)
      if (ownExcess + excess > MAX_SESSION_EXCESS || this.#excess + excess > MAX_EXCESS) {
        stream.on('error', () => undefined)
        stream.close(constants.NGHTTP2_REFUSED_STREAM)
        return
      }
      streams++
      ownExcess += excess
      this.#excess += excess
      stream.once('close', () => {
        streams--
        ownExcess -= excess
        this.#excess -= excess
      })
      onStream(stream, headers, rawHeaders)
      if (this.#isLast() && !session.closed) session.close()
    }
    session.on('stream', listener)
    if (this.#draining) session.close()
  }

  /** Tells clients to open no more streams; open ones go on. */
  drain(): void {
    this.#draining = true
    for (const session of this.#open) session.close()
  }

  close(): void {
    for (const session of this.#open) session.destroy(undefined, constants.NGHTTP2_NO_ERROR)
    this.#open.clear()
  }
}
