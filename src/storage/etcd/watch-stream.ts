/**
 * Thread: any. One gRPC stream that carries one watch, on one connection. etcd-watch.ts opens the next when it breaks.
 */

import { GrpcError, GrpcStatus } from '../grpc/grpc-error.js'
import { GrpcFramer } from '../grpc/grpc-framer.js'
import type { GrpcChannel } from './channel.js'
import { ErrorCode } from './http2/frames.js'
import type { Headers } from './http2/hpack.js'
import type { Http2Stream, StreamHandlers } from './http2/stream.js'
import {
  decodeWatch,
  encodeWatchCreate,
  encodeWatchProgress,
  type WatchCreateRequest,
  type WatchResponse,
} from './messages.js'
import { readStatus } from './unary-call.js'

const WATCH = '/etcdserverpb.Watch/Watch'

export interface WatchStreamHandlers {
  readonly onResponse: (response: WatchResponse, bytes: number) => void
  /** Called once, as the last of the handlers. */
  readonly onEnd: (error: Error) => void
}

export class WatchStream implements StreamHandlers {
  readonly #stream: Http2Stream
  readonly #handlers: WatchStreamHandlers
  readonly #framer = new GrpcFramer()
  readonly url: string
  #ended = false
  #error: Error | undefined

  /** Throws when the channel is no longer open. */
  constructor(channel: GrpcChannel, request: WatchCreateRequest, handlers: WatchStreamHandlers) {
    this.url = channel.url
    this.#handlers = handlers
    this.#stream = channel.stream(WATCH, true, this)
    this.#stream.write(encodeWatchCreate(request))
  }

  /** Stops reading: HTTP/2 flow control then stops the server. */
  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  requestProgress(): void {
    if (!this.#ended) this.#stream.write(encodeWatchProgress())
  }

  close(reason: Error): void {
    this.#end(reason)
    this.#stream.close(ErrorCode.cancel)
  }

  onHeaders(headers: Headers): void {
    const status = readStatus(headers)
    if (status instanceof GrpcError) this.#error ??= status
  }

  /** Our side is still open when the server ends its own, so the stream would not close by itself. */
  onEnd(): void {
    this.close(new GrpcError(GrpcStatus.unavailable, 'the server ended the stream'))
  }

  onClose(error: Error | undefined): void {
    this.#error ??= error
    this.#end(new GrpcError(GrpcStatus.unavailable, 'the stream ended'))
  }

  onData(chunk: Buffer): void {
    if (this.#ended) return
    try {
      for (const message of this.#framer.push(chunk)) {
        if (this.#ended) return
        this.#handlers.onResponse(decodeWatch(message), message.length)
      }
    } catch (error) {
      this.close(error as Error)
    }
  }

  #end(reason: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#handlers.onEnd(this.#error ?? reason)
  }
}
