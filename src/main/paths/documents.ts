/** Thread: main. Discovery, version and the index, as paths. */

import type { MergedDiscovery } from '../../aggregator/merged-discovery.js'
import type { Catalogue } from '../../api/catalogue.js'
import { AGGREGATED_MEDIA_TYPE, type DiscoveryDocument, type DiscoveryDocuments } from '../../api/discovery.js'
import {
  CONTENT_TYPES,
  firstOffered,
  negotiatePlain,
  notAcceptable,
  ONLY_REPRESENTATIONS,
  offersFormat,
  parseAccept,
} from '../../api/media-type.js'
import type { JsonObject } from '../../api/object.js'
import { encodeBuiltin } from '../../api/protobuf/builtin.js'
import { newGenericServerResponse, newNotAcceptable } from '../../api/status.js'
import { printYaml } from '../../api/yaml/yaml.js'
import type { Exchange } from '../http/exchange.js'
import { writeStatus } from '../http/write-status.js'
import type { NonResourcePaths } from './non-resource-paths.js'

export interface VersionInfo {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
  readonly platform: string
  readonly goVersion: string
}

const JSON_TYPE = 'application/json'

export interface DocumentPathsOptions {
  /** The documents of what is served here. */
  readonly documents: () => DiscoveryDocuments
  /** Those with what other servers serve in them; undefined when there are none. */
  readonly merged: () => MergedDiscovery | undefined
  readonly version: VersionInfo
  readonly address: () => string
}

export function installDocuments(
  paths: NonResourcePaths,
  { documents, merged, version, address }: DocumentPathsOptions,
): void {
  const root = (name: 'api' | 'apis', plain: () => DiscoveryDocument): void => {
    paths.exact(`/${name}`, (exchange) => {
      if (name === 'api' && refusesMethod(exchange)) return undefined
      const all = name === 'apis' ? merged() : undefined
      if (acceptsAggregated(exchange))
        respond(exchange, all?.aggregated() ?? documents().aggregated(name), AGGREGATED_MEDIA_TYPE)
      else respondNegotiated(exchange, plain(), name === 'api')
      return undefined
    })
  }
  root('api', () => documents().apiVersions(address()))
  root('apis', () => (merged() ?? documents()).apiGroupList())
  paths.below('/api/', (exchange, _query, rest) =>
    respondOr404(exchange, documents().apiResourceList('', strip(rest)), true),
  )
  paths.below('/apis/', (exchange, _query, rest) => {
    const [group = '', groupVersion] = strip(rest).split('/')
    if (!documents().catalogue.hasGroup(group) && merged()?.hasGroup(group) !== true) {
      paths.notFound(exchange)
      return undefined
    }
    if (groupVersion !== undefined && isNoVersion(documents().catalogue, group, groupVersion)) {
      paths.notFound(exchange)
      return undefined
    }
    return groupVersion === undefined
      ? respondOr404(exchange, (merged() ?? documents()).apiGroup(group), false)
      : respondOr404(exchange, documents().apiResourceList(group, groupVersion), true)
  })
  paths.exact('/version', (exchange) => {
    if (refusesMethod(exchange)) return undefined
    // A route of kube-apiserver does not take application/* for JSON.
    if (firstOffered(exchange.head.accept, { '*/*': true, [JSON_TYPE]: true }) === undefined)
      throw notAcceptable(JSON_TYPE)
    exchange.respond({ status: 200, contentType: JSON_TYPE }, `${JSON.stringify(version, null, 2)}\n`)
    return undefined
  })
  paths.exact('/', (exchange) => {
    exchange.respond({ status: 200, contentType: JSON_TYPE }, `${JSON.stringify({ paths: paths.paths() }, null, 2)}\n`)
    return undefined
  })
}

/** Custom groups have no routes: a version that they lack is no path at all. */
const isNoVersion = (catalogue: Catalogue, group: string, version: string): boolean =>
  catalogue.isCustomGroup(group) && catalogue.resourcesOf(group, version).length === 0

const strip = (rest: string): string => (rest.endsWith('/') ? rest.slice(0, -1) : rest)

/**
 * Whether the client prefers aggregated discovery: the first clause that can be served decides, as in every
 * negotiation.
 */
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

/** The documents of a version, and of the core group, are routes for GET; the list of groups and a group answer to any method. */
function refusesMethod(exchange: Exchange): boolean {
  if (exchange.head.method === 'GET') return false
  writeStatus(exchange, newGenericServerResponse(405).status)
  return true
}

function respondOr404(exchange: Exchange, document: DiscoveryDocument | undefined, isRoute: boolean): undefined {
  if (document === undefined) writeStatus(exchange, newGenericServerResponse(404).status)
  else if (!isRoute || !refusesMethod(exchange)) respondNegotiated(exchange, document, isRoute)
  return undefined
}

/**
 * Answers in the format that is asked for. A route refuses formats by itself, which a client sees in the details of the
 * answer.
 */
function respondNegotiated(exchange: Exchange, document: DiscoveryDocument, isRoute: boolean): void {
  const { accept } = exchange.head
  const refused = isRoute && !offersFormat(accept)
  const serialization = refused ? undefined : negotiatePlain(accept)
  if (serialization === undefined) {
    writeStatus(exchange, newNotAcceptable(ONLY_REPRESENTATIONS, refused).status)
  } else if (serialization === 'json') respond(exchange, document, JSON_TYPE)
  else {
    const tree = JSON.parse(document.body.toString()) as JsonObject
    const body = serialization === 'yaml' ? Buffer.from(printYaml(tree)) : encodeBuiltin({ apiVersion: 'v1', ...tree })
    const etag = `${document.etag.slice(0, -1)}-${serialization}"`
    respond(exchange, { body, etag }, CONTENT_TYPES[serialization])
  }
}
