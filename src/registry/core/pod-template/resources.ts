/** Thread: any. Requests and limits: names of resources, amounts, claims; defaults and rules. */

import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from '../../../api/field-error.js'
import type { ResourceClaim, ResourceRequirements } from '../../../api/generated/kinds/core.v1.js'
import { parseQuantity, Quantity, QuantityError } from '../../../api/quantity.js'
import type { ResourceList } from '../../../api/scalar-types.js'
import { dnsLabel, type Errors } from '../../../api/validation/checks.js'
import { isQualifiedName } from '../../../api/validation/names.js'

const HUGE_PAGES = 'hugepages-'
const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])
const COUNTED: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])
const STANDARD: ReadonlySet<string> = new Set([
  ...CONTAINER_RESOURCES,
  ...[...CONTAINER_RESOURCES].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...COUNTED,
  'storage',
  'requests.storage',
])

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES)
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && isQualifiedName(`requests.${name}`).length === 0
const isInteger = (name: string): boolean => (COUNTED.has(name) && name !== 'resourcequotas') || isExtended(name)
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name)
export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)

/** Amounts finer than a thousandth are rounded up. */
export function setResourceListDefaults(list: ResourceList | undefined): void {
  for (const [name, amount] of Object.entries(list ?? {})) {
    if (!/[nu]$/.test(amount)) continue
    const quantity = parseQuantity(amount)
    list![name] = Quantity.ofMilli(quantity.milliValue(), quantity.format).toString()
  }
}

export function setResourceDefaults(resources: ResourceRequirements | undefined): void {
  setResourceListDefaults(resources?.limits)
  setResourceListDefaults(resources?.requests)
}

function resourceNameErrors(name: string, path: FieldPath): Errors {
  const reasons = isQualifiedName(name)
  if (reasons.length > 0) return reasons.map((reason) => invalid(path, name, reason))
  const known = name.includes('/') || STANDARD.has(name) || /^(requests\.)?hugepages-/.test(name)
  return known ? [] : [invalid(path, name, 'must be a standard resource type or fully qualified')]
}

export function containerResourceNameErrors(name: string, path: FieldPath): Errors {
  const errors = resourceNameErrors(name, path)
  if (!name.includes('/')) {
    if (!CONTAINER_RESOURCES.has(name) && !isHugePages(name))
      errors.push(invalid(path, name, 'must be a standard resource for containers'))
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"))
  }
  return errors
}

export function podResourceNameErrors(name: string, path: FieldPath): Errors {
  const errors = resourceNameErrors(name, path)
  if (errors.length > 0 || isPodLevelResource(name)) return errors
  return [notSupported(path, name, ['cpu', 'memory', HUGE_PAGES])]
}

export function amountErrors(name: string, amount: Quantity, path: FieldPath): Errors {
  const errors: FieldError[] = []
  if (amount.sign < 0) errors.push(invalid(path, amount.toString(), 'must be greater than or equal to 0'))
  if (isInteger(name) && amount.milliValue() % 1000n !== 0n)
    errors.push(invalid(path, amount.toString(), 'must be an integer'))
  return errors
}

/** hugepages-2Mi comes in pages of 2 MiB. */
function hugePageErrors(name: string, amount: Quantity, path: FieldPath): Errors {
  if (!isHugePages(name)) return []
  const page = pageSize(name)
  if (page !== undefined && page.sign > 0 && page.milliValue() % 1000n === 0n && amount.value() % page.value() === 0n)
    return []
  return [invalid(path, amount.toString(), `is not positive integer multiple of ${name}`)]
}

function pageSize(name: string): Quantity | undefined {
  try {
    return parseQuantity(name.slice(HUGE_PAGES.length))
  } catch (error) {
    if (error instanceof QuantityError) return undefined
    throw error
  }
}

export function resourceErrors(
  requirements: ResourceRequirements | undefined,
  nameErrors: (name: string, path: FieldPath) => Errors,
  podClaims: ReadonlySet<string>,
  path: FieldPath,
): Errors {
  const { limits = {}, requests = {}, claims = [] } = requirements ?? {}
  const errors: FieldError[] = []
  const each = (list: ResourceList, at: FieldPath, more?: (name: string, amount: Quantity) => void): void => {
    for (const [name, text] of Object.entries(list)) {
      const amount = parseQuantity(text)
      const key = at.key(name)
      errors.push(...nameErrors(name, key), ...amountErrors(name, amount, key), ...hugePageErrors(name, amount, key))
      more?.(name, amount)
    }
  }
  each(limits, path.child('limits'))
  each(requests, path.child('requests'), (name, amount) => errors.push(...withinLimit(name, amount, limits, path)))
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    errors.push(forbidden(path, 'HugePages require cpu or memory'))
  errors.push(...claimErrors(claims, podClaims, path.child('claims')))
  return errors
}

function withinLimit(name: string, amount: Quantity, limits: ResourceList, path: FieldPath): Errors {
  const overcommit = isOvercommitAllowed(name)
  if (!Object.hasOwn(limits, name))
    return overcommit ? [] : [required(path.child('limits'), 'Limit must be set for non overcommitable resources')]
  const order = amount.compare(parseQuantity(limits[name]!))
  const at = path.child('requests')
  if (order !== 0 && !overcommit)
    return [invalid(at, amount.toString(), `must be equal to ${name} limit of ${limits[name]}`)]
  return order > 0
    ? [invalid(at, amount.toString(), `must be less than or equal to ${name} limit of ${limits[name]}`)]
    : []
}

function claimErrors(claims: readonly ResourceClaim[], podClaims: ReadonlySet<string>, path: FieldPath): Errors {
  const seen = new Set<string>()
  /** How many requests of a claim were named. */
  const requests = new Map<string, number>()
  return claims.flatMap(({ name = '', request = '' }, i) => {
    const at = path.index(i)
    if (name === '') return [required(at)]
    const errors: Errors = []
    if (seen.has(name)) errors.push(duplicate(at, name))
    else {
      const key = request === '' ? name : `${name}/${request}`
      if (request !== '') errors.push(...dnsLabel(request, at.child('request')))
      if (seen.has(key)) errors.push(duplicate(at, key))
      else if (request === '') for (let n = requests.get(name) ?? 0; n > 0; n--) errors.push(duplicate(at, name))
      else requests.set(name, (requests.get(name) ?? 0) + 1)
      seen.add(key)
    }
    if (!podClaims.has(name)) errors.push(notFound(at, name))
    return errors
  })
}
