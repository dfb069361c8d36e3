/** Thread: pool. The spec of a pod in a pod or in a template, wherever a kind has it. */
import type { PodSpec } from '../../api/generated/kinds/core.v1.js'
import { isJsonObject, type Json, type KubeObject } from '../../api/object.js'

/**
 * `path` is what the rules of the kind say, where the kind's schema has a pod's spec. An empty spec when there is none.
 */
export function podSpecAt(object: KubeObject | undefined, path: readonly string[]): PodSpec {
  let value = object as Json | undefined
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined
  return isJsonObject(value) ? value : {}
}
