/** Thread: pool. RuntimeClasses: a handler of containers, what it costs, and the nodes that have it. */
import { FieldPath } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
import { dnsLabel, type Errors, immutable, type List, requiredBy } from '../../../api/validation/checks.js'
import { duplicateTolerations, type Toleration, tolerationErrors } from '../../../api/validation/node-selectors.js'
import { validateLabels } from '../../../api/validation/object-meta.js'
import { containerResourceName, type ResourceList, resourceQuantity } from '../../../api/validation/quantities.js'
import { nodeLabelWarnings } from '../../core/node-labels.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

interface RuntimeClass extends KubeObject {
  handler?: string
  overhead?: { podFixed?: ResourceList }
  scheduling?: { nodeSelector?: Record<string, string>; tolerations?: List<Toleration> }
}

const HANDLER = FieldPath.of('handler')
const SCHEDULING = FieldPath.of('scheduling')
/** Overhead is checked as the limits of a container are, and so named. */
const OVERHEAD = FieldPath.of('overhead', 'limits')

function validate(object: KubeObject): Errors {
  const { handler, overhead, scheduling } = object as RuntimeClass
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

const warnings = (object: KubeObject): string[] =>
  Object.keys((object as RuntimeClass).scheduling?.nodeSelector ?? {}).flatMap((key) =>
    nodeLabelWarnings(key, SCHEDULING.child('nodeSelector')),
  )

export const runtimeClassRules: ResourceRules = {
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
