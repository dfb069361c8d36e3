/**
 * Thread: main. What controllers ask of extension API servers: what they serve now, and objects to read and delete, in the name of the
 * controller. Controllers run in a thread of their own, and connections to other servers are here.
 */

import type { RemoteService } from '../../aggregator/api-service.js'
import type { APIServiceIndex } from '../../aggregator/api-service-index.js'
import { versionEntry } from '../../aggregator/version-entry.js'
import { formatGroupVersion } from '../../api/group-version.js'
import { isJsonObject, type Json } from '../../api/object.js'
import type { RemoteAnswer, RemoteCall, RemoteReport, RemoteResource } from '../../protocol/main-controllers.js'
import type { RemoteConnections } from './remote-connections.js'
import { remoteAnswer, remoteDocument } from './remote-documents.js'

/** A collection may take its server long to delete. */
const TIMEOUT_MS = 30_000

export class ControllerRelay {
  readonly #index: APIServiceIndex
  readonly #connections: RemoteConnections

  constructor(index: APIServiceIndex, connections: RemoteConnections) {
    this.#index = index
    this.#connections = connections
  }

  /** Asks every server; those that do not answer are among the failures. */
  async resources(): Promise<RemoteReport> {
    const resources: RemoteResource[] = []
    const failures: { groupVersion: string; why: string }[] = []
    await Promise.all(
      this.#index.all.map(async (remote) => {
        try {
          resources.push(...(await this.#resourcesOf(remote)))
        } catch (error) {
          const why = error instanceof Error ? error.message : String(error)
          failures.push({ groupVersion: formatGroupVersion(remote), why })
        }
      }),
    )
    return { resources, failures: failures.sort((a, b) => (a.groupVersion < b.groupVersion ? -1 : 1)) }
  }

  async send({ group, version, method, path, user, body }: RemoteCall): Promise<RemoteAnswer> {
    const remote = this.#index.find(group, version)
    if (remote?.available !== true) throw new Error(`the server of ${group}/${version} is not available`)
    const headers: Record<string, string> =
      body === '' ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
    const question = { method, path, user, headers, body, timeoutMs: TIMEOUT_MS }
    const answer = await remoteAnswer(this.#connections, remote, question)
    return { status: answer.status, body: answer.body }
  }

  async #resourcesOf(remote: RemoteService): Promise<RemoteResource[]> {
    const { group, version } = remote
    if (!remote.available) throw new Error(`stale GroupVersion discovery: ${group}/${version}`)
    const { status, body } = await remoteDocument(this.#connections, remote, `/apis/${group}/${version}`)
    if (status !== 200) throw new Error(`the server answered with status ${status}`)
    const given = JSON.parse(body.toString()) as Json
    const entry = versionEntry(version, isJsonObject(given) ? given : {})
    const found = Array.isArray(entry['resources']) ? entry['resources'].filter(isJsonObject) : []
    return found.map(({ resource, responseKind, scope, verbs }) => ({
      group,
      version,
      resource: String(resource),
      kind: isJsonObject(responseKind) ? String(responseKind['kind']) : '',
      namespaced: scope === 'Namespaced',
      verbs: Array.isArray(verbs) ? verbs.map(String) : [],
    }))
  }
}
