/** Thread: pool. LimitRanges: the least, the most and the usual amount of a resource in a namespace. */
import { duplicate, FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
import { type Errors, each, type List, qualifiedName } from '../../../api/validation/checks.js'
import {
  containerResourceName,
  isOvercommitAllowed,
  quantityOf,
  type ResourceList,
  resourceName,
} from '../../../api/validation/quantities.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { tableOf, text } from '../../generic/table-rules.js'

interface LimitRangeItem {
  type?: string
  max?: ResourceList
  min?: ResourceList
  default?: ResourceList
  defaultRequest?: ResourceList
  maxLimitRequestRatio?: ResourceList
}

interface LimitRange extends KubeObject {
  spec?: { limits?: List<LimitRangeItem> }
}

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim']
const FIELDS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

function setDefaults(object: KubeObject): void {
  for (const item of (object as LimitRange).spec?.limits ?? []) {
    if (item.type !== 'Container') continue
    item.default = { ...item.max, ...item.default }
    item.defaultRequest = { ...item.min, ...item.default, ...item.defaultRequest }
  }
}

function typeErrors(type: string, path: FieldPath): Errors {
  const errors = qualifiedName(type, path)
  if (errors.length > 0 || type.includes('/') || TYPES.includes(type)) return errors
  return [invalid(path, type, 'must be a standard limit type or fully qualified')]
}

/** [wrong when this, is greater than this, said at]. */
const ORDER = [
  ['min', 'max', 'min'],
  ['min', 'defaultRequest', 'defaultRequest'],
  ['defaultRequest', 'max', 'defaultRequest'],
  ['defaultRequest', 'default', 'defaultRequest'],
  ['min', 'default', 'default'],
  ['default', 'max', 'default'],
] as const

function orderErrors(item: LimitRangeItem, name: string, at: FieldPath): Errors {
  const amount = (field: (typeof FIELDS)[number]): string | undefined => item[field]?.[name]
  const errors: Errors = []
  for (const [lower, upper, where] of ORDER) {
    const [low, high] = [amount(lower), amount(upper)]
    if (low !== undefined && high !== undefined && quantityOf(low).compare(quantityOf(high)) > 0)
      errors.push(
        invalid(at.child(where).key(name), low, `${lower} value ${low} is greater than ${upper} value ${high}`),
      )
  }
  const ratio = amount('maxLimitRequestRatio')
  const ratioPath = at.child('maxLimitRequestRatio').key(name)
  if (ratio !== undefined && quantityOf(ratio).compare(quantityOf('1')) < 0)
    errors.push(invalid(ratioPath, ratio, `ratio ${ratio} is less than 1`))
  const [min, max] = [amount('min'), amount('max')]
  if (ratio !== undefined && min !== undefined && max !== undefined) {
    if (quantityOf(ratio).toNumber() > quantityOf(max).toNumber() / quantityOf(min).toNumber())
      errors.push(invalid(ratioPath, ratio, `ratio ${ratio} is greater than max/min`))
  }
  const [limit, request] = [amount('default'), amount('defaultRequest')]
  if (
    !isOvercommitAllowed(name) &&
    limit !== undefined &&
    request !== undefined &&
    !quantityOf(limit).equals(quantityOf(request))
  )
    errors.push(invalid(at.child('defaultRequest').key(name), request, `must equal default value ${limit}`))
  return errors
}

function itemErrors(item: LimitRangeItem, at: FieldPath): Errors {
  const { type = '' } = item
  const nameRule = type === 'Pod' || type === 'Container' ? containerResourceName : resourceName
  const isPod = type === 'Pod'
  const errors = typeErrors(type, at.child('type'))
  const names = new Set<string>()
  for (const field of FIELDS) {
    const amounts = Object.keys(item[field] ?? {})
    if (isPod && (field === 'default' || field === 'defaultRequest')) {
      if (amounts.length > 0) errors.push(forbidden(at.child(field), "may not be specified when `type` is 'Pod'"))
      continue
    }
    for (const name of amounts) {
      names.add(name)
      errors.push(...nameRule(name, at.child(field).key(name)))
    }
  }
  if (type === 'PersistentVolumeClaim' && item.min?.['storage'] === undefined && item.max?.['storage'] === undefined)
    errors.push(required(at.child('limits'), 'either minimum or maximum storage value is required'))
  const checked: LimitRangeItem = isPod ? { ...item, default: {}, defaultRequest: {} } : item
  return [...errors, ...[...names].flatMap((name) => orderErrors(checked, name, at))]
}

export const limitRangeRules: ResourceRules = {
  setDefaults,
  validate: (object) => {
    const types = new Set<string>()
    return each((object as LimitRange).spec?.limits, FieldPath.of('spec', 'limits'), (item, at) => {
      const { type = '' } = item
      const doubled = types.has(type) ? [duplicate(at.child('type'), type)] : []
      types.add(type)
      return [...itemErrors(item, at), ...doubled]
    })
  },
  table: tableOf<LimitRange>(
    text('Created At', 'When it was made.', (object) => object.metadata?.creationTimestamp ?? null, { type: 'date' }),
  ),
}
