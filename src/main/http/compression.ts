/**
 * Thread: main. gzip for large answers to clients that ask for it; the work is done by libuv's threads, not by this
 * one.
 */
import { gzip } from 'node:zlib'
import type { Exchange } from './exchange.js'
import type { ResponseHead } from './response-head.js'

/** Answers below this size are sent as they are. Kubernetes draws the line here too. */
const MIN_BYTES = 128 * 1024
/** The fastest level: on a local network bytes are cheaper than time. */
const LEVEL = 1

export const wantsGzip = (exchange: Exchange, bytes: number): boolean =>
  bytes >= MIN_BYTES && exchange.compresses && /\bgzip\b/.test(exchange.head.acceptEncoding)

export function respondCompressed(exchange: Exchange, head: ResponseHead, body: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    gzip(body, { level: LEVEL }, (error, compressed) => {
      if (error !== null) {
        reject(error)
        return
      }
      const headers = [...(head.headers ?? []), 'Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding']
      exchange.respond({ ...head, headers }, compressed)
      resolve()
    })
  })
}
