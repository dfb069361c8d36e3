/** Thread: main, or a front end's own. What one front end has of aggregation: who serves what, and the documents that tell of it. */
import { API_SERVICES, APIServiceIndex } from '../../aggregator/api-service-index.js'
import { MergedDiscovery } from '../../aggregator/merged-discovery.js'
import type { DiscoveryDocuments } from '../../api/discovery.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import { staleFollowers } from '../../cacher/read/stale-followers.js'
import type { Clock } from '../../lib/clock.js'
import type { EgressConfig } from '../../lib/egress/egress-config.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { SwaggerSource } from '../../protocol/main-pool.js'
import type { RenewedCredentials, ServerCredentials } from '../../protocol/server-credentials.js'
import type { Served } from '../../workers/scheme/served.js'
import type { AggregationConfig } from '../flags/config.js'
import { APIServiceRelay } from './api-service-relay.js'
import { RemoteConnections } from './remote-connections.js'
import { RemoteDiscovery } from './remote-discovery.js'
import { type RemoteDocument, remoteDocument } from './remote-documents.js'
import { RemoteSwagger } from './remote-swagger.js'
import { serviceDirectory } from './service-views.js'

export interface FrontEndAggregationOptions {
  readonly cache: CacheClient
  readonly served: Served
  readonly config: AggregationConfig
  readonly egress: EgressConfig
  readonly credentials: ServerCredentials
  readonly clock: Clock
  readonly recorder: Recorder
  readonly logger: Logger
}

export class FrontEndAggregation implements Closable {
  readonly relay: APIServiceRelay
  readonly #index: APIServiceIndex
  readonly #connections: RemoteConnections
  readonly #discovery: RemoteDiscovery
  readonly #swagger: RemoteSwagger
  #merged: { readonly catalogue: number; readonly generation: object; readonly documents: MergedDiscovery } | undefined

  constructor({ cache, served, config, egress, credentials, clock, recorder, logger }: FrontEndAggregationOptions) {
    const onStale = staleFollowers(logger, recorder)
    this.#index = new APIServiceIndex(cache.resource(API_SERVICES), (stale) => onStale(API_SERVICES, stale))
    const directory = serviceDirectory(cache, served, config.byEndpoints)
    this.#connections = new RemoteConnections({ directory, certificate: credentials.proxyCertificate, egress })
    this.#discovery = new RemoteDiscovery(this.#index, this.#connections, clock)
    this.#swagger = new RemoteSwagger(this.#index, this.#connections, clock)
    this.relay = new APIServiceRelay({
      index: this.#index,
      connections: this.#connections,
      frontProxyHeaders: credentials.authentication.frontProxy?.headers,
      rejectRedirects: config.rejectRedirects,
    })
  }

  start(): void {
    this.#index.start()
    this.#discovery.start()
  }

  close(): void {
    this.#index.stop()
    this.#discovery.stop()
    this.#connections.close()
  }

  renewCredentials({ proxyCertificate }: RenewedCredentials): void {
    this.#connections.useCertificate(proxyCertificate)
  }

  /** The documents with what other servers serve in them; undefined when there are none. */
  merged(local: DiscoveryDocuments): MergedDiscovery | undefined {
    const { generation } = this.#discovery
    const { generation: catalogue } = local.catalogue
    if (this.#merged?.catalogue !== catalogue || this.#merged.generation !== generation) {
      const remotes = this.#discovery.versions()
      if (remotes.length === 0) return undefined
      this.#merged = { catalogue, generation, documents: new MergedDiscovery(local, remotes) }
    }
    return this.#merged.documents
  }

  /** The documents of OpenAPI v2 of other servers, as far as they are known. */
  swagger(): Promise<SwaggerSource[]> {
    return this.#swagger.sources()
  }

  /** The documents of OpenAPI v3 of other servers: group version to the address of its document. */
  openapiPaths(): [string, string][] {
    return this.#discovery.openapiPaths()
  }

  /** A document of OpenAPI v3 of another server; undefined for what this server serves itself. */
  openapi(groupVersion: string, query: string): Promise<RemoteDocument> | undefined {
    const [prefix, group = '', version = '', ...rest] = groupVersion.split('/')
    const remote = prefix === 'apis' && rest.length === 0 ? this.#index.find(group, version) : undefined
    if (remote === undefined) return undefined
    const path = `/openapi/v3/apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`
    return remoteDocument(this.#connections, remote, query === '' ? path : `${path}?${query}`)
  }
}
