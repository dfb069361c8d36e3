/**
 * Thread: any. A connection through a proxy: CONNECT host:port, and after its 200 every byte is the other side's. Names are not
 * looked up here, because the proxy stands in the network that knows them.
 */
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import type { ConnectProxy } from './egress-config.js'

export interface TunnelTarget {
  readonly host: string
  readonly port: number
}

/** A connection to host and port; rejects when there is none within the time. */
export type Dial = (target: TunnelTarget, timeoutMs?: number) => Promise<net.Socket>

/** From the first packet to the proxy's answer; who asks may have less patience. */
const DIAL_TIMEOUT_MS = 10_000
/** What a proxy may say before its tunnel begins. */
const MAX_HEAD_BYTES = 16 * 1024

/** How connections are made by way of a proxy; undefined where they are made directly. */
export const dialThrough = (proxy: ConnectProxy | undefined): Dial | undefined =>
  proxy && ((target, timeoutMs = DIAL_TIMEOUT_MS) => openTunnel(proxy, target, timeoutMs))

function openTunnel(proxy: ConnectProxy, { host, port }: TunnelTarget, timeoutMs: number): Promise<net.Socket> {
  const target = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`
  return new Promise((resolve, reject) => {
    const request = (proxy.tls === undefined ? http : https).request({
      method: 'CONNECT',
      path: target,
      headers: { host: target },
      agent: false,
      maxHeaderSize: MAX_HEAD_BYTES,
      ...proxy.address,
      ...tlsOf(proxy),
    })
    const timer = setTimeout(() => request.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
    const fail = (why: string): void => {
      clearTimeout(timer)
      reject(new Error(`the proxy ${nameOf(proxy)} does not connect to ${target}: ${why}`))
    }
    request.once('error', (error) => fail(error.message))
    // Node tells of every answer to CONNECT by this event, also of refusals.
    request.once('connect', (answer, socket, head) => {
      clearTimeout(timer)
      // Who takes the socket hears of its end by `close`; until then an error must not be the process's.
      socket.on('error', () => undefined)
      if (answer.statusCode !== 200) {
        socket.destroy()
        fail(`it answered ${answer.statusCode ?? 0} ${answer.statusMessage ?? ''}`.trimEnd())
        return
      }
      if (head.byteLength > 0) socket.unshift(head)
      resolve(socket as net.Socket)
    })
    request.end()
  })
}

function tlsOf({ tls, address }: ConnectProxy): https.RequestOptions {
  if (tls === undefined) return {}
  const { ca, cert, key } = tls
  // An empty name says that there is none: Node would take the target's, which stands in the header.
  const servername = 'host' in address && net.isIP(address.host) === 0 ? address.host : ''
  return { ...(ca === '' ? {} : { ca }), cert, key, servername }
}

const nameOf = ({ address }: ConnectProxy): string =>
  'socketPath' in address ? address.socketPath : `${address.host}:${address.port}`
