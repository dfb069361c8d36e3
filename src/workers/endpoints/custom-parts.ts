/**
 * Thread: pool. What the definition of a custom resource makes of one of its versions: schemas, rules, and how its objects become those
 * of the other versions. By strategy None that is a matter of names and fields, done in place; by a webhook it takes asking, and
 * is done where objects are read and written (registry/generic/converting-storage.ts).
 */
import type { ResourceInfo } from '../../api/catalogue.js'
import { formatGroupResource, formatGroupVersion } from '../../api/group-version.js'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import { NotServed } from '../../api/status.js'
import type { ObjectConverter } from '../../apiextensions/conversion/interface.js'
import type { CompiledVersion } from '../../apiextensions/definitions/definition-source.js'
import { customRules, plainConversion, scalePaths } from '../../registry/generic/custom-rules.js'
import { customScaleRow } from '../../registry/generic/custom-scale.js'
import type { HandlerRow } from '../../registry/generic/resource-rest.js'
import type { ResourceRules, VersionConversion } from '../../registry/generic/resource-rules.js'
import type { Scheme } from '../scheme/scheme.js'

export interface CustomParts {
  readonly version: CompiledVersion
  /** The storage version, which memory holds. */
  readonly memory: CompiledVersion
  readonly rules: ResourceRules
  readonly scale: HandlerRow | undefined
  /** Undefined when versions are not converted by a webhook. */
  readonly converter: ObjectConverter | undefined
  readonly storageApiVersion: string
}

/** Gives the converter of a definition whose versions a webhook converts. */
export type ConverterSource = (definition: ResourceDefinition) => ObjectConverter

/** Undefined for built-in resources. Throws NotServed when the definition has gone, or has lost the version, meanwhile. */
export function customParts(scheme: Scheme, info: ResourceInfo, converterOf: ConverterSource): CustomParts | undefined {
  const definition = scheme.defined(formatGroupResource(info))
  if (definition === undefined) return undefined
  const { group, storageVersion, convertsByWebhook = false } = definition
  const version = scheme.customVersion(definition, info.version)
  const memory = scheme.customVersion(definition, storageVersion)
  if (version === undefined || memory === undefined) throw new NotServed()
  const apiVersionOf = (name: string): string => formatGroupVersion({ group, version: name })
  const storageApiVersion = apiVersionOf(storageVersion)
  const conversions = convertsByWebhook ? {} : plainConversions(scheme, definition, storageApiVersion, memory)
  const { subresources } = version.spec
  const paths = scalePaths(subresources)
  return {
    version,
    memory,
    scale: paths && customScaleRow(paths),
    rules: customRules({
      kind: definition.kind,
      columns: version.spec.additionalPrinterColumns,
      namespaced: definition.namespaced,
      schema: version.schema,
      subresources,
      conversions,
      conversion: conversions[apiVersionOf(info.version)],
    }),
    converter: convertsByWebhook ? converterOf(definition) : undefined,
    storageApiVersion,
  }
}

/** By strategy None, and by apiVersion: between the storage version and the others. */
function plainConversions(
  scheme: Scheme,
  definition: ResourceDefinition,
  storageApiVersion: string,
  memory: CompiledVersion,
): Record<string, VersionConversion> {
  const { group, storageVersion } = definition
  const inMemory = { apiVersion: storageApiVersion, schema: memory.schema }
  const conversions: Record<string, VersionConversion> = {}
  for (const { name } of definition.versions) {
    const other = name === storageVersion ? undefined : scheme.customVersion(definition, name)
    const apiVersion = formatGroupVersion({ group, version: name })
    if (other !== undefined) conversions[apiVersion] = plainConversion(inMemory, { apiVersion, schema: other.schema })
  }
  return conversions
}

/** The fields that selectors of a version may name: what every object has, and what the version says. */
export function customFields({ namespaced }: ResourceInfo, { spec }: CompiledVersion): string[] {
  const own = (spec.selectableFields ?? []).map(({ jsonPath = '' }) => jsonPath.replace(/^\./, ''))
  return [...(namespaced ? ['metadata.name', 'metadata.namespace'] : ['metadata.name']), ...own]
}
