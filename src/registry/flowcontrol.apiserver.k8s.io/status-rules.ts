/** Thread: pool. The status of both kinds: conditions, each once. Its endpoint leaves all metadata alone, but for who owns what. */
import { duplicate, FieldPath } from '../../api/field-error.js'
import type { KubeObject } from '../../api/object.js'
import { type Errors, each, type List, requiredBy } from '../../api/validation/checks.js'
import type { UpdateRules } from '../generic/resource-rules.js'

export interface Conditions {
  conditions?: List<{ type?: string; status?: string }>
}

const CONDITIONS = FieldPath.of('status', 'conditions')

export const flowControlStatusRules: UpdateRules = {
  resetFields: [['metadata'], ['spec']],
  prepareForUpdate: keepAllMetadata,
  validateUpdate: (object) => conditionErrors((object['status'] ?? {}) as Conditions),
}

function keepAllMetadata(object: KubeObject, old: KubeObject): void {
  const managedFields = object.metadata?.managedFields
  const resourceVersion = object.metadata?.resourceVersion
  object.metadata = { ...structuredClone(old.metadata) }
  if (managedFields !== undefined) object.metadata.managedFields = managedFields
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
}

function conditionErrors({ conditions }: Conditions): Errors {
  const seen = new Set<string>()
  return each(conditions, CONDITIONS, ({ type = '' }, at) => {
    const errors = seen.has(type) ? [duplicate(at.child('type'), type)] : []
    seen.add(type)
    return [...errors, ...requiredBy(type, at.child('type'))]
  })
}
