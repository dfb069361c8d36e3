/** Thread: main. The file of --admission-control-config-file: for each plugin its configuration, in place or in a file. */

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { eventRateLimitErrors } from '../../admission/plugins/event-rate-limit.js'
import { podSecurityErrors } from '../../admission/plugins/pod-security/configuration.js'
import { resourceQuotaErrors } from '../../admission/plugins/quota/resource-quota.js'
import { NO_USERS, webhookUsersOf } from '../../admission/webhooks/webhook-credentials.js'
import type { Json, JsonObject } from '../../api/object.js'
import { parseYaml, YamlError } from '../../api/yaml/yaml.js'
import { lookupTable } from '../../lib/lookup-table.js'
import type { WebhookUsers } from '../../protocol/webhook-users.js'

export type AdmissionConfig = { config: Record<string, JsonObject> } | { errors: string[] }

/** What is wrong with the configuration of a plugin; a plugin that takes none is not in the list. */
const CHECKS: Readonly<Record<string, (config: JsonObject) => string[]>> = lookupTable({
  EventRateLimit: eventRateLimitErrors,
  PodNodeSelector: () => [],
  PodSecurity: podSecurityErrors,
  PodTolerationRestriction: () => [],
  ResourceQuota: resourceQuotaErrors,
  MutatingAdmissionWebhook: webhookAdmissionErrors,
  ValidatingAdmissionWebhook: webhookAdmissionErrors,
})

const FLAG = '--admission-control-config-file'

function webhookAdmissionErrors(config: JsonObject): string[] {
  const { kubeConfigFile = '' } = config
  if (typeof kubeConfigFile !== 'string') return ['kubeConfigFile is not text']
  if (kubeConfigFile === '') return []
  if (!path.isAbsolute(kubeConfigFile)) return [`kubeConfigFile ${kubeConfigFile} must be an absolute file path`]
  try {
    readWebhookUsers(config)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [error.message]
  }
}

/** The users of the kubeconfig that the configuration of a webhook plugin names. */
export function readWebhookUsers(config: JsonObject | undefined): WebhookUsers {
  const file = String(config?.['kubeConfigFile'] ?? '')
  if (file === '') return NO_USERS
  return webhookUsersOf(readYaml(file), (name) => readText(path.resolve(path.dirname(file), name)))
}

class ConfigError extends Error {}

/** Reads the file; for '' every plugin has its defaults. */
export function readAdmissionConfig(file: string): AdmissionConfig {
  if (file === '') return { config: {} }
  const errors: string[] = []
  const config: Record<string, JsonObject> = {}
  const attempt = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      errors.push(`${FLAG}: ${error.message}`)
    }
  }
  attempt(() => {
    const root = readYaml(file)
    if (root['kind'] !== 'AdmissionConfiguration') throw new ConfigError(`${file} is no AdmissionConfiguration`)
    const plugins = root['plugins'] ?? []
    if (!Array.isArray(plugins)) throw new ConfigError('plugins must be a list')
    for (const entry of plugins) {
      attempt(() => {
        const [name, own] = pluginEntry(entry, path.dirname(file))
        config[name] = own
        errors.push(...CHECKS[name]!(own).map((problem) => `${FLAG}: ${problem}`))
      })
    }
  })
  return errors.length > 0 ? { errors } : { config }
}

function pluginEntry(entry: Json, folder: string): [string, JsonObject] {
  if (!isObject(entry)) throw new ConfigError('an entry of plugins must be an object')
  const name = String(entry['name'] ?? '')
  if (CHECKS[name] === undefined)
    throw new ConfigError(`${JSON.stringify(name)} takes no configuration; these do: ${Object.keys(CHECKS).join(', ')}`)
  const { configuration } = entry
  if (isObject(configuration)) return [name, configuration]
  const file = String(entry['path'] ?? '')
  if (file === '') throw new ConfigError(`${name} has neither path nor configuration`)
  return [name, readYaml(path.resolve(folder, file))]
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function readYaml(file: string): JsonObject {
  const text = readText(file)
  try {
    const { value } = parseYaml(text)
    if (isObject(value)) return value
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new ConfigError(`${file}: ${error.message}`)
  }
  throw new ConfigError(`${file} holds no object`)
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
