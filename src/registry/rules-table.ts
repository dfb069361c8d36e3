/** Thread: any. Which resources have rules of their own. What is not here is served with none. */
import type { GroupResource } from '../api/group-version.js'
import { configMapRules } from './core/configmaps/strategy.js'
import { namespaceRules } from './core/namespaces/strategy.js'
import { secretRules } from './core/secrets/strategy.js'
import type { ResourceRules } from './generic/resource-rules.js'

const NO_RULES: ResourceRules = {}

/** By resource and group, as in flags: `deployments.apps`. */
const RULES: Readonly<Record<string, ResourceRules>> = {
  configmaps: configMapRules,
  namespaces: namespaceRules,
  secrets: secretRules,
}

export function rulesOf({ group, resource }: GroupResource): ResourceRules {
  return RULES[group === '' ? resource : `${resource}.${group}`] ?? NO_RULES
}
