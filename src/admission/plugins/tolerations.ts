/** Thread: any. Tolerations of pods: which covers which, and two lists as one. */
import type { Toleration } from '../../api/generated/kinds/core.v1.js'

/** `a` tolerates everything that `b` does. */
export function covers(a: Toleration, b: Toleration): boolean {
  if ((a.effect ?? '') !== '' && a.effect !== b.effect) return false
  // A toleration without an end covers every end; one for a shorter time does not cover a longer one.
  if (a.tolerationSeconds !== undefined) {
    if (b.tolerationSeconds === undefined || a.tolerationSeconds < b.tolerationSeconds) return false
  }
  if ((a.key ?? '') !== '' && a.key !== b.key) return false
  if ((a.operator ?? 'Equal') === 'Exists') return true
  return (b.operator ?? 'Equal') !== 'Exists' && (a.value ?? '') === (b.value ?? '') && (a.key ?? '') === (b.key ?? '')
}

/** Both lists in order, without tolerations that another one covers. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  return all
    .filter((one, i) => !all.some((other, j) => i !== j && covers(other, one) && (!covers(one, other) || j < i)))
    .map((one) => ({ ...one }))
}
