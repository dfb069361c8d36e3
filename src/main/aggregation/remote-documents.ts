/** Thread: main, or a front end's own. Documents of extension API servers, asked for by this server itself, within limits. */
import type { IncomingMessage } from 'node:http'
import type { RemoteService } from '../../aggregator/api-service.js'
import type { UserInfo } from '../../api/user-info.js'
import { type RemoteConnections, userHeaders } from './remote-connections.js'

/** Who asks: one who may see everything, so that an answer tells of the server and not of rights. */
const AGGREGATOR: UserInfo = { name: 'system:kube-aggregator', uid: '', groups: ['system:masters'], extra: {} }
/** Discovery is cheap for whoever serves it. */
const TIMEOUT_MS = 5_000
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024

export interface RemoteDocument {
  readonly status: number
  readonly contentType: string
  readonly etag: string
  readonly body: Buffer
}

export interface RemoteQuestion {
  readonly method: string
  readonly path: string
  readonly user: UserInfo
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

/** A document that tells of the server, asked for by this server itself. Rejects as remoteAnswer() does. */
export const remoteDocument = (
  connections: RemoteConnections,
  remote: RemoteService,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RemoteDocument> =>
  remoteAnswer(connections, remote, { method: 'GET', path, headers, user: AGGREGATOR, body: '', timeoutMs: TIMEOUT_MS })

/** Rejects when the server cannot be reached, does not answer in time, or says too much. Redirects are not followed. */
export function remoteAnswer(
  connections: RemoteConnections,
  remote: RemoteService,
  { method, path, headers, user, body, timeoutMs }: RemoteQuestion,
): Promise<RemoteDocument> {
  return new Promise((resolve, reject) => {
    const request = connections.request(remote, {
      method,
      path,
      headers: { accept: 'application/json', ...headers, ...userHeaders(user) },
    })
    const timer = setTimeout(() => request.destroy(new Error('no answer in time')), timeoutMs)
    const fail = (error: Error): void => {
      clearTimeout(timer)
      reject(error)
    }
    request.on('error', fail)
    request.once('upgrade', (_answer, socket) => {
      socket.destroy()
      fail(new Error('the server switched protocols without being asked to'))
    })
    request.once('response', (answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.byteLength
        if (size > MAX_DOCUMENT_BYTES) request.destroy(new Error('the document is too long'))
        else chunks.push(chunk)
      })
      answer.once('error', fail)
      answer.once('end', () => {
        clearTimeout(timer)
        const { etag = '', 'content-type': contentType = '' } = answer.headers
        resolve({ status: answer.statusCode ?? 0, contentType, etag, body: Buffer.concat(chunks) })
      })
    })
    request.end(body)
  })
}

/** What is asked of a server to find out whether it is there. Rejects with why it is not. */
export async function probeDiscovery(connections: RemoteConnections, remote: RemoteService): Promise<void> {
  const path = `/apis/${remote.group}/${remote.version}`
  let url = path
  try {
    const { host, port } = connections.address(remote)
    url = `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
    const { status } = await remoteDocument(connections, remote, path)
    if (status < 200 || status > 299) throw new Error(`bad status from ${url}: ${status}`)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`failing or missing response from ${url}: ${why}`, { cause: error })
  }
}
