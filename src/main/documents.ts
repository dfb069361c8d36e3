/** Thread: main. Discovery, version and the index, as paths. */
import { AGGREGATED_MEDIA_TYPE, type DiscoveryDocument, type DiscoveryDocuments } from '../api/discovery.js'
import { parseAccept } from '../api/media-type.js'
import { newGenericServerResponse } from '../api/status.js'
import type { Exchange } from './exchange.js'
import type { NonResourcePaths } from './non-resource-paths.js'
import { writeStatus } from './write-status.js'

export interface VersionInfo {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
  readonly platform: string
  readonly goVersion: string
}

const JSON_TYPE = 'application/json'

export function installDocuments(
  paths: NonResourcePaths,
  documents: () => DiscoveryDocuments,
  version: VersionInfo,
  address: () => string,
): void {
  const root = (name: 'api' | 'apis', plain: () => DiscoveryDocument): void => {
    paths.exact(`/${name}`, (exchange) => {
      if (acceptsAggregated(exchange)) respond(exchange, documents().aggregated(name), AGGREGATED_MEDIA_TYPE)
      else respond(exchange, plain(), JSON_TYPE)
      return undefined
    })
  }
  root('api', () => documents().apiVersions(address()))
  root('apis', () => documents().apiGroupList())
  paths.below('/api/', (exchange, _query, rest) => respondOr404(exchange, documents().apiResourceList('', strip(rest))))
  paths.below('/apis/', (exchange, _query, rest) => {
    const [group = '', groupVersion] = strip(rest).split('/')
    if (!documents().catalogue.hasGroup(group)) {
      paths.notFound(exchange)
      return undefined
    }
    return respondOr404(
      exchange,
      groupVersion === undefined ? documents().apiGroup(group) : documents().apiResourceList(group, groupVersion),
    )
  })
  paths.exact('/version', (exchange) => {
    exchange.respond({ status: 200, contentType: JSON_TYPE }, `${JSON.stringify(version, null, 2)}\n`)
    return undefined
  })
  paths.exact('/', (exchange) => {
    exchange.respond({ status: 200, contentType: JSON_TYPE }, `${JSON.stringify({ paths: paths.paths() }, null, 2)}\n`)
    return undefined
  })
}

const strip = (rest: string): string => (rest.endsWith('/') ? rest.slice(0, -1) : rest)

/** The first clause that can be served decides, as in every negotiation. */
function acceptsAggregated({ head }: Exchange): boolean {
  if (!head.accept.includes('apidiscovery.k8s.io')) return false
  for (const { type, parameters } of parseAccept(head.accept)) {
    if (type !== JSON_TYPE) continue
    if (
      parameters['g'] === 'apidiscovery.k8s.io' &&
      parameters['v'] === 'v2' &&
      parameters['as'] === 'APIGroupDiscoveryList'
    )
      return true
    if (parameters['as'] === undefined) return false
  }
  return false
}

function respond(exchange: Exchange, { body, etag }: DiscoveryDocument, contentType: string): void {
  if (exchange.head.ifNoneMatch === etag) exchange.respond({ status: 304, contentType, headers: ['ETag', etag] }, '')
  else exchange.respond({ status: 200, contentType, headers: ['ETag', etag, 'Vary', 'Accept'] }, body)
}

function respondOr404(exchange: Exchange, document: DiscoveryDocument | undefined): undefined {
  if (document === undefined) writeStatus(exchange, newGenericServerResponse(404).status)
  else respond(exchange, document, JSON_TYPE)
  return undefined
}
