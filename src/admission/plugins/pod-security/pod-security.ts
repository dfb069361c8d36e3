/** Thread: pool. Pods obey the level that their namespace's labels set; workloads are told what their pods would lack. */
import type { Pod } from '../../../api/generated/kinds/core.v1.js'
import { type JsonObject, metadataOf } from '../../../api/object.js'
import { newInternalError, newInvalid } from '../../../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../../chain.js'
import { forbid } from '../../forbid.js'
import { type AdmissionObjects, NAMESPACES, PODS } from '../../objects.js'
import { type AnyContainer, hasPodTemplate, type PodParts, podTemplateOf } from '../pod.js'
import { type PodSecurityConfiguration, podSecurityConfiguration } from './configuration.js'
import { evaluate, violationDetails, violationReasons } from './evaluate.js'
import {
  compareLevels,
  formatLevel,
  isPrivileged,
  type LevelVersion,
  levelLabel,
  MODES,
  type Policy,
  policyOf,
  versionLabel,
} from './policy.js'

const ANNOTATION = 'pod-security.kubernetes.io/'
/** Subresources that leave the pod's spec alone. */
const IGNORED: ReadonlySet<string> = new Set([
  'exec',
  'attach',
  'binding',
  'eviction',
  'log',
  'portforward',
  'proxy',
  'status',
])
/** The most pods that are looked at in a namespace whose level is raised. */
const MAX_PODS = 3_000

export class PodSecurity implements AdmissionPlugin {
  readonly name = 'PodSecurity'
  readonly #objects: AdmissionObjects
  readonly #config: PodSecurityConfiguration

  constructor(objects: AdmissionObjects, config: JsonObject = {}) {
    this.#objects = objects
    this.#config = podSecurityConfiguration(config)
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    if (operation !== 'CREATE' && operation !== 'UPDATE') return false
    if (resource.group === '' && resource.resource === 'pods') return !IGNORED.has(subresource)
    if (subresource !== '') return false
    return (resource.group === '' && resource.resource === 'namespaces') || hasPodTemplate(resource)
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    const { resource } = attributes.resource
    if (resource === 'namespaces') return this.#namespace(attributes)
    const { exemptNamespaces, exemptUsers } = this.#config
    const exempt = exemptNamespaces.has(attributes.namespace)
      ? 'namespace'
      : exemptUsers.has(attributes.user.name)
        ? 'user'
        : undefined
    if (exempt !== undefined) attributes.addAnnotation(`${ANNOTATION}exempt`, exempt)
    else return this.#pod(attributes, resource === 'pods')
  }

  async #pod(attributes: AdmissionAttributes, isPod: boolean): Promise<void> {
    const { namespace, object = {}, oldObject }: AdmissionAttributes<Pod> = attributes
    const found =
      (await this.#objects.get(NAMESPACES, '', namespace)) ?? (await this.#objects.getLive(NAMESPACES, '', namespace))
    if (found === undefined) {
      if (isPod) throw newInternalError(`failed to lookup namespace ${JSON.stringify(namespace)}`)
      return
    }
    const { policy, errors } = policyOf(metadataOf(found).labels ?? {}, this.#config.defaults)
    if (errors.length > 0) attributes.addAnnotation(`${ANNOTATION}error`, `Failed to parse policy: ${errors.length}`)
    else if (isPrivileged(policy)) return
    if (!isPod && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return
    if (isPod && oldObject !== undefined && !bringsImage(object, oldObject)) return
    const pod = isPod
      ? { metadata: metadataOf(object), spec: object.spec ?? {} }
      : podTemplateOf(attributes.resource, object)
    if (pod !== undefined) this.#evaluate(attributes, pod, policy, isPod)
  }

  #evaluate(attributes: AdmissionAttributes, pod: PodParts, policy: Policy, enforced: boolean): void {
    if (this.#config.exemptRuntimeClasses.has(pod.spec.runtimeClassName ?? '')) {
      attributes.addAnnotation(`${ANNOTATION}exempt`, 'runtimeClass')
      return
    }
    const { enforce, audit, warn } = policy
    const noted = evaluate(audit, pod)
    if (noted.length > 0)
      attributes.addAnnotation(
        `${ANNOTATION}audit-violations`,
        `would violate PodSecurity "${formatLevel(audit)}": ${violationDetails(noted)}`,
      )
    if (enforced) {
      attributes.addAnnotation(`${ANNOTATION}enforce-policy`, formatLevel(enforce))
      const violations = evaluate(enforce, pod)
      if (violations.length > 0)
        throw forbid(attributes, `violates PodSecurity "${formatLevel(enforce)}": ${violationDetails(violations)}`)
    }
    const warned = evaluate(warn, pod)
    if (warned.length > 0)
      attributes.addWarning(`would violate PodSecurity "${formatLevel(warn)}": ${violationDetails(warned)}`)
  }

  #namespace(attributes: AdmissionAttributes): Promise<void> | void {
    const { object = {}, oldObject, name } = attributes
    const { defaults, exemptNamespaces } = this.#config
    const labels = metadataOf(object).labels ?? {}
    const next = policyOf(labels, defaults)
    const old = policyOf(oldObject?.metadata?.labels ?? {}, defaults)
    const isNewMistake = oldObject === undefined || JSON.stringify(next.errors) !== JSON.stringify(old.errors)
    if (next.errors.length > 0 && isNewMistake) throw newInvalid({ group: '', kind: 'Namespace' }, name, next.errors)
    const { enforce } = next.policy
    if (oldObject !== undefined && isSameOrMilder(enforce, old.policy.enforce)) return
    if (exemptNamespaces.has(name)) {
      const text = exemptWarning(next.policy, defaults, labels)
      if (text !== '')
        attributes.addWarning(
          `namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${text}) will be ignored`,
        )
      return
    }
    if (oldObject !== undefined) return this.#warnOfPods(attributes, enforce)
  }

