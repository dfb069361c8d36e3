/** Thread: any. OpenAPI version 2 (Swagger): one document of everything, made when it is asked for; main/paths/kept-swagger.ts keeps it. */
import { type Catalogue, KUBERNETES_VERSION } from '../catalogue.js'
import type { GroupVersionKind } from '../group-version.js'
import type { SchemaSource } from '../schema.js'
import { OpenApiDefinitions, type OpenApiSchema } from './openapi-definitions.js'
import { type ApiOperation, operationsOf, QUERY_TYPES } from './openapi-operations.js'
import type { SwaggerDocument } from './openapi-v2-merge.js'
import { operationId, operationTag, typeSchema } from './openapi-v3.js'

const CODE_WORDS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }

/** Custom kinds beyond these are not in the document: it is one text, which has to fit into memory. Version 3 has them all. */
const MAX_CUSTOM_KINDS = 4096
/** So many custom kinds are printed at a time. */
const KINDS_AT_ONCE = 16

/** GET /openapi/v2. `pause` is awaited now and then: with thousands of custom kinds it takes seconds. */
export async function openApiV2Document(
  catalogue: Catalogue,
  schemas: SchemaSource,
  pause: () => Promise<void>,
): Promise<SwaggerDocument> {
  const definitions = new OpenApiDefinitions(2, schemas)
  const paths: Record<string, Record<string, unknown>> = {}
  let customKinds = 0
  for (const { group, version } of catalogue.groupVersions())
    for (const resource of catalogue.resourcesOf(group, version)) {
      if (resource.definitionHash !== undefined) {
        if (++customKinds > MAX_CUSTOM_KINDS) break
        if (customKinds % KINDS_AT_ONCE === 0) await pause()
      }
      for (const operation of operationsOf(resource)) {
        paths[operation.path] ??= { parameters: pathParameters(operation.path) }
        paths[operation.path]![operation.method] = printOperation(operation, group, version, (type) =>
          typeSchema(type, definitions, schemas),
        )
      }
    }
  const document = {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: KUBERNETES_VERSION },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    definitions: definitions.all(),
    securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    security: [{ BearerToken: [] }],
  }
  return document
}

function printOperation(
  operation: ApiOperation,
  group: string,
  version: string,
  schemaOf: (type: string | GroupVersionKind) => OpenApiSchema,
): object {
  const { action, kind, query, consumes, produces, body, response, codes } = operation
  const bodyParameter =
    body === undefined
      ? []
      : [
          {
            name: 'body',
            in: 'body',
            schema: schemaOf(body),
            ...(action.startsWith('delete') ? {} : { required: true }),
          },
        ]
  return {
    consumes,
    produces,
    schemes: ['https'],
    tags: [operationTag(group, version)],
    operationId: operationId(operation, group, version),
    parameters: [
      ...bodyParameter,
      ...query.map((name) => ({ name, in: 'query', type: QUERY_TYPES[name], uniqueItems: true })),
    ],
    responses: {
      ...Object.fromEntries(codes.map((code) => [code, { description: CODE_WORDS[code], schema: schemaOf(response) }])),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
  }
}

const pathParameters = (path: string): object[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', type: 'string', required: true, uniqueItems: true },
  }))
