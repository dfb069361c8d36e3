/** Thread: pool. The strategies of a resource made from its rules: status kept apart, generation counted, names checked. */
import { isDeepStrictEqual } from 'node:util'
import type { FieldError } from '../../api/field-error.js'
import type { JsonPath } from '../../api/json/decode.js'
import { deepCopy, type KubeObject, metadataOf, nextGeneration } from '../../api/object.js'
import type { GroupKind } from '../../api/status.js'
import { dnsSubdomainName } from '../../api/validation/names.js'
import {
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateQualifiedFinalizers,
} from '../../api/validation/object-meta.js'
import { ownMember } from '../../lib/own-member.js'
import { equalState } from './equal-state.js'
import { dropGatedPodFields, gatedPodValueErrors } from './gated-pod-fields.js'
import { privilegedContainerErrors } from './privileged-containers.js'
import type { ResourceRules } from './resource-rules.js'
import type { GarbageCollectionPolicy, RequestContext, Strategy, UpdateStrategy } from './strategy.js'
import { generateName } from './system-fields.js'

export interface StrategyShape {
  readonly kind: GroupKind
  readonly namespaceScoped: boolean
  readonly hasStatus: boolean
  /** Whether containers may be privileged (--allow-privileged). Default: true. */
  readonly allowPrivileged?: boolean
}

const METADATA_RULES = {
  none: { changes: false, whole: false },
  changes: { changes: true, whole: false },
  new: { changes: false, whole: true },
  whole: { changes: true, whole: true },
} as const

/** Create, update and delete of the resource itself. */
export class RulesStrategy implements Strategy {
  readonly kind: GroupKind
  readonly namespaceScoped: boolean
  readonly allowCreateOnUpdate: boolean
  readonly allowUnconditionalUpdate: boolean
  readonly defaultGarbageCollectionPolicy: GarbageCollectionPolicy
  readonly resetFields: readonly (readonly string[])[]
  readonly checkGracefulDelete?: NonNullable<Strategy['checkGracefulDelete']>
  readonly #rules: ResourceRules
  readonly #hasStatus: boolean
  readonly #allowPrivileged: boolean

  constructor(shape: StrategyShape, rules: ResourceRules) {
    this.kind = shape.kind
    this.namespaceScoped = shape.namespaceScoped
    this.#hasStatus = shape.hasStatus
    this.#allowPrivileged = shape.allowPrivileged ?? true
    this.#rules = rules
    this.allowCreateOnUpdate = rules.allowCreateOnUpdate ?? false
    this.allowUnconditionalUpdate = rules.allowUnconditionalUpdate ?? true
    this.defaultGarbageCollectionPolicy = rules.garbageCollection ?? 'DeleteDependents'
    this.resetFields = rules.resetFields ?? (shape.hasStatus ? [['status']] : [])
    const { checkGracefulDelete } = rules
    if (checkGracefulDelete !== undefined) {
      this.checkGracefulDelete = (object, options, context) => checkGracefulDelete(object, options, context)
    }
  }

  generateName(base: string): string {
    return this.#rules.generateName?.(base) ?? generateName(base)
  }

