import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { Catalogue } from '#keelson/api/catalogue.js'
import { OpenApiDefinitions, type OpenApiSchema } from '#keelson/api/openapi/openapi-definitions.js'
import { operationsOf } from '#keelson/api/openapi/openapi-operations.js'
import { openApiV2Document } from '#keelson/api/openapi/openapi-v2.js'
import { openApiV3Document, openApiV3Index } from '#keelson/api/openapi/openapi-v3.js'
import { recordedLines } from '../../support/recordings/recording.js'

const schemas = new BuiltinSchemas()
const all = Catalogue.builtin()
const served = all.servedByDefault()

/** Every $ref of a document leads to a definition of it. */
function unresolved(document: object, known: object, prefix: string): string[] {
  const missing: string[] = []
  JSON.stringify(document, (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string' && !Object.hasOwn(known, value.slice(prefix.length)))
      missing.push(value)
    return value
  })
  return missing
}

t.test('version 3: a document for every group-version of the index, whole in itself', (t) => {
  const index = openApiV3Index(served) as { paths: Record<string, { serverRelativeURL: string }> }
  t.equal(Object.keys(index.paths).length, 22)
  t.match(index.paths['apis/apps/v1']?.serverRelativeURL, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/)
  for (const { group, version } of served.groupVersions()) {
    const document = openApiV3Document(served, schemas, group, version) as {
      paths: Record<string, Record<string, { operationId?: string }>>
      components: { schemas: Record<string, OpenApiSchema> }
    }
    t.same(unresolved(document, document.components.schemas, '#/components/schemas/'), [], `${group}/${version}`)
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).flatMap(({ operationId }) => (operationId === undefined ? [] : [operationId])),
    )
    t.equal(new Set(ids).size, ids.length, `operation ids of ${group}/${version} differ`)
  }
  t.equal(openApiV3Document(served, schemas, 'apps', 'v1beta1'), undefined)
  t.end()
})

t.test('what kubectl looks for: kinds at paths and types, fieldValidation at patches', (t) => {
  const { paths, components } = openApiV3Document(served, schemas, 'apps', 'v1') as {
    paths: Record<string, Record<string, unknown>>
    components: { schemas: Record<string, OpenApiSchema> }
  }
  const item = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']!
  t.match(item['get'], { 'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' } })
  t.match(JSON.stringify(item['patch']), /"name":"fieldValidation","in":"query"/)
  t.match((item['get'] as { operationId: string }).operationId, 'readAppsV1NamespacedDeployment')
  t.match(components.schemas['io.k8s.api.apps.v1.Deployment'], {
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
  })
  t.match(components.schemas['io.k8s.api.core.v1.PodSpec']?.['properties'], {
    containers: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    },
  })
  t.end()
})

t.test('version 2 is one document without defaults', async (t) => {
  const document = (await openApiV2Document(served, schemas, async () => undefined)) as {
    definitions: Record<string, OpenApiSchema>
  }
  t.same(unresolved(document, document.definitions, '#/definitions/'), [])
  const pod = document.definitions['io.k8s.api.core.v1.Pod']!
  t.same((pod['properties'] as Record<string, unknown>)['spec'], { $ref: '#/definitions/io.k8s.api.core.v1.PodSpec' })
})

type PropertyFact =
  | string
  | { t: string; d?: unknown; id?: unknown; lt?: string; lk?: string[]; ps?: string; pk?: string; mt?: string }
interface DefinitionFact {
  readonly p?: Record<string, PropertyFact>
  readonly r?: string[]
}
interface PathFact {
  readonly res?: string
  readonly ops: Record<string, [string, number, number, number, number, unknown, Record<string, string | null>]>
}
/** Paths name their kinds, queries and media types by an index into these. */
type FactTables = Record<'gvk' | 'query' | 'consumes' | 'produces', string[][]>
type FactLine = { tables?: FactTables; definition?: string; path?: string; fact: unknown }

const facts = recordedLines<FactLine>('facts/openapi.jsonl')
const definitionFacts = new Map(
  facts.flatMap(({ definition, fact }) => (definition === undefined ? [] : [[definition, fact as DefinitionFact]])),
)
const pathFacts = new Map(facts.flatMap(({ path, fact }) => (path === undefined ? [] : [[path, fact as PathFact]])))

t.test('paths and operations are those that kube-apiserver publishes', (t) => {
  const mine = new Map(
    all.resources.flatMap(operationsOf).map((o) => {
      const response =
        typeof o.response === 'string'
          ? o.response
          : schemas.kind(o.response.group, o.response.version, o.response.kind)!.name
      const kind = [o.kind.group, o.kind.version, o.kind.kind]
      return [`${o.method} ${o.path}`, [o.action, kind, o.query, o.consumes, o.produces, response, o.codes.map(String)]]
    }),
  )
  const { gvk, query, consumes, produces } = facts[0]!.tables!
  let compared = 0
  for (const [path, { res, ops }] of pathFacts) {
    if (res === undefined) continue
    for (const [method, [action, kind, q, c, p, , responses]] of Object.entries(ops)) {
      const codes = Object.keys(responses).filter((code) => code !== '401')
      const key = `${method} ${path}`
      t.same(
        mine.get(key),
        [action, gvk[kind], query[q], consumes[c], produces[p], responses['200']?.replace('#', ''), codes],
        key,
      )
      mine.delete(key)
      compared++
    }
  }
  t.same([...mine.keys()], [], 'and no others')
  t.ok(compared > 800)
  t.end()
})

t.test('definitions are those that kube-apiserver publishes', (t) => {
  const definitions = new OpenApiDefinitions(3, schemas)
  for (const name of definitionFacts.keys()) definitions.reference(name)
  const made = definitions.all()
  t.same(Object.keys(made).sort(), [...definitionFacts.keys()].sort())
  for (const [name, { p, r }] of definitionFacts) {
    t.same(new Set((made[name]!['required'] as string[] | undefined) ?? []), new Set(r ?? []), `${name}: required`)
    for (const [field, fact] of Object.entries(p ?? {})) {
      const attributes = typeof fact === 'string' ? { t: fact } : fact
      const property = (made[name]!['properties'] as Record<string, OpenApiSchema>)[field]!
      const inner = (property['items'] ?? property['additionalProperties']) as OpenApiSchema | undefined
      const where = `${name}.${field}`
      t.same(property['default'], attributes.d, `${where}: default`)
      if (!attributes.t.includes('[][]') && !attributes.t.includes('{}[]'))
        t.same(inner?.['default'], attributes.id, `${where}: default of items`)
      // One field of bytes carries a list type, which means nothing there.
      if (attributes.t !== 'string:byte')
        t.equal(property['x-kubernetes-list-type'], attributes.lt, `${where}: list type`)
      t.same(property['x-kubernetes-list-map-keys'], attributes.lk, `${where}: list keys`)
      t.equal(property['x-kubernetes-patch-strategy'], attributes.ps, `${where}: patch strategy`)
      t.equal(property['x-kubernetes-patch-merge-key'], attributes.pk, `${where}: merge key`)
    }
  }
  t.end()
})
