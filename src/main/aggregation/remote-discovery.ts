/**
 * Thread: main, or a front end's own. What extension servers serve, as they last said it: asked for when an APIService comes or changes,
 * and again from time to time. A server that does not answer keeps its last document, which is marked stale.
 *
 *   APIService comes ──▶ asked ──▶ known, Current ──every minute, or as it changes──▶ asked again
 *                          └─fails─▶ empty or as before, Stale ──after 0.5 s, 1 s, … a minute──▶ asked again
 */

import type { RemoteService } from '../../aggregator/api-service.js'
import type { APIServiceIndex } from '../../aggregator/api-service-index.js'
import type { RemoteVersion } from '../../aggregator/merged-discovery.js'
import { knownVersion, versionEntry } from '../../aggregator/version-entry.js'
import { AGGREGATED_MEDIA_TYPE } from '../../api/discovery.js'
import { isJsonObject, type JsonObject } from '../../api/object.js'
import type { Clock, Timer } from '../../lib/clock.js'
import type { RemoteConnections } from './remote-connections.js'
import { remoteDocument } from './remote-documents.js'

const REFRESH_MS = 60_000
const FIRST_RETRY_MS = 500

interface Known {
  remote: RemoteService
  entry: JsonObject
  freshness: 'Current' | 'Stale'
  failures: number
  timer: Timer | undefined
  /** The path to hash of the version's document of OpenAPI v3, as the server says it; '' when it has none. */
  openapi: string
}

export class RemoteDiscovery {
  readonly #index: APIServiceIndex
  readonly #connections: RemoteConnections
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()
  /** A new object whenever a document has changed. */
  #generation = {}
  #isStopped = false

  constructor(index: APIServiceIndex, connections: RemoteConnections, clock: Clock) {
    this.#index = index
    this.#connections = connections
    this.#clock = clock
  }

  start(): void {
    this.#index.onChange(() => this.#update())
    this.#update()
  }

  stop(): void {
    this.#isStopped = true
    for (const { timer } of this.#known.values()) timer?.cancel()
  }

  get generation(): object {
    return this.#generation
  }

  versions(): RemoteVersion[] {
    return [...this.#known.values()].map(({ remote, entry, freshness }) => ({ remote, entry, freshness }))
  }

  /** Paths of OpenAPI v3 by group version: `apis/metrics.k8s.io/v1beta1` → where its document is. */
  openapiPaths(): [string, string][] {
    return [...this.#known.values()]
      .filter(({ openapi }) => openapi !== '')
      .map(({ remote, openapi }) => [`apis/${remote.group}/${remote.version}`, openapi])
  }

  #update(): void {
    if (this.#isStopped) return
    const current = new Map(this.#index.all.map((remote) => [remote.name, remote]))
    for (const [name, known] of this.#known) {
      if (current.has(name)) continue
      known.timer?.cancel()
      this.#known.delete(name)
      this.#generation = {}
    }
    for (const [name, remote] of current) {
      const known = this.#known.get(name)
      if (known?.remote === remote) continue
      const next: Known = known ?? {
        remote,
        entry: { version: remote.version, resources: [] },
        freshness: 'Stale',
        failures: 0,
        timer: undefined,
        openapi: '',
      }
      next.remote = remote
      this.#known.set(name, next)
      this.#generation = {}
      this.#refresh(next)
    }
  }

  #refresh(known: Known): void {
    known.timer?.cancel()
    known.timer = undefined
    const { remote } = known
    const settled = (entry: JsonObject | undefined, openapi: string): void => {
      if (this.#isStopped || known.remote !== remote || this.#known.get(remote.name) !== known) return
      known.failures = entry === undefined ? known.failures + 1 : 0
      const freshness = entry === undefined ? 'Stale' : 'Current'
      const isNews =
        freshness !== known.freshness ||
        openapi !== known.openapi ||
        (entry !== undefined && JSON.stringify(entry) !== JSON.stringify(known.entry))
      known.freshness = freshness
      if (entry !== undefined) {
        known.entry = entry
        known.openapi = openapi
      }
      if (isNews) this.#generation = {}
      const waitMs = entry === undefined ? Math.min(FIRST_RETRY_MS * 2 ** (known.failures - 1), REFRESH_MS) : REFRESH_MS
      known.timer = this.#clock.after(waitMs, () => this.#refresh(known))
    }
    // Whatever another server says, it ends here: a document that cannot be used is one that did not come.
    this.#ask(remote)
      .then(({ entry, openapi }) => settled(entry, openapi))
      .catch(() => settled(undefined, known.openapi))
  }

  async #ask(remote: RemoteService): Promise<{ entry: JsonObject; openapi: string }> {
    if (!remote.available) throw new Error('the server is not available')
    const [entry, openapi] = await Promise.all([this.#entry(remote), this.#openapi(remote)])
    return { entry, openapi }
  }

  async #entry(remote: RemoteService): Promise<JsonObject> {
    const { group, version } = remote
    const whole = await remoteDocument(this.#connections, remote, '/apis', { accept: AGGREGATED_MEDIA_TYPE })
    if (whole.status === 503) throw new Error('the server is not available')
    if (whole.status === 200 && isAggregated(whole.contentType)) {
      const found = findVersion(parsed(whole.body), group, version)
      return knownVersion(version, found ?? {})
    }
    const old = await remoteDocument(this.#connections, remote, `/apis/${group}/${version}`)
    if (old.status !== 200) throw new Error(`status ${old.status}`)
    return versionEntry(version, parsed(old.body))
  }

  /** The server's own index of OpenAPI v3 is small and tells the hash; a server without one has no document there. */
  async #openapi(remote: RemoteService): Promise<string> {
    const { status, body } = await remoteDocument(this.#connections, remote, '/openapi/v3')
    if (status !== 200) return ''
    const { paths } = parsed(body)
    const found = isJsonObject(paths) ? paths[`apis/${remote.group}/${remote.version}`] : undefined
    const url = isJsonObject(found) ? found['serverRelativeURL'] : undefined
    return typeof url === 'string' ? url : ''
  }
}

const isAggregated = (contentType: string): boolean =>
  contentType.includes('g=apidiscovery.k8s.io') && contentType.includes('v=v2;')

function parsed(body: Buffer): JsonObject {
  const value: unknown = JSON.parse(body.toString())
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('the document is no object')
  return value as JsonObject
}

function findVersion(list: JsonObject, group: string, version: string): JsonObject | undefined {
  const items = Array.isArray(list['items']) ? list['items'].filter(isJsonObject) : []
  const item = items.find(({ metadata }) => isJsonObject(metadata) && metadata['name'] === group)
  const versions = Array.isArray(item?.['versions']) ? item['versions'].filter(isJsonObject) : []
  return versions.find((one) => one['version'] === version)
}
