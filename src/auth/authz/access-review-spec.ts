/** Thread: any. A question of authorization as the spec of a SubjectAccessReview: as a webhook is sent it, and as expressions see it. */
import { parseFieldSelector } from '../../api/fields.js'
import { parseLabelSelector } from '../../api/label-parser.js'
import { type LabelOperator, SelectorError } from '../../api/labels.js'
import type { JsonObject } from '../../api/object.js'
import type { Attributes } from '../interface.js'

/** In v1beta1 the groups are called `group`. */
export function reviewSpec(attributes: Attributes, version: 'v1' | 'v1beta1'): JsonObject {
  const { user, verb, path } = attributes
  const what: JsonObject = attributes.isResourceRequest
    ? { resourceAttributes: resourceAttributes(attributes) }
    : { nonResourceAttributes: { path, verb } }
  return {
    ...what,
    user: user.name,
    [version === 'v1' ? 'groups' : 'group']: [...user.groups],
    ...(Object.keys(user.extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(user.extra).map(([name, values]) => [name, [...values]])) }),
    ...(user.uid === '' ? {} : { uid: user.uid }),
  }
}

/** As match conditions see it, in v1: every field is there, so that an expression need not ask for it first. */
export function conditionRequest(attributes: Attributes): JsonObject {
  const { user, verb, path } = attributes
  return {
    ...(attributes.isResourceRequest
      ? { resourceAttributes: { ...plainAttributes(attributes), ...selectorAttributes(attributes) } }
      : { nonResourceAttributes: { path, verb } }),
    user: user.name,
    groups: [...user.groups],
    extra: Object.fromEntries(Object.entries(user.extra).map(([name, values]) => [name, [...values]])),
    uid: user.uid,
  }
}

const resourceAttributes = (attributes: Attributes): JsonObject => ({
  ...Object.fromEntries(Object.entries(plainAttributes(attributes)).filter(([, value]) => value !== '')),
  ...selectorAttributes(attributes),
})

const plainAttributes = (attributes: Attributes): Record<string, string> => ({
  namespace: attributes.namespace,
  verb: attributes.verb,
  group: attributes.apiGroup,
  version: attributes.apiVersion,
  resource: attributes.resource,
  subresource: attributes.subresource,
  name: attributes.name,
})

function selectorAttributes({ fieldSelector = '', labelSelector = '' }: Attributes): JsonObject {
  const fields = fieldRequirements(fieldSelector)
  const labels = labelRequirements(labelSelector)
  return {
    ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
    ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
  }
}

const LABEL_OPERATORS: Readonly<Partial<Record<LabelOperator, string>>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

/** A selector that cannot be read narrows nothing: the question is then broader than what is done, never narrower. */
function readable<T>(read: () => T[]): T[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof SelectorError) return []
    throw error
  }
}

const fieldRequirements = (text: string): JsonObject[] =>
  readable(() =>
    parseFieldSelector(text).requirements.map(({ field, operator, value }) => ({
      key: field,
      operator: operator === '=' ? 'In' : 'NotIn',
      values: [value],
    })),
  )

const labelRequirements = (text: string): JsonObject[] =>
  readable(() =>
    parseLabelSelector(text).requirements.flatMap(({ key, operator, values }) => {
      const name = LABEL_OPERATORS[operator]
      if (name === undefined) return []
      return [{ key, operator: name, ...(values.size === 0 ? {} : { values: values.list() }) }]
    }),
  )
