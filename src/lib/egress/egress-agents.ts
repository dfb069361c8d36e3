/**
 * Thread: any. Agents of Node's HTTP client whose connections are dialled: for a request, a WebSocket or an upgrade a tunnel is a
 * connection like any other. A TLS connection is handed out when its handshake is done, so that one limit of time holds for all
 * of it.
 */
import http from 'node:http'
import https from 'node:https'
import type net from 'node:net'
import tls from 'node:tls'
import type { Dial } from './connect-tunnel.js'

type Created = (error: Error | null, socket?: net.Socket) => void
type Wanted = tls.ConnectionOptions & { readonly host?: string; readonly port?: number | string }

export interface EgressAgentOptions {
  readonly dial: Dial | undefined
  /** To connect, handshake included; 0: the dialler's own. */
  readonly timeoutMs: number
}

/** A handshake takes some turns of the network; one that takes longer than this does not come. */
const HANDSHAKE_MS = 10_000

/** An agent for http: a plain one where connections are direct. */
export function httpAgent({ dial, timeoutMs }: EgressAgentOptions, options: http.AgentOptions): http.Agent {
  const agent = new http.Agent(options)
  if (dial === undefined) return agent
  return dialling(agent, (wanted, created) => {
    dial(targetOf(wanted, 80), timeoutMs || undefined).then((socket) => created(null, socket), created)
  })
}

/** An agent for https: a plain one where connections are direct. */
export function httpsAgent({ dial, timeoutMs }: EgressAgentOptions, options: https.AgentOptions): https.Agent {
  const agent = new https.Agent(options)
  if (dial === undefined) return agent
  return dialling(agent, (wanted, created) => {
    dial(targetOf(wanted, 443), timeoutMs || undefined).then((socket) => {
      handshake(socket, wanted, timeoutMs, created)
    }, created)
  })
}

const targetOf = ({ host = '', port }: Wanted, usual: number): { host: string; port: number } => ({
  host: host.replace(/^\[(.*)\]$/, '$1'),
  port: Number(port ?? usual),
})

/** Node calls the method with a callback, and takes a socket that comes later. */
function dialling<A extends http.Agent>(agent: A, create: (wanted: Wanted, created: Created) => void): A {
  return Object.assign(agent, {
    createConnection: (wanted: Wanted, created: Created): void => create(wanted, created),
  })
}

function handshake(socket: net.Socket, wanted: Wanted, timeoutMs: number, created: Created): void {
  // The host stays among the options: the certificate is held against it where there is no server name.
  const secure = tls.connect({ ...wanted, socket })
  const timer = setTimeout(() => secure.destroy(new Error('the TLS handshake timed out')), timeoutMs || HANDSHAKE_MS)
  const done = (error: Error | null): void => {
    clearTimeout(timer)
    secure.off('error', done)
    secure.off('close', closed)
    if (error === null) created(null, secure)
    else created(error)
  }
  const closed = (): void => done(new Error('the connection was closed during the TLS handshake'))
  secure.once('error', done)
  secure.once('close', closed)
  secure.once('secureConnect', () => done(null))
}
