/** Thread: pool. LimitRanges: the least, the most and the usual amount of a resource in a namespace. */

import { randomUUID } from 'node:crypto'
import { duplicate, FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type { LimitRange, LimitRangeItem } from '../../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../../api/object.js'
import { type Errors, each, qualifiedName } from '../../../api/validation/checks.js'
import {
  containerResourceName,
  isOvercommitAllowed,
  quantityOf,
  resourceName,
} from '../../../api/validation/quantities.js'
import { ownMember } from '../../../lib/own-member.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { tableOf, text } from '../../generic/table-rules.js'

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim']
/** Beyond this the thousandths of an amount do not fit 64 bits. */
const MAX_MILLI_VALUE = (2n ** 63n - 1n) / 1000n
const FIELDS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

function setDefaults(object: LimitRange): void {
  for (const item of object.spec?.limits ?? []) {
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

/** Amounts are compared by their thousandths, rounded up, unless one of them is too large for that. */
function isRatioAbove(ratio: string, max: string, min: string): boolean {
  const amounts = [ratio, max, min].map(quantityOf)
  const byThousandths = amounts.every((amount) => amount.value() < MAX_MILLI_VALUE)
  const [r, most, least] = amounts.map((amount) => Number(byThousandths ? amount.milliValue() : amount.value()))
  return (byThousandths ? r! / 1000 : r!) > most! / least!
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
  const amount = (field: (typeof FIELDS)[number]): string | undefined => ownMember(item[field], name)
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
  if (ratio !== undefined && min !== undefined && max !== undefined && isRatioAbove(ratio, max, min))
    errors.push(invalid(ratioPath, ratio, `ratio ${ratio} is greater than max/min`))
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

function storageErrors({ type, min, max }: LimitRangeItem, at: FieldPath): Errors {
  if (type !== 'PersistentVolumeClaim' || min?.['storage'] !== undefined || max?.['storage'] !== undefined) return []
  return [required(at.child('limits'), 'either minimum or maximum storage value is required')]
}

function itemErrors(item: LimitRangeItem, at: FieldPath, types: Set<string>): Errors {
  const { type = '' } = item
  const nameRule = type === 'Pod' || type === 'Container' ? containerResourceName : resourceName
  const isPod = type === 'Pod'
  const errors = typeErrors(type, at.child('type'))
  if (types.has(type)) errors.push(duplicate(at.child('type'), type))
  types.add(type)
  const names = new Set<string>()
  for (const field of FIELDS) {
    if (field === 'maxLimitRequestRatio') errors.push(...storageErrors(item, at))
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
  const checked: LimitRangeItem = isPod ? { ...item, default: {}, defaultRequest: {} } : item
  return [...errors, ...[...names].flatMap((name) => orderErrors(checked, name, at))]
}

export const limitRangeRules: ResourceRules<LimitRange> = {
  allowCreateOnUpdate: true,
  metadataOnUpdate: 'new',
  setDefaults,
  // Nobody needs to name the only one of a namespace.
  prepareForCreate: (object) => {
    const metadata = metadataOf(object)
    if ((metadata.name ?? '') === '') metadata.name = randomUUID()
  },
  validate: (object) => {
    const types = new Set<string>()
    return each(object.spec?.limits, FieldPath.of('spec', 'limits'), (item, at) => itemErrors(item, at, types))
  },
  table: tableOf<LimitRange>(
    text('Created At', 'When it was made.', (object) => object.metadata?.creationTimestamp ?? null, { type: 'date' }),
  ),
}
