/** Thread: any. What is wrong with a pod by a level of pod security in a version. */
import type { PodParts } from '../pod.js'
import { BASELINE_CHECKS } from './baseline-checks.js'
import type { Check, Violation } from './check.js'
import type { LevelVersion } from './policy.js'
import { RESTRICTED_CHECKS } from './restricted-checks.js'

/** The newest version of the rules; later versions that are asked for get these. */
export const LATEST_MINOR = 36

export function evaluate({ level, version }: LevelVersion, pod: PodParts): Violation[] {
  if (level === 'privileged') return []
  const minor = version === 'latest' ? LATEST_MINOR : Math.min(version, LATEST_MINOR)
  const strict = level === 'restricted' ? RESTRICTED_CHECKS.filter(({ since }) => since <= minor) : []
  const overridden = new Set(strict.map(({ overrides }) => overrides))
  const mild = BASELINE_CHECKS.filter(({ id, since }) => since <= minor && !overridden.has(id))
  return [...mild, ...strict]
    .map(({ check }: Check) => check(pod, minor))
    .filter((violation): violation is Violation => violation !== undefined)
}

export const violationReasons = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ')

export const violationDetails = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
