/** Thread: any. Amounts of resources: their names, their signs, whether they are whole. */
import { type FieldPath, invalid } from '../field-error.js'
import { parseQuantity, type Quantity } from '../quantity.js'
import { type Errors, qualifiedName } from './checks.js'
import { isQualifiedName } from './names.js'

export type ResourceList = Readonly<Record<string, string>>

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const COUNTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const QUOTA = new Set([
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
  'requests.storage',
  ...COUNTS,
])
const isHugePages = (name: string): boolean => name.startsWith('hugepages-')

export const isQuotaResource = (name: string): boolean =>
  QUOTA.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')
const isStandardResource = (name: string): boolean => isQuotaResource(name) || name === 'storage'
const isContainerResource = (name: string): boolean => COMPUTE.includes(name) || isHugePages(name)
/** Without a domain, or with one of Kubernetes' own. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name)
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) && !name.startsWith('requests.') && isQualifiedName(`requests.${name}`).length === 0

export function resourceName(name: string, path: FieldPath): Errors {
  const errors = qualifiedName(name, path)
  if (errors.length > 0 || name.includes('/') || isStandardResource(name)) return errors
  return [invalid(path, name, 'must be a standard resource type or fully qualified')]
}

export function containerResourceName(name: string, path: FieldPath): Errors {
  const errors = resourceName(name, path)
  if (!name.includes('/'))
    return isContainerResource(name)
      ? errors
      : [...errors, invalid(path, name, 'must be a standard resource for containers')]
  if (isNativeResource(name) || isExtendedResource(name)) return errors
  return [...errors, invalid(path, name, "doesn't follow extended resource name standard")]
}

export function quotaResourceName(name: string, path: FieldPath): Errors {
  const errors = resourceName(name, path)
  if (name.includes('/') || isQuotaResource(name)) return errors
  return [...errors, invalid(path, name, 'must be a standard resource for quota')]
}

export const quantityOf = (text: string | undefined): Quantity =>
  parseQuantity(text === undefined || text === '' ? '0' : text)

export const nonnegativeQuantity = (text: string, path: FieldPath): Errors =>
  quantityOf(text).sign < 0 ? [invalid(path, text, 'must be greater than or equal to 0')] : []

export const positiveQuantity = (text: string, path: FieldPath): Errors =>
  quantityOf(text).sign <= 0 ? [invalid(path, text, 'must be greater than zero')] : []

/** Not negative, and whole where the resource is counted. */
export function resourceQuantity(name: string, text: string, path: FieldPath): Errors {
  const errors = nonnegativeQuantity(text, path)
  if ((COUNTS.includes(name) || isExtendedResource(name)) && quantityOf(text).milliValue() % 1000n !== 0n)
    errors.push(invalid(path, text, 'must be an integer'))
  return errors
}
