/** Thread: pool. Updates of one part of an object through a subresource of its own: everything else is what it was. */
import type { FieldError } from '../../api/field-error.js'
import { type KubeObject, metadataOf, nextGeneration } from '../../api/object.js'
import type { GroupKind } from '../../api/status.js'
import { equalState } from './equal-state.js'
import type { PartRules, ResourceRules } from './resource-rules.js'
import { restore, type StrategyShape } from './rules-strategy.js'
import type { RequestContext, UpdateStrategy } from './strategy.js'

export class PartStrategy implements UpdateStrategy {
  readonly kind: GroupKind
  readonly namespaceScoped: boolean
  readonly allowCreateOnUpdate = false
  readonly allowUnconditionalUpdate: boolean
  readonly resetFields: readonly (readonly string[])[]
  /** Instead of resetFields: nobody owns anything through this endpoint but what is below these. */
  readonly ownedFields: readonly (readonly string[])[] | undefined
  readonly #rules: ResourceRules
  readonly #part: PartRules

  constructor(shape: StrategyShape, rules: ResourceRules, part: PartRules) {
    this.kind = shape.kind
    this.namespaceScoped = shape.namespaceScoped
    this.allowUnconditionalUpdate = rules.allowUnconditionalUpdate ?? true
    this.resetFields = part.resetFields ?? [[part.writes === 'status' ? 'spec' : 'status']]
    this.ownedFields = part.ownedFields
    this.#rules = rules
    this.#part = part
  }

  prepareForUpdate(object: KubeObject, old: KubeObject, context: RequestContext): void {
    const { writes } = this.#part
    for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
      if (field === writes || field === 'metadata' || field === 'kind' || field === 'apiVersion') continue
      restore(object, old, field)
    }
    this.#part.prepareForUpdate?.(object, old, context)
    const counts = this.#rules.generationFields?.includes(writes) === true
    if (counts && !equalState(object[writes], old[writes]))
      metadataOf(object).generation = nextGeneration(metadataOf(old))
  }

  validateUpdate(object: KubeObject, old: KubeObject, context: RequestContext): FieldError[] {
    return this.#part.validateUpdate?.(object, old, context) ?? []
  }

  warningsOnUpdate(object: KubeObject, old: KubeObject, context: RequestContext): string[] {
    return this.#part.warningsOnUpdate?.(object, old, context) ?? []
  }

  canonicalize(object: KubeObject): void {
    this.#rules.canonicalize?.(object)
  }
}
