/**
 * Thread: any. Custom resource definitions are stored as v1beta1: there, what all versions have in common stands once,
 * beside them. That version is not served any more; definitions from before v1 may still lie in a store.
 */

import { isDeepStrictEqual } from 'node:util'
import type { CustomResourceDefinition } from '../../../api/generated/kinds/apiextensions.v1.js'
import type { CustomResourceDefinition as Definition } from '../../../api/generated/kinds/apiextensions.v1beta1.js'
import type { KubeObject } from '../../../api/object.js'
import type { VersionConversion } from '../../generic/resource-rules.js'

const V1 = 'apiextensions.k8s.io/v1'
export const V1BETA1 = 'apiextensions.k8s.io/v1beta1'

type Tree = Record<string, unknown>

/** [of a version, of all of them] */
const SHARED = [
  ['subresources', 'subresources'],
  ['schema', 'validation'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
] as const

const isSet = (value: unknown): boolean => value !== undefined && value !== null

function columns(list: unknown, from: string, to: string): unknown {
  if (!Array.isArray(list)) return list
  return (list as Tree[]).map(({ [from]: path, ...rest }) => ({ ...rest, ...(isSet(path) ? { [to]: path } : {}) }))
}

function withColumns(holder: Tree, from: string, to: string): Tree {
  const { additionalPrinterColumns: list } = holder
  return isSet(list) ? { ...holder, additionalPrinterColumns: columns(list, from, to) } : holder
}

const versionsOf = (spec: Tree): Tree[] => (Array.isArray(spec['versions']) ? (spec['versions'] as Tree[]) : [])

function fromV1(object: KubeObject): KubeObject {
  const { conversion, preserveUnknownFields, ...rest } = (object['spec'] ?? {}) as Tree
  let versions = versionsOf(rest).map((version) => withColumns(version, 'jsonPath', 'JSONPath'))
  const shared: Tree = {}
  for (const [own, common] of SHARED) {
    const [first] = versions
    if (first === undefined || !versions.every((version) => isDeepStrictEqual(version[own], first[own]))) continue
    if (isSet(first[own])) shared[common] = first[own]
    versions = versions.map(({ [own]: _, ...version }) => version)
  }
  const spec: Tree = { ...rest, ...shared, preserveUnknownFields: preserveUnknownFields === true }
  if (versions.length > 0) Object.assign(spec, { version: versions[0]!['name'], versions })
  if (isSet(conversion)) spec['conversion'] = conversionFromV1(conversion as Tree)
  return { ...object, apiVersion: V1BETA1, spec } as KubeObject
}

function conversionFromV1({ webhook, ...rest }: Tree): Tree {
  const { clientConfig, conversionReviewVersions } = (webhook ?? {}) as Tree
  return {
    ...rest,
    ...(isSet(clientConfig) ? { webhookClientConfig: clientConfig } : {}),
    ...(isSet(conversionReviewVersions) ? { conversionReviewVersions } : {}),
  }
}

/** With the defaults of that version: a definition of long ago may say very little. */
function toV1(object: KubeObject): KubeObject {
  const given = withColumns((object['spec'] ?? {}) as Tree, 'JSONPath', 'jsonPath')
  const { version, versions: _, conversion, preserveUnknownFields, ...rest } = given
  let versions = versionsOf(given).map((one) => withColumns(one, 'JSONPath', 'jsonPath'))
  if (versions.length === 0 && isSet(version)) versions = [{ name: version, served: true, storage: true }]
  for (const [own, common] of SHARED) {
    const value = rest[common]
    delete rest[common]
    if (isSet(value)) versions = versions.map((one) => ({ ...one, [own]: value }))
  }
  const spec: Tree = { ...rest, versions, conversion: conversionToV1((conversion ?? {}) as Tree) }
  if (preserveUnknownFields !== false) spec['preserveUnknownFields'] = true
  return { ...object, apiVersion: V1, spec } as KubeObject
}

function conversionToV1({ strategy, webhookClientConfig, conversionReviewVersions }: Tree): Tree {
  if (strategy !== 'Webhook') return { strategy: strategy ?? 'None' }
  const webhook = {
    ...(isSet(webhookClientConfig) ? { clientConfig: webhookClientConfig } : {}),
    conversionReviewVersions: conversionReviewVersions ?? ['v1beta1'],
  }
  return { strategy, webhook }
}

export const definitionsV1beta1: VersionConversion<CustomResourceDefinition, Definition> = {
  toMemoryVersion: toV1,
  fromMemoryVersion: fromV1,
}
