/**
 * Thread: main, or a front end's own. Connections to extension API servers: kept ones, a set for each service and authority, with our
 * proxy certificate, by which the server knows that the headers that name the user are true.
 */
import type { Agent, ClientRequest, OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import { type RemoteService, serverName, serviceKey } from '../../aggregator/api-service.js'
import type { Address, ServiceDirectory } from '../../aggregator/service-directory.js'
import type { UserInfo } from '../../api/user-info.js'
import { type Dial, dialThrough } from '../../lib/egress/connect-tunnel.js'
import { httpsAgent } from '../../lib/egress/egress-agents.js'
import type { EgressConfig } from '../../lib/egress/egress-config.js'
import { headerBytes } from '../../lib/header-text.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { ProxyCertificate } from '../../protocol/server-credentials.js'

/** What goes into the options of a request or a WebSocket. */
export interface RemoteTls {
  readonly servername: string
  readonly rejectUnauthorized: boolean
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** Connections are made within this; how long an answer takes is the request's own affair. */
const CONNECT_TIMEOUT_MS = 10_000
/** APIServices come and go: agents beyond this are forgotten, the oldest first. */
const MAX_AGENTS = 200

export interface RemoteRequest {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
}

export interface RemoteConnectionsOptions {
  readonly directory: Pick<ServiceDirectory, 'resolve'>
  readonly certificate: ProxyCertificate | undefined
  /** Extension servers are reached as the cluster is. */
  readonly egress: EgressConfig
}

export class RemoteConnections implements Closable {
  readonly #directory: Pick<ServiceDirectory, 'resolve'>
  readonly #dial: Dial | undefined
  readonly #agents = new Map<string, https.Agent>()
  #certificate: ProxyCertificate | undefined

  constructor({ directory, certificate, egress }: RemoteConnectionsOptions) {
    this.#directory = directory
    this.#certificate = certificate
    this.#dial = dialThrough(egress.cluster)
  }

  /** Connections that are open keep what they showed. */
  useCertificate(certificate: ProxyCertificate | undefined): void {
    if (certificate?.cert === this.#certificate?.cert && certificate?.key === this.#certificate?.key) return
    this.#certificate = certificate
    this.close()
  }

  /** Throws ServiceUnreachable. */
  address(remote: RemoteService): Address {
    return this.#directory.resolve(remote.service)
  }

  tls({ service, caBundle, insecureSkipTLSVerify }: RemoteService): RemoteTls {
    return {
      servername: serverName(service),
      rejectUnauthorized: !insecureSkipTLSVerify,
      ...(caBundle === '' ? {} : { ca: caBundle }),
      ...this.#certificate,
    }
  }

  /** The agent of a connection of its own, which is upgraded; undefined for a direct one, which needs none. */
  upgradeAgent(): Agent | undefined {
    return this.#dial && httpsAgent({ dial: this.#dial, timeoutMs: CONNECT_TIMEOUT_MS }, {})
  }

  /** A request that is sent when something is written or it is ended. Throws ServiceUnreachable. */
  request(remote: RemoteService, { method, path, headers }: RemoteRequest): ClientRequest {
    const { host, port } = this.address(remote)
    const request = https.request({
      host,
      port,
      method,
      path,
      headers: { ...headers, host: hostText({ host, port }) },
      agent: this.#agent(remote),
    })
    request.once('socket', (socket) => {
      if (!socket.connecting) return
      const timer = setTimeout(() => request.destroy(new Error('the connection timed out')), CONNECT_TIMEOUT_MS)
      const done = (): void => clearTimeout(timer)
      socket.once('secureConnect', done)
      socket.once('close', done)
    })
    return request
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  #agent(remote: RemoteService): https.Agent {
    const { caBundle, insecureSkipTLSVerify, service } = remote
    const key = `${serviceKey(service)} ${insecureSkipTLSVerify} ${caBundle}`
    let agent = this.#agents.get(key)
    if (agent === undefined) {
      const egress = { dial: this.#dial, timeoutMs: CONNECT_TIMEOUT_MS }
      agent = httpsAgent(egress, { keepAlive: true, ...this.tls(remote) })
      const [oldest] = this.#agents.keys()
      if (this.#agents.size >= MAX_AGENTS && oldest !== undefined) {
        this.#agents.get(oldest)?.destroy()
        this.#agents.delete(oldest)
      }
      this.#agents.set(key, agent)
    }
    return agent
  }
}

export const hostText = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** The headers in which an extension server is told who asks. Values are bytes: names may hold letters of any script. */
export function userHeaders({ name, uid, groups, extra }: UserInfo): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  headers['x-remote-user'] = headerBytes(name)
  if (uid !== '') headers['x-remote-uid'] = headerBytes(uid)
  if (groups.length > 0) headers['x-remote-group'] = groups.map(headerBytes)
  for (const [key, values] of Object.entries(extra))
    headers[`x-remote-extra-${escapeKey(key.toLowerCase())}`] = values.map(headerBytes)
  return headers
}

/** Letters of a key that a header's name cannot have are percent-encoded, and the percent sign with them. */
const escapeKey = (key: string): string =>
  key.replace(/[^a-z0-9!#$&'*+.^_`|~-]/g, (letter) =>
    [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
