/** Thread: pool. References by group, kind and name, as backends and parameters have them. */
import type { FieldPath } from '../../api/field-error.js'
import { dnsSubdomain, type Errors, givenBy, pathSegment, requiredBy } from '../../api/validation/checks.js'

export interface TypedReference {
  /** A pointer that Go prints as null. */
  apiGroup?: string | null
  kind?: string
  name?: string
}

export const typedReferenceErrors = (reference: TypedReference, path: FieldPath): Errors => [
  ...givenBy(reference.apiGroup, path.child('apiGroup'), dnsSubdomain),
  ...requiredBy(reference.kind, path.child('kind'), pathSegment),
  ...requiredBy(reference.name, path.child('name'), pathSegment),
]
