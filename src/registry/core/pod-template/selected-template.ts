/** Thread: any. Templates of controllers: what the selector and the kind of controller ask of them. */

import { type FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { PodTemplateSpec } from '../../../api/generated/kinds/core.v1.js'
import { type LabelSelectorObject, labelSelectorAsSelector } from '../../../api/label-selector-object.js'
import { SelectorError } from '../../../api/labels.js'
import { MapAttributes, type Selector } from '../../../api/selector.js'
import type { Errors } from '../../../api/validation/checks.js'
import { isEmptySelector, labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { podTemplateErrors } from './pod-validation.js'

/** Undefined when it cannot be understood. */
function selectorOf(object: LabelSelectorObject | null | undefined): Selector | undefined {
  try {
    return labelSelectorAsSelector(object)
  } catch (error) {
    if (error instanceof SelectorError) return undefined
    throw error
  }
}

/** True, too, for a selector that cannot be understood: that is said elsewhere. */
export const selectorMatches = (
  selector: LabelSelectorObject | null | undefined,
  labels: Record<string, string> | undefined,
): boolean => selectorOf(selector)?.matches(new MapAttributes(labels)) ?? true

/** Whether a template can be held against it. */
export const isSelectorSound = (selector: LabelSelectorObject | null | undefined): boolean =>
  selectorOf(selector) !== undefined

/** A selector that must be there, say something and be understood. */
export function requiredSelectorErrors(selector: LabelSelectorObject | null | undefined, path: FieldPath): Errors {
  if (selector === undefined || selector === null) return [required(path)]
  return [
    ...labelSelectorErrors(selector, path),
    ...(isEmptySelector(selector) ? [invalid(path, selector, 'an empty selector is invalid here')] : []),
    ...(selectorOf(selector) === undefined ? [invalid(path, selector, 'invalid label selector')] : []),
  ]
}

export function labelMismatchErrors(
  template: PodTemplateSpec | undefined,
  selector: LabelSelectorObject | null | undefined,
  path: FieldPath,
): Errors {
  const labels = template?.metadata?.labels
  return selectorMatches(selector, labels)
    ? []
    : [invalid(path.child('metadata', 'labels'), labels ?? null, '`selector` does not match template `labels`')]
}

/** Pods of controllers that keep them running for ever. */
export function alwaysRunningErrors(template: PodTemplateSpec | undefined, path: FieldPath): Errors {
  const { restartPolicy = '', activeDeadlineSeconds } = template?.spec ?? {}
  return [
    ...(restartPolicy === 'Always'
      ? []
      : [notSupported(path.child('spec', 'restartPolicy'), restartPolicy, ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [forbidden(path.child('spec', 'activeDeadlineSeconds'), 'activeDeadlineSeconds is not supported here')]),
  ]
}

/** The template of a ReplicaSet or a Deployment: not looked at while the selector is not understood. */
export function selectedTemplateErrors(
  template: PodTemplateSpec | undefined,
  selector: LabelSelectorObject | null | undefined,
  path: FieldPath,
): Errors {
  if (selectorOf(selector) === undefined) return []
  return [
    ...labelMismatchErrors(template, selector, path),
    ...podTemplateErrors(template, path),
    ...alwaysRunningErrors(template, path),
  ]
}
