/** Thread: any. A definition in the few words that every thread is told of it. */
import { createHash } from 'node:crypto'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '../../api/generated/kinds/apiextensions.v1.js'
import { goJson } from '../../api/managed-fields/go-json.js'
import { type Json, metadataOf } from '../../api/object.js'
import type { DefinedVersion, ResourceDefinition } from '../../api/resource-definition.js'
import { compareVersions } from '../../api/version-order.js'
import { itemsOf, type JsonSchema, propertiesOf, valuesOf } from '../schema/json-schema.js'
import { conditionIs } from './conditions.js'

/** Undefined for one that is not to be served: its names are not accepted, or nothing is stored by it. */
export function definitionSummary(definition: CustomResourceDefinition): ResourceDefinition | undefined {
  const { spec, status } = definition
  const accepted = status?.acceptedNames
  if (!conditionIs(definition, 'Established', 'True') || accepted === undefined) return undefined
  const versions = spec?.versions ?? []
  const storage = versions.find((version) => version.storage === true)
  if (storage?.name === undefined) return undefined
  const { uid = '', resourceVersion = '0', deletionTimestamp } = metadataOf(definition)
  const kind = accepted.kind ?? ''
  const group = spec?.group ?? ''
  return {
    group,
    resource: accepted.plural ?? '',
    kind,
    listKind: accepted.listKind ?? `${kind}List`,
    singular: accepted.singular ?? '',
    shortNames: accepted.shortNames ?? [],
    categories: accepted.categories ?? [],
    namespaced: spec?.scope !== 'Cluster',
    versions: versions
      .map((version) => definedVersion(version, group, kind))
      .sort((a, b) => compareVersions(a.name, b.name)),
    storageVersion: storage.name,
    uid,
    revision: Number(resourceVersion),
    memoryForm: memoryForm(definition, storage),
    ...conversionOf(definition, storage.name),
    terminating: deletionTimestamp !== undefined && deletionTimestamp !== null,
  }
}

/** What of a definition, other than its revision, threads go by: two that are the same here need not be told apart. */
export function summaryKey({ revision: _, ...rest }: ResourceDefinition, spec: unknown): string {
  return createHash('sha256')
    .update(goJson([rest, spec] as unknown as Json))
    .digest('hex')
}

function definedVersion(version: CustomResourceDefinitionVersion, group: string, kind: string): DefinedVersion {
  const { name = '', served, subresources, selectableFields, deprecated, deprecationWarning } = version
  const paths = (selectableFields ?? []).map(({ jsonPath = '' }) => jsonPath.replace(/^\./, ''))
  const warning = deprecationWarning ?? `${group}/${name} ${kind} is deprecated`
  return {
    name,
    served: served === true,
    hasStatus: isThere(subresources?.status),
    hasScale: isThere(subresources?.scale),
    ...(paths.length > 0 ? { selectableFields: paths } : {}),
    ...(deprecated === true ? { deprecation: warning } : {}),
  }
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null

/** What of the conversion every thread goes by. */
function conversionOf(
  { spec, status }: CustomResourceDefinition,
  storageVersion: string,
): Pick<ResourceDefinition, 'convertsByWebhook' | 'mixesVersions'> {
  if (spec?.conversion?.strategy !== 'Webhook') return {}
  const mixesVersions = (status?.storedVersions ?? []).some((version) => version !== storageVersion)
  return { convertsByWebhook: true, ...(mixesVersions ? { mixesVersions } : {}) }
}

function memoryForm(definition: CustomResourceDefinition, storage: CustomResourceDefinitionVersion): string {
  const { spec } = definition
  const fields = (spec?.versions ?? []).map(({ selectableFields }) => selectableFields ?? null)
  const root = storage.schema?.openAPIV3Schema
  const text = goJson([
    storage.name,
    spec?.scope,
    spec?.names?.kind,
    spec?.preserveUnknownFields ?? false,
    conversionOf(definition, storage.name ?? ''),
    fields,
    root === undefined ? null : skeleton(root),
  ] as unknown as Json)
  return createHash('sha256').update(text).digest('base64')
}

/** The parts of a schema that decide what stays of a stored object and what is added to it. */
function skeleton(schema: JsonSchema): Json {
  const items = itemsOf(schema)
  const values = valuesOf(schema)
  return [
    schema.default ?? null,
    schema.nullable === true,
    schema['x-kubernetes-preserve-unknown-fields'] === true,
    schema['x-kubernetes-embedded-resource'] === true,
    items === undefined ? null : skeleton(items),
    values === undefined ? (schema.additionalProperties ?? null) !== null : skeleton(values),
    propertiesOf(schema).map(([name, property]): Json => [name, skeleton(property)]),
  ]
}
