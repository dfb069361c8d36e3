/** Thread: pool. Pods and claims get the defaults of their namespace's limit ranges and stay within them. */

import type { Amounts } from '../../api/amounts.js'
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
} from '../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../api/object.js'
import { parseQuantity, type Quantity } from '../../api/quantity.js'
import type { ResourceList } from '../../api/scalar-types.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import { type AdmissionObjects, LIMIT_RANGES } from '../objects.js'
import { podAmounts } from './pod.js'

interface Asked {
  readonly requests: ReadonlyMap<string, Quantity>
  readonly limits: ReadonlyMap<string, Quantity>
}

const ANNOTATION = 'kubernetes.io/limit-ranger'

export class LimitRanger implements AdmissionPlugin<Pod | PersistentVolumeClaim> {
  readonly name = 'LimitRanger'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    if (resource.group !== '') return false
    // The containers of a pod that exists change through resize alone.
    if (resource.resource === 'pods')
      return subresource === '' ? operation === 'CREATE' : subresource === 'resize' && operation === 'UPDATE'
    return (
      resource.resource === 'persistentvolumeclaims' &&
      subresource === '' &&
      (operation === 'CREATE' || operation === 'UPDATE')
    )
  }

  admit(attributes: AdmissionAttributes<Pod>): Promise<void> | void {
    if (attributes.resource.resource !== 'pods' || isEnding(attributes)) return
    const ranges = this.#objects.list(LIMIT_RANGES, attributes.namespace)
    if (ranges instanceof Promise) return ranges.then((found) => setDefaults(attributes.object ?? {}, found))
    setDefaults(attributes.object ?? {}, ranges)
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    if (isEnding(attributes)) return
    const ranges = this.#objects.list(LIMIT_RANGES, attributes.namespace)
    if (ranges instanceof Promise) return ranges.then((found) => refuseOutside(attributes, found))
    refuseOutside(attributes, ranges)
  }
}

/** An object that is being deleted may still be written, whatever the limits are by now. */
const isEnding = ({ oldObject }: AdmissionAttributes): boolean => oldObject?.metadata?.deletionTimestamp !== undefined

function setDefaults(pod: Pod, ranges: readonly LimitRange[]): void {
  for (const range of ranges) {
    const requests: ResourceList = {}
    const limits: ResourceList = {}
    for (const item of range.spec?.limits ?? []) {
      if (item.type !== 'Container') continue
      Object.assign(requests, item.defaultRequest)
      Object.assign(limits, item.default)
    }
    const notes: string[] = []
    for (const container of pod.spec?.containers ?? []) fill(container, 'container', { requests, limits }, notes)
    for (const container of pod.spec?.initContainers ?? [])
      fill(container, 'init container', { requests, limits }, notes)
    if (notes.length === 0) continue
    const metadata = metadataOf(pod)
    metadata.annotations = { ...metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}` }
  }
}

function fill(
  container: Container,
  what: string,
  defaults: { requests: ResourceList; limits: ResourceList },
  notes: string[],
): void {
  for (const side of ['requests', 'limits'] as const) {
    const given = container.resources?.[side] ?? {}
    const missing = Object.entries(defaults[side]).filter(([name]) => given[name] === undefined)
    if (missing.length === 0) continue
    container.resources = { ...container.resources, [side]: { ...given, ...Object.fromEntries(missing) } }
    const names = missing.map(([name]) => name).sort()
    notes.push(`${names.join(', ')} ${side === 'requests' ? 'request' : 'limit'} for ${what} ${container.name}`)
  }
}

function refuseOutside(attributes: AdmissionAttributes, ranges: readonly LimitRange[]): void {
  const { object = {}, resource } = attributes
  const isPod = resource.resource === 'pods'
  for (const range of ranges) {
    const problems = (range.spec?.limits ?? []).flatMap((item) =>
      isPod ? podProblems(item, object) : claimProblems(item, object),
    )
    if (problems.length > 0)
      throw forbid(attributes, problems.length === 1 ? problems[0]! : `[${[...new Set(problems)].join(', ')}]`)
  }
}

function podProblems(item: LimitRangeItem, { spec = {} }: Pod): string[] {
  if (item.type === 'Container') {
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      problemsOf(item, { requests: amounts(resources?.requests), limits: amounts(resources?.limits) }),
    )
  }
  if (item.type !== 'Pod') return []
  return problemsOf(item, { requests: podAmounts(spec, 'requests'), limits: podAmounts(spec, 'limits') })
}

const amounts = (list: ResourceList | undefined): Amounts =>
  new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]))

const entries = (list: ResourceList | undefined): [string, Quantity][] =>
  Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)])

function problemsOf(item: LimitRangeItem, asked: Asked): string[] {
  const type = item.type!
  return [
    ...entries(item.min).map(([name, least]) => belowMinimum(type, name, least, asked)),
    ...entries(item.max).map(([name, most]) => aboveMaximum(type, name, most, asked)),
    ...entries(item.maxLimitRequestRatio).map(([name, ratio]) => aboveRatio(type, name, ratio, asked)),
  ].filter((problem): problem is string => problem !== undefined)
}

function belowMinimum(type: string, name: string, least: Quantity, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name)
  const limit = limits.get(name)
  const rule = `minimum ${name} usage per ${type} is ${least}`
  if (request === undefined) return `${rule}.  No request is specified`
  if (request.compare(least) < 0) return `${rule}, but request is ${request}`
  if (limit !== undefined && limit.compare(least) < 0) return `${rule}, but limit is ${limit}`
  return undefined
}

function aboveMaximum(type: string, name: string, most: Quantity, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name)
  const limit = limits.get(name)
  const rule = `maximum ${name} usage per ${type} is ${most}`
  if (limit === undefined) return `${rule}.  No limit is specified`
  if (limit.compare(most) > 0) return `${rule}, but limit is ${limit}`
  if (request !== undefined && request.compare(most) > 0) return `${rule}, but request is ${request}`
  return undefined
}

function aboveRatio(type: string, name: string, most: Quantity, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name)
  const limit = limits.get(name)
  const rule = `${name} max limit to request ratio per ${type} is ${most}`
  if (request === undefined || request.sign === 0) return `${rule}, but no request is specified or request is 0`
  if (limit === undefined || limit.sign === 0) return `${rule}, but no limit is specified or limit is 0`
  const ratio = Number(limit.milliValue()) / Number(request.milliValue())
  return ratio > most.toNumber() ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}

/** The problems of a claim, of which only the requests count. */
function claimProblems(item: LimitRangeItem, { spec }: PersistentVolumeClaim): string[] {
  if (item.type !== 'PersistentVolumeClaim') return []
  const requests = amounts(spec?.resources?.requests)
  const low = entries(item.min).map(([name, least]) =>
    belowMinimum(item.type!, name, least, { requests, limits: new Map() }),
  )
  // The request of a claim stands for the limit, which a claim cannot have.
  const high = entries(item.max).map(([name, most]) => {
    const request = requests.get(name)
    const rule = `maximum ${name} usage per ${item.type} is ${most}`
    if (request === undefined) return `${rule}.  No request is specified`
    return request.compare(most) > 0 ? `${rule}, but request is ${request}` : undefined
  })
  return [...low, ...high].filter((problem): problem is string => problem !== undefined)
}
