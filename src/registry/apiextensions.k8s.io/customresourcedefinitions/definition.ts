/** Thread: any. Custom resource definitions, in the form in which what all versions have in common stands once. */
import type { KubeObject } from '../../../api/object.js'
import type { List } from '../../../api/validation/checks.js'
import type { WebhookClientConfig } from '../../../api/validation/webhook-client.js'
import type { JsonSchema } from './json-schema.js'

export interface Names {
  plural?: string
  singular?: string
  kind?: string
  listKind?: string
  shortNames?: List<string>
  categories?: List<string>
}

export interface Column {
  name?: string
  type?: string
  format?: string
  JSONPath?: string
}

export interface Subresources {
  status?: object | null
  scale?: { specReplicasPath?: string; statusReplicasPath?: string; labelSelectorPath?: string | null } | null
}

/** What a version says for itself or all say alike. */
export interface VersionParts {
  subresources?: Subresources | null
  additionalPrinterColumns?: List<Column>
  selectableFields?: List<{ jsonPath?: string }>
}

export interface Version extends VersionParts {
  name?: string
  served?: boolean
  storage?: boolean
  deprecated?: boolean
  deprecationWarning?: string | null
  schema?: { openAPIV3Schema?: JsonSchema | null } | null
}

export interface Spec extends VersionParts {
  group?: string
  scope?: string
  names?: Names
  versions?: List<Version>
  validation?: { openAPIV3Schema?: JsonSchema | null } | null
  preserveUnknownFields?: boolean
  conversion?: {
    strategy?: string
    webhookClientConfig?: WebhookClientConfig | null
    conversionReviewVersions?: List<string>
  } | null
}

export interface Condition {
  type?: string
  status?: string
}

export interface Definition extends KubeObject {
  spec?: Spec
  status?: { acceptedNames?: Names; conditions?: List<Condition>; storedVersions?: List<string> }
}

export const hasStatus = (subresources: Subresources | null | undefined): boolean =>
  subresources?.status !== undefined && subresources.status !== null

/** All schemas of a definition with the places where they stand. */
export function schemasOf({ validation, versions }: Spec): JsonSchema[] {
  return [validation, ...(versions ?? []).map(({ schema }) => schema)].flatMap(
    (holder) => holder?.openAPIV3Schema ?? [],
  )
}

export const isEstablished = (definition: Definition): boolean =>
  (definition.status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True')
