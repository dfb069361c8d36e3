/** Thread: any. PodSecurityConfiguration: the level of namespaces that name none, and who is exempt. */
import type { JsonObject } from '../../../api/object.js'
import {
  DEFAULT_POLICY,
  LEVELS,
  type LevelVersion,
  MODES,
  type Mode,
  type Policy,
  parseLevel,
  parseVersion,
} from './policy.js'

export interface PodSecurityConfiguration {
  readonly defaults: Policy
  readonly exemptNamespaces: ReadonlySet<string>
  readonly exemptUsers: ReadonlySet<string>
  readonly exemptRuntimeClasses: ReadonlySet<string>
}

const EXEMPTIONS = ['usernames', 'namespaces', 'runtimeClasses'] as const

export function podSecurityErrors(config: JsonObject): string[] {
  const errors: string[] = []
  const defaults = (config['defaults'] ?? {}) as JsonObject
  for (const mode of MODES) {
    const level = defaults[mode] ?? 'privileged'
    if (parseLevel(String(level)) === undefined)
      errors.push(`PodSecurity: defaults.${mode} must be one of ${LEVELS.join(', ')}`)
    const version = defaults[`${mode}-version`] ?? 'latest'
    if (parseVersion(String(version)) === undefined)
      errors.push(`PodSecurity: defaults.${mode}-version must be "latest" or "v1.x"`)
  }
  const exemptions = (config['exemptions'] ?? {}) as JsonObject
  for (const field of EXEMPTIONS) {
    const list = exemptions[field] ?? []
    if (!Array.isArray(list) || list.some((entry) => typeof entry !== 'string' || entry === ''))
      errors.push(`PodSecurity: exemptions.${field} must be a list of names`)
  }
  return errors
}

/** The values of a configuration that has no errors. */
export function podSecurityConfiguration(config: JsonObject): PodSecurityConfiguration {
  const given = (config['defaults'] ?? {}) as JsonObject
  const defaults: Record<Mode, LevelVersion> = { ...DEFAULT_POLICY }
  for (const mode of MODES) {
    defaults[mode] = {
      level: parseLevel(String(given[mode] ?? '')) ?? 'privileged',
      version: parseVersion(String(given[`${mode}-version`] ?? '')) ?? 'latest',
    }
  }
  const exemptions = (config['exemptions'] ?? {}) as JsonObject
  const names = (field: (typeof EXEMPTIONS)[number]): ReadonlySet<string> =>
    new Set(((exemptions[field] ?? []) as unknown[]).map(String))
  return {
    defaults,
    exemptNamespaces: names('namespaces'),
    exemptUsers: names('usernames'),
    exemptRuntimeClasses: names('runtimeClasses'),
  }
}
