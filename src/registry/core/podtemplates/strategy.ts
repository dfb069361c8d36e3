/** Thread: pool. PodTemplates: a template that stands by itself. */
import { FieldPath } from '../../../api/field-error.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import type { Errors } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { labelText, tableOf, text } from '../../generic/table-rules.js'
import { sameValue } from '../pod-template/checks.js'
import { setTemplateDefaults } from '../pod-template/pod-defaults.js'
import type { PodTemplateSpec } from '../pod-template/pod-spec.js'
import { podTemplateErrors } from '../pod-template/pod-validation.js'
import { containerColumns, templateWarnings } from '../pod-template/workload.js'

interface PodTemplate extends KubeObject {
  template?: PodTemplateSpec
}

const TEMPLATE = FieldPath.of('template')

const validate = (object: KubeObject): Errors => podTemplateErrors((object as PodTemplate).template, TEMPLATE)

function prepareForUpdate(object: KubeObject, old: KubeObject): void {
  if (!sameValue((object as PodTemplate).template, (old as PodTemplate).template))
    metadataOf(object).generation = (metadataOf(old).generation ?? 0) + 1
}

export const podTemplateRules: ResourceRules = {
  podSpecAt: ['template', 'spec'],
  metadataOnUpdate: 'changes',
  returnDeletedObject: true,
  setDefaults: (object) => {
    const whole = object as PodTemplate
    whole.template ??= {}
    setTemplateDefaults(whole.template)
  },
  prepareForCreate: (object) => {
    metadataOf(object).generation = 1
  },
  prepareForUpdate,
  validate,
  warningsOnCreate: (object) => templateWarnings((object as PodTemplate).template, TEMPLATE),
  warningsOnUpdate: (object, old) =>
    metadataOf(object).generation === metadataOf(old).generation
      ? []
      : templateWarnings((object as PodTemplate).template, TEMPLATE),
  table: tableOf<PodTemplate>(
    ...containerColumns<PodTemplate>(({ template }) => template).map((column) => ({ ...column, priority: 0 })),
    text('Pod Labels', 'Labels of its pods.', ({ template }) => labelText(template?.metadata?.labels)),
  ),
}
