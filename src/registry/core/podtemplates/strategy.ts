/** Thread: pool. PodTemplates: a template that stands by itself. */

import { FieldPath } from '../../../api/field-error.js'
import type { PodTemplate } from '../../../api/generated/kinds/core.v1.js'
import { metadataOf, nextGeneration } from '../../../api/object.js'
import type { Errors } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { labelText, tableOf, text } from '../../generic/table-rules.js'
import { equalButEmptyLists } from '../pod-template/checks.js'
import { setTemplateDefaults } from '../pod-template/pod-defaults.js'
import { podTemplateErrors } from '../pod-template/pod-validation.js'
import { containerColumns, templateWarnings } from '../pod-template/workload.js'

const TEMPLATE = FieldPath.of('template')

const validate = (object: PodTemplate): Errors => podTemplateErrors(object.template, TEMPLATE)

function prepareForUpdate(object: PodTemplate, old: PodTemplate): void {
  if (!equalButEmptyLists(object.template, old.template))
    metadataOf(object).generation = nextGeneration(metadataOf(old))
}

export const podTemplateRules: ResourceRules<PodTemplate> = {
  podSpecAt: ['template', 'spec'],
  metadataOnUpdate: 'changes',
  returnDeletedObject: true,
  setDefaults: (whole) => {
    whole.template ??= {}
    setTemplateDefaults(whole.template)
  },
  prepareForCreate: (object) => {
    metadataOf(object).generation = 1
  },
  prepareForUpdate,
  validate,
  warningsOnCreate: (object) => templateWarnings(object.template, TEMPLATE),
  warningsOnUpdate: (object, old) =>
    metadataOf(object).generation === metadataOf(old).generation ? [] : templateWarnings(object.template, TEMPLATE),
  table: tableOf<PodTemplate>(
    ...containerColumns<PodTemplate>(({ template }) => template).map((column) => ({ ...column, priority: 0 })),
    text('Pod Labels', 'Labels of its pods.', ({ template }) => labelText(template?.metadata?.labels)),
  ),
}