  /** Existing pods stay; whoever raised the level is warned of those that would not be let in again. */
  async #warnOfPods(attributes: AdmissionAttributes, enforce: LevelVersion): Promise<void> {
    const { name } = attributes
    const pods = this.#byController(await this.#objects.list(PODS, name))
    const found = new Map<string, string[]>()
    for (const pod of pods.slice(0, MAX_PODS)) {
      const violations = evaluate(enforce, { metadata: metadataOf(pod), spec: pod.spec ?? {} })
      if (violations.length === 0) continue
      const reason = violationReasons(violations)
      found.set(reason, [...(found.get(reason) ?? []), pod.metadata?.name ?? ''])
    }
    if (pods.length > MAX_PODS)
      attributes.addWarning(
        `new PodSecurity enforce level only checked against the first ${MAX_PODS} of ${pods.length} existing pods`,
      )
    if (found.size === 0) return
    attributes.addWarning(
      `existing pods in namespace ${JSON.stringify(name)} violate the new PodSecurity enforce level "${formatLevel(enforce)}"`,
    )
    const texts = [...found].map(([reason, names]) => `${others(names.sort())}: ${reason}`)
    for (const text of texts.sort()) attributes.addWarning(text)
  }

  /** One pod of each controller comes first: the others are most likely like it. */
  #byController(pods: readonly Pod[]): Pod[] {
    const seen = new Set<string>()
    const first: Pod[] = []
    const rest: Pod[] = []
    for (const pod of pods) {
      if (this.#config.exemptRuntimeClasses.has(pod.spec?.runtimeClassName ?? '')) continue
      const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid
      if (owner !== undefined && seen.has(owner)) rest.push(pod)
      else first.push(pod)
      if (owner !== undefined) seen.add(owner)
    }
    return [...first, ...rest]
  }
}

function isSameOrMilder(next: LevelVersion, old: LevelVersion): boolean {
  if (next.level === 'privileged') return true
  return next.version === old.version && compareLevels(next.level, old.level) <= 0
}

/** Joins names: `a`, `a (and 1 other pod)`, `a (and 2 other pods)`. */
function others([first, ...rest]: string[]): string {
  return rest.length === 0 ? first! : `${first} (and ${rest.length} other pod${rest.length === 1 ? '' : 's'})`
}

function exemptWarning(policy: Policy, defaults: Policy, labels: Readonly<Record<string, string>>): string {
  const same = MODES.every((mode) => formatLevel(policy[mode]) === formatLevel(defaults[mode]))
  if (same || isPrivileged(policy)) return ''
  return MODES.filter((mode) => policy[mode].level !== 'privileged')
    .filter((mode) => labels[levelLabel(mode)] !== undefined || labels[versionLabel(mode)] !== undefined)
    .map((mode) => `${mode}=${formatLevel(policy[mode])}`)
    .join(', ')
}

/** Whether an update brings an image or a container: nothing else that may change in a pod matters. */
function bringsImage({ spec: next = {} }: Pod, { spec: old = {} }: Pod): boolean {
  const differ = (a: readonly AnyContainer[], b: readonly AnyContainer[]): boolean =>
    a.length !== b.length || a.some(({ image }, i) => image !== b[i]!.image)
  if (differ(next.containers ?? [], old.containers ?? [])) return true
  if (differ(next.initContainers ?? [], old.initContainers ?? [])) return true
  const known = new Map((old.ephemeralContainers ?? []).map(({ name, image }) => [name, image]))
  return (next.ephemeralContainers ?? []).some(({ name, image }) => !known.has(name) || known.get(name) !== image)
}
