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

/** Both lists in order, without tolerations that another one covers; of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  const strongest = new Map<string, number>()
  for (const [i, one] of all.entries()) {
    const group = groupOf(one, one.effect ?? '')
    const best = strongest.get(group)
    if (best === undefined || isLonger(one, all[best]!)) strongest.set(group, i)
  }
  const isCovered = (one: Toleration, i: number): boolean =>
    groupsAround(one).some((group) => {
      const j = strongest.get(group)
      if (j === undefined || j === i || !covers(all[j]!, one)) return false
      return !covers(one, all[j]!) || j < i
    })
  return all.filter((one, i) => !isCovered(one, i)).map((one) => ({ ...one }))
}

const isExists = ({ operator = 'Equal' }: Toleration): boolean => operator === 'Exists'

/** Tolerations of one group differ in their time alone: the one that lasts longest covers what any of them does. */
const groupOf = (one: Toleration, effect: string, key = one.key ?? ''): string =>
  JSON.stringify([effect, key, isExists(one) ? null : (one.value ?? '')])

/** Those that could cover it. A client says how many tolerations a pod has, so they are not all held against all. */
function groupsAround(one: Toleration): string[] {
  const effects = new Set(['', one.effect ?? ''])
  const exists: Toleration = { operator: 'Exists' }
  return [...effects].flatMap((effect) => [
    groupOf(exists, effect, ''),
    groupOf(exists, effect, one.key ?? ''),
    groupOf(one, effect),
  ])
}

const isLonger = (a: Toleration, b: Toleration): boolean =>
  b.tolerationSeconds !== undefined && (a.tolerationSeconds === undefined || a.tolerationSeconds > b.tolerationSeconds)
