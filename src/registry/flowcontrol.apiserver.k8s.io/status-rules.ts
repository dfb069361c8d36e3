/** Thread: pool. The status of both kinds: conditions, each once. Its endpoint leaves all metadata alone, but for who owns what. */
import { duplicate, FieldPath } from '../../api/field-error.js'
import type {
  FlowSchema,
  FlowSchemaCondition,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationCondition,
} from '../../api/generated/kinds/flowcontrol.v1.js'
import { type Errors, each, type List, requiredBy } from '../../api/validation/checks.js'
import type { UpdateRules } from '../generic/resource-rules.js'

type Kind = FlowSchema | PriorityLevelConfiguration

const CONDITIONS = FieldPath.of('status', 'conditions')

export const flowControlStatusRules: UpdateRules<Kind> = {
  resetFields: [['metadata'], ['spec']],
  prepareForUpdate: keepAllMetadata,
  validateUpdate: (object) => conditionErrors(object.status?.conditions),
}

function keepAllMetadata(object: Kind, old: Kind): void {
  const managedFields = object.metadata?.managedFields
  const resourceVersion = object.metadata?.resourceVersion
  object.metadata = { ...structuredClone(old.metadata) }
  if (managedFields !== undefined) object.metadata.managedFields = managedFields
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
}

function conditionErrors(conditions: List<FlowSchemaCondition | PriorityLevelConfigurationCondition>): Errors {
  const seen = new Set<string>()
  return each(conditions, CONDITIONS, ({ type = '' }, at) => {
    const errors = seen.has(type) ? [duplicate(at.child('type'), type)] : []
    seen.add(type)
    return [...errors, ...requiredBy(type, at.child('type'))]
  })
}
