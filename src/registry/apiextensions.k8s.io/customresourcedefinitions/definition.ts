/** Thread: any. Custom resource definitions, in the form in which what all versions have in common stands once. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceSubresources,
} from '../../../api/generated/kinds/apiextensions.v1beta1.js'
import type { JsonSchema } from '../../../apiextensions/schema/json-schema.js'

export const hasStatus = (subresources: CustomResourceSubresources | undefined): boolean =>
  subresources?.status !== undefined

/** All schemas of a definition with the places where they stand. */
export function schemasOf({ validation, versions }: CustomResourceDefinitionSpec): JsonSchema[] {
  return [validation, ...(versions ?? []).map(({ schema }) => schema)].flatMap(
    (holder) => holder?.openAPIV3Schema ?? [],
  )
}

export const isEstablished = (definition: CustomResourceDefinition): boolean =>
  (definition.status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True')