  prepareForCreate(object: KubeObject, context: RequestContext): void {
    if (this.#hasStatus && this.#rules.statusOnCreate !== true) delete object['status']
    if (this.#rules.generationFields !== undefined) metadataOf(object).generation = 1
    this.#dropGatedFields(object)
    this.#rules.prepareForCreate?.(object, context)
  }

  validate(object: KubeObject, context: RequestContext): FieldError[] {
    return [
      ...(this.#rules.metadataOnCreate === 'none' ? [] : this.#validateMetadata(object)),
      ...(this.#rules.validate?.(object, context) ?? []),
      ...this.#podErrors(object),
    ]
  }

  warningsOnCreate(object: KubeObject, context: RequestContext): string[] {
    return this.#rules.warningsOnCreate?.(object, context) ?? []
  }

  canonicalize(object: KubeObject): void {
    this.#rules.canonicalize?.(object)
  }

  prepareForUpdate(object: KubeObject, old: KubeObject, context: RequestContext): void {
    if (this.#hasStatus) restore(object, old, 'status')
    this.#dropGatedFields(object, old)
    this.#rules.prepareForUpdate?.(object, old, context)
    const { generationFields = [], emptyIsChange = false } = this.#rules
    const same = emptyIsChange ? isDeepStrictEqual : equalState
    const changed = generationFields.some((field) => !same(object[field], old[field]))
    if (changed || (emptyIsChange && wroteEmpty(object, generationFields, context)))
      metadataOf(object).generation = nextGeneration(metadataOf(old))
  }

  validateUpdate(object: KubeObject, old: KubeObject, context: RequestContext): FieldError[] {
    // The metadata is checked here and in beforeUpdate, as in Kubernetes: clients see each cause as often as there.
    const { metadataOnUpdate = 'whole' } = this.#rules
    const { changes, whole } = METADATA_RULES[metadataOnUpdate]
    const own = this.#rules.validateUpdate?.(object, old, context) ?? this.#rules.validate?.(object, context) ?? []
    return [
      ...(changes ? validateObjectMetaUpdate(metadataOf(object), metadataOf(old)) : []),
      ...(whole ? this.#validateMetadata(object) : []),
      ...own,
      ...this.#podErrors(object, old),
    ]
  }

  #dropGatedFields(object: KubeObject, old?: KubeObject): void {
    const { podSpecAt } = this.#rules
    if (podSpecAt !== undefined) dropGatedPodFields(object, old, podSpecAt)
  }

  #podErrors(object: KubeObject, old?: KubeObject): FieldError[] {
    const { podSpecAt } = this.#rules
    if (podSpecAt === undefined) return []
    return [
      ...gatedPodValueErrors(object, old, podSpecAt),
      ...(this.#allowPrivileged ? [] : privilegedContainerErrors(object, podSpecAt)),
    ]
  }

  warningsOnUpdate(object: KubeObject, old: KubeObject, context: RequestContext): string[] {
    return this.#rules.warningsOnUpdate?.(object, old, context) ?? []
  }

  #validateMetadata(object: KubeObject): FieldError[] {
    const nameRule = this.#rules.nameRule ?? dnsSubdomainName
    const metadata = metadataOf(object)
    return [
      ...validateObjectMeta(metadata, { namespaceScoped: this.namespaceScoped, nameRule }),
      ...validateQualifiedFinalizers(metadata.finalizers ?? []),
    ]
  }
}

/** Metadata that an update of the status may carry: the rest of it belongs to the resource itself. */
const STATUS_METADATA = ['resourceVersion', 'managedFields', 'uid', 'name', 'namespace'] as const

/** Updates of the status alone: everything else is what it was. */
export class StatusStrategy implements UpdateStrategy {
  readonly kind: GroupKind
  readonly namespaceScoped: boolean
  readonly allowCreateOnUpdate = false
  readonly allowUnconditionalUpdate: boolean
  readonly resetFields: readonly (readonly string[])[]
  readonly #rules: ResourceRules

  constructor(shape: StrategyShape, rules: ResourceRules) {
    this.kind = shape.kind
    this.namespaceScoped = shape.namespaceScoped
    this.allowUnconditionalUpdate = rules.allowUnconditionalUpdate ?? true
    this.#rules = rules
    this.resetFields = rules.status?.resetFields ?? [['spec']]
  }

  prepareForUpdate(object: KubeObject, old: KubeObject, context: RequestContext): void {
    for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
      if (field !== 'status' && field !== 'metadata' && field !== 'kind' && field !== 'apiVersion')
        restore(object, old, field)
    }
    this.#rules.status?.prepareForUpdate?.(object, old, context)
  }

  validateUpdate(object: KubeObject, old: KubeObject, context: RequestContext): FieldError[] {
    return this.#rules.status?.validateUpdate?.(object, old, context) ?? []
  }

  warningsOnUpdate(object: KubeObject, old: KubeObject, context: RequestContext): string[] {
    return this.#rules.status?.warningsOnUpdate?.(object, old, context) ?? []
  }

  canonicalize(object: KubeObject): void {
    this.#rules.canonicalize?.(object)
  }
}

/** Puts labels, annotations and the like back, for kinds whose status endpoint leaves them alone too. */
export function keepMetadata(object: KubeObject, old: KubeObject): void {
  const kept: Record<string, unknown> = { ...deepCopy(old.metadata) }
  const given: Record<string, unknown> = { ...object.metadata }
  for (const field of STATUS_METADATA) {
    if (given[field] === undefined) delete kept[field]
    else kept[field] = given[field]
  }
  object.metadata = kept
}

/**
 * Whether the client wrote an empty value in these fields, which is not there any more. What defaults have filled does
 * not count.
 */
function wroteEmpty(object: KubeObject, fields: readonly string[], { emptied }: RequestContext): boolean {
  const valueAt = (path: JsonPath): unknown =>
    path.reduce<unknown>((at, part) => ownMember((at ?? {}) as Record<string, unknown>, String(part)), object)
  return (emptied?.() ?? []).some((path) => fields.includes(String(path[0])) && valueAt(path) === undefined)
}

/** Puts the field back as the old object has it. */
export function restore(object: KubeObject, old: KubeObject, field: string): void {
  const before = ownMember(old, field)
  if (before === undefined) delete object[field]
  else object[field] = before
}
