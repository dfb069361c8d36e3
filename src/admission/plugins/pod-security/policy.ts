/** Thread: any. Levels of pod security, and how the labels of a namespace choose them. */
import { type FieldError, FieldPath, invalid } from '../../../api/field-error.js'

export const LEVELS = ['privileged', 'baseline', 'restricted'] as const
export type Level = (typeof LEVELS)[number]

export interface LevelVersion {
  readonly level: Level
  /** The minor version of 1.x, or the latest. */
  readonly version: number | 'latest'
}

export const MODES = ['enforce', 'audit', 'warn'] as const
export type Mode = (typeof MODES)[number]
export type Policy = Readonly<Record<Mode, LevelVersion>>

const PREFIX = 'pod-security.kubernetes.io/'
const PRIVILEGED: LevelVersion = { level: 'privileged', version: 'latest' }
export const DEFAULT_POLICY: Policy = { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED }

export const levelLabel = (mode: Mode): string => `${PREFIX}${mode}`
export const versionLabel = (mode: Mode): string => `${PREFIX}${mode}-version`

export const formatLevel = ({ level, version }: LevelVersion): string =>
  `${level}:${version === 'latest' ? version : `v1.${version}`}`

/** A positive number when `a` is stricter. */
export const compareLevels = (a: Level, b: Level): number => LEVELS.indexOf(a) - LEVELS.indexOf(b)

export const isPrivileged = (policy: Policy): boolean => MODES.every((mode) => policy[mode].level === 'privileged')

export function parseLevel(text: string): Level | undefined {
  return LEVELS.find((level) => level === text)
}

export function parseVersion(text: string): number | 'latest' | undefined {
  if (text === 'latest') return text
  const minor = /^v1\.(0|[1-9]\d*)$/.exec(text)?.[1]
  return minor === undefined ? undefined : Number(minor)
}

/**
 * A label that cannot be read is an error. Until it is mended, enforcement is strict, and nothing is warned of or
 * audited.
 */
export function policyOf(
  labels: Readonly<Record<string, string>>,
  defaults: Policy,
): { policy: Policy; errors: FieldError[] } {
  const errors: FieldError[] = []
  const wrong = (label: string, why: string): void => {
    errors.push(invalid(FieldPath.of('metadata', 'labels').key(label), labels[label], why))
  }
  const policy: Record<Mode, LevelVersion> = { ...defaults }
  for (const mode of MODES) {
    let { level, version } = policy[mode]
    const levelText = labels[levelLabel(mode)]
    if (levelText !== undefined) {
      const parsed = parseLevel(levelText)
      if (parsed === undefined) wrong(levelLabel(mode), `must be one of ${LEVELS.join(', ')}`)
      level = parsed ?? (mode === 'enforce' ? 'restricted' : 'privileged')
    }
    const versionText = labels[versionLabel(mode)]
    if (versionText !== undefined) {
      const parsed = parseVersion(versionText)
      if (parsed === undefined) wrong(versionLabel(mode), 'must be "latest" or "v1.x"')
      version = parsed ?? 'latest'
    }
    policy[mode] = { level, version }
  }
  return { policy: withWarnings(policy, labels), errors }
}

/**
 * A namespace that enforces a level and does not mention warnings is warned by the same level: workloads show that
 * before their pods fail.
 */
function withWarnings(policy: Policy, labels: Readonly<Record<string, string>>): Policy {
  const { enforce, warn } = policy
  const enforced = labels[levelLabel('enforce')]
  const isGiven = enforced !== undefined && parseLevel(enforced) !== undefined
  if (!isGiven || labels[levelLabel('warn')] !== undefined || compareLevels(enforce.level, warn.level) <= 0)
    return policy
  const version = labels[versionLabel('warn')] === undefined ? enforce.version : warn.version
  return { ...policy, warn: { level: enforce.level, version } }
}
