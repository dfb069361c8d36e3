/** Thread: any. Which transformer a resource has: its own rule, its group's, the rule for everything, or none. */
import { formatGroupResource, type GroupResource } from '../../api/group-version.js'
import type { Transformer } from '../contract/transformer.js'
import { encryptCheckTransformer } from './encrypt-check.js'

export interface ResourceTransformers {
  transformerForResource(resource: GroupResource): Transformer
}

export const ANY_GROUP_ANY_RESOURCE: GroupResource = { group: '*', resource: '*' }

/** Transformers by `resource.group`, wildcards included; see formatRule. */
export class StaticTransformers implements ResourceTransformers {
  readonly #rules: ReadonlyMap<string, Transformer>

  constructor(rules: ReadonlyMap<string, Transformer>) {
    this.#rules = rules
  }

  transformerForResource(resource: GroupResource): Transformer {
    return (
      this.#rules.get(formatRule(resource)) ??
      this.#rules.get(formatRule({ group: resource.group, resource: '*' })) ??
      this.#rules.get(formatRule(ANY_GROUP_ANY_RESOURCE)) ??
      encryptCheckTransformer
    )
  }
}

/**
 * A rule as the configuration file writes it: `secrets`, `deployments.apps`; `*.` for the core group, `*.apps`, `*.*`.
 */
export function formatRule(rule: GroupResource): string {
  return rule.group === '' && rule.resource === '*' ? '*.' : formatGroupResource(rule)
}

export function isAnyGroupAnyResource({ group, resource }: GroupResource): boolean {
  return group === '*' && resource === '*'
}
