/**
 * Thread: any. OpenAPI version 3: the index and a document a group-version. Documents are large and asked for rarely, so
 * each is made when it is asked for and not kept; hashes come from what the documents are made of.
 */

import { createHash } from 'node:crypto'
import { lookupTable } from '../../lib/lookup-table.js'
import { type Catalogue, KUBERNETES_VERSION, type ResourceInfo } from '../catalogue.js'
import { TYPES } from '../generated/types.js'
import type { GroupVersionKind } from '../group-version.js'
import type { SchemaSource } from '../schema.js'
import { OpenApiDefinitions, type OpenApiSchema } from './openapi-definitions.js'
import { type ApiOperation, groupVersionPath, operationsOf, QUERY_TYPES } from './openapi-operations.js'

const UNAUTHORIZED = { description: 'Unauthorized' }
const CODE_WORDS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

/** One hash of all types: they change with the program, not while it runs. */
let typesHash: string | undefined
function hashOfTypes(): string {
  if (typesHash === undefined) {
    const hash = createHash('sha512')
    for (const text of TYPES.values()) hash.update(text)
    typesHash = hash.digest('hex')
  }
  return typesHash
}

/** By the resources that they are made of, which a catalogue gives as one list until one of them changes. */
const hashes = new WeakMap<readonly ResourceInfo[], string>()

/** The hash of the document of a group-version; changes when the document does. */
export function openApiHash(catalogue: Catalogue, group: string, version: string): string {
  const resources = catalogue.resourcesOf(group, version)
  const known = hashes.get(resources)
  if (known !== undefined) return known
  const hash = createHash('sha512')
    .update(`${KUBERNETES_VERSION} ${hashOfTypes()}`)
    .update(JSON.stringify(resources))
    .digest('hex')
    .toUpperCase()
  hashes.set(resources, hash)
  return hash
}

/** GET /openapi/v3 */
export function openApiV3Index(catalogue: Catalogue): object {
  const paths: Record<string, { serverRelativeURL: string }> = {}
  for (const { group, version } of catalogue.groupVersions()) {
    const path = groupVersionPath(group, version).slice(1)
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${openApiHash(catalogue, group, version)}` }
  }
  return { paths }
}

/** GET /openapi/v3/apis/<group>/<version>; undefined when it is not served. */
export function openApiV3Document(
  catalogue: Catalogue,
  schemas: SchemaSource,
  group: string,
  version: string,
): object | undefined {
  const resources = catalogue.resourcesOf(group, version)
  if (resources.length === 0) return undefined
  const isCustom = resources.every(({ definitionHash }) => definitionHash !== undefined)
  const definitions = new OpenApiDefinitions(3, schemas)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of resources.flatMap(operationsOf)) {
    paths[operation.path] ??= { parameters: pathParameters(operation) }
    paths[operation.path]![operation.method] = printOperation(operation, group, version, definitions, schemas)
  }
  return {
    openapi: '3.0.0',
    info: isCustom
      ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }
      : { title: 'Kubernetes', version: KUBERNETES_VERSION },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: definitions.all(),
      securitySchemes: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    },
  }
}

function printOperation(
  operation: ApiOperation,
  group: string,
  version: string,
  definitions: OpenApiDefinitions,
  schemas: SchemaSource,
): object {
  const { action, kind, query, consumes, produces, body, response, codes } = operation
  const schemaOf = (type: string | GroupVersionKind): OpenApiSchema => typeSchema(type, definitions, schemas)
  const content = (types: readonly string[], type: string | GroupVersionKind): object =>
    Object.fromEntries(types.map((mediaType) => [mediaType, { schema: schemaOf(type) }]))
  return {
    tags: [operationTag(group, version)],
    operationId: operationId(operation, group, version),
    ...(query.length === 0 ? {} : { parameters: query.map(queryParameter) }),
    ...(body === undefined ? {} : { requestBody: { content: content(consumes, body), required: isRequired(action) } }),
    responses: {
      ...Object.fromEntries(
        codes.map((code) => [code, { description: CODE_WORDS[code], content: content(produces, response) }]),
      ),
      401: UNAUTHORIZED,
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
  }
}

/** Options of a delete may be left out. */
const isRequired = (action: string): boolean => !action.startsWith('delete')

export function typeSchema(
  type: string | GroupVersionKind,
  definitions: OpenApiDefinitions,
  schemas: SchemaSource,
): OpenApiSchema {
  if (type === 'string') return { type: 'string' }
  if (typeof type === 'string') return definitions.reference(type)
  const custom = schemas.documented?.(type.group, type.version, type.kind)
  if (custom !== undefined) {
    // A list refers to its items by name, so their definition is made first.
    if (custom.items !== undefined) typeSchema(custom.items, definitions, schemas)
    return definitions.custom(custom)
  }
  const name = schemas.kind(type.group, type.version, type.kind)?.name
  return name === undefined ? { type: 'object' } : definitions.reference(name)
}

const queryParameter = (name: string): object => ({
  name,
  in: 'query',
  schema: { type: QUERY_TYPES[name], uniqueItems: true },
})

function pathParameters({ path }: ApiOperation): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', uniqueItems: true },
  }))
}

const camel = (text: string): string =>
  text
    .split(/[.\-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** core_v1, apps_v1, rbacAuthorization_v1 */
export function operationTag(group: string, version: string): string {
  const name = camel(groupWord(group))
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}_${version}`
}

const groupWord = (group: string): string => (group === '' ? 'core' : group.replace(/\.k8s\.io$/, ''))

const VERBS: Readonly<Record<string, string>> = lookupTable({
  get: 'read',
  list: 'list',
  post: 'create',
  put: 'replace',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
  watch: 'watch',
  watchlist: 'watch',
})

/** listCoreV1NamespacedPod, connectCoreV1GetNamespacedPodExec */
export function operationId({ action, method, subject }: ApiOperation, group: string, version: string): string {
  const where = camel(groupWord(group)) + camel(version)
  if (action === 'connect') return `connect${where}${camel(method)}${subject}`
  return `${VERBS[action]}${where}${subject}`
}
