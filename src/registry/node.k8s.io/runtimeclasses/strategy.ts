/** Thread: pool. RuntimeClasses: a handler of containers, what it costs, and the nodes that have it. */
import { FieldPath } from '../../../api/field-error.js'
import type { RuntimeClass } from '../../../api/generated/kinds/node.v1.js'
import { dnsLabel, type Errors, immutable, requiredBy } from '../../../api/validation/checks.js'
import { duplicateTolerations, tolerationErrors } from '../../../api/validation/node-selectors.js'
import { validateLabels } from '../../../api/validation/object-meta.js'
import { containerResourceName, resourceQuantity } from '../../../api/validation/quantities.js'
import { nodeLabelWarnings } from '../../core/node-labels.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const HANDLER = FieldPath.of('handler')
const SCHEDULING = FieldPath.of('scheduling')
/** Overhead is checked as the limits of a container are, and so named. */
const OVERHEAD = FieldPath.of('overhead', 'limits')

function validate(object: RuntimeClass): Errors {
  const { handler, overhead, scheduling } = object
  return [
    ...requiredBy(handler, HANDLER, dnsLabel),
    ...Object.entries(overhead?.podFixed ?? {}).flatMap(([name, amount]) => [
      ...containerResourceName(name, OVERHEAD.key(name)),
      ...resourceQuantity(name, amount, OVERHEAD.key(name)),
    ]),
    ...validateLabels(scheduling?.nodeSelector, SCHEDULING.child('nodeSelector')),
    ...tolerationErrors(scheduling?.tolerations, SCHEDULING.child('tolerations')),
    ...duplicateTolerations(scheduling?.tolerations, SCHEDULING.child('tolerations')),
  ]
}

const warnings = (object: RuntimeClass): string[] =>
  Object.keys(object.scheduling?.nodeSelector ?? {}).flatMap((key) =>
    nodeLabelWarnings(key, SCHEDULING.child('nodeSelector')),
  )

export const runtimeClassRules: ResourceRules<RuntimeClass> = {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate,
  validateUpdate: (object, old) => [...validate(object), ...immutable(object['handler'], old['handler'], HANDLER)],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  table: tableOf<RuntimeClass>(
    text('Handler', 'What runs its containers.', ({ handler }) => handler ?? ''),
    age(),
  ),
}
