/**
 * Thread: main. Who may come in and what they may do: by flags, or by the files of --authentication-config and
 * --authorization-config. A file and the flags that it stands for exclude each other, because nobody could say which counts.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import {
  type AuthenticationConfiguration,
  authenticationConfiguration,
} from '../../auth/authn/authentication-configuration.js'
import { authorizationConfiguration } from '../../auth/authz/authorization-configuration.js'
import { ConfigurationErrors } from '../../auth/configuration-object.js'
import { KubeconfigError, readKubeconfig, withPath } from '../../auth/kubeconfig.js'
import type { AuthorizationConfig, AuthorizationMode, AuthorizerConfig } from '../../protocol/authorization-config.js'
import { fileProblem } from './file-checks.js'
import { flagDurationMs, flagList, flagText } from './flag-values.js'
import type { FlagValues } from './flags.js'

/** A file as it was read; the digest tells whether it has changed since. */
export interface ConfigurationFile<T> {
  readonly file: string
  readonly digest: string
  readonly content: T
}

export interface AccessConfig {
  readonly authenticationFile: ConfigurationFile<AuthenticationConfiguration> | undefined
  readonly authorization: AuthorizationConfig
  /** The file that the authorizers are from; undefined when they are from flags. */
  readonly authorizationFile: ConfigurationFile<AuthorizationConfig> | undefined
}

const AUTHENTICATION = 'authentication-config'
const AUTHORIZATION = 'authorization-config'
/** How flags begin that say what the file of authorization says. */
const OF_AUTHORIZATION = ['authorization-mode', 'authorization-webhook-', 'authorization-kubeconfig']
/** Of the webhook of flags, for which there is none to say it. */
const WEBHOOK_TIMEOUT_MS = 10_000

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export const allowsEverything = ({ authorizers }: AuthorizationConfig): boolean =>
  authorizers.length === 0 || authorizers.some(({ type }) => type === 'AlwaysAllow')

/** The configuration, or everything that is wrong with it. `given` are the flags that somebody has written. */
export function readAccessConfig(values: FlagValues, given: FlagValues): AccessConfig | { readonly errors: string[] } {
  const errors: string[] = []
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if (error instanceof ConfigurationErrors) errors.push(...error.lines)
      else if (error instanceof KubeconfigError) errors.push(error.message)
      else throw error
      return undefined
    }
  }
  const authenticationFile = attempt(() => authenticationFileOf(values, given))
  const authorizationFile = attempt(() => authorizationFileOf(values, given))
  const authorization = authorizationFile?.content ?? attempt(() => authorizationFlags(values))
  if (errors.length > 0 || authorization === undefined) return { errors }
  return { authenticationFile, authorization, authorizationFile }
}

function authorizationFileOf(
  values: FlagValues,
  given: FlagValues,
): ConfigurationFile<AuthorizationConfig> | undefined {
  const name = flagText(values, AUTHORIZATION)
  if (name === '') return undefined
  const others = [...given.keys()].filter((flag) => OF_AUTHORIZATION.some((one) => flag.startsWith(one)))
  if (others.length > 0)
    throw new ConfigurationErrors([`--${AUTHORIZATION} and --${others.join(', --')} exclude each other`])
  return readConfigurationFile(`--${AUTHORIZATION}`, path.resolve(name), authorizationConfiguration)
}

function authenticationFileOf(
  values: FlagValues,
  given: FlagValues,
): ConfigurationFile<AuthenticationConfiguration> | undefined {
  const name = flagText(values, AUTHENTICATION)
  if (name === '') return undefined
  const ofIssuer = [...given.keys()].filter((flag) => flag.startsWith('oidc-'))
  if (ofIssuer.length > 0)
    throw new ConfigurationErrors([`--${AUTHENTICATION} and --${ofIssuer.join(', --')} exclude each other`])
  const read = readConfigurationFile(`--${AUTHENTICATION}`, path.resolve(name), (text) =>
    authenticationConfiguration(text, flagList(values, 'service-account-issuer')),
  )
  if (read.content.anonymous !== undefined && given.has('anonymous-auth'))
    throw new ConfigurationErrors([
      `--anonymous-auth and the field anonymous of --${AUTHENTICATION} exclude each other`,
    ])
  return read
}

/** Throws ConfigurationErrors, whose lines name the flag and the file. */
function readConfigurationFile<T>(flag: string, file: string, parse: (text: string) => T): ConfigurationFile<T> {
  const problem = fileProblem(file)
  if (problem !== undefined) throw new ConfigurationErrors([`${flag}: ${problem}`])
  try {
    const text = readFileSync(file, 'utf8')
    return { file, digest: digestOf(text), content: parse(text) }
  } catch (error) {
    if (!(error instanceof ConfigurationErrors)) throw error
    throw new ConfigurationErrors(error.lines.map((line) => `${flag}: ${file}: ${line}`))
  }
}

const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

/** Throws KubeconfigError. Undefined when the flags are wrong in a way that has been told already. */
function authorizationFlags(values: FlagValues): AuthorizationConfig | undefined {
  const delegate = flagText(values, 'authorization-kubeconfig')
  const isDelegated = delegate !== ''
  const file = isDelegated ? delegate : flagText(values, 'authorization-webhook-config-file')
  const modes: AuthorizationMode[] = isDelegated
    ? ['Webhook']
    : (flagList(values, 'authorization-mode') as AuthorizationMode[])
  if (modes.includes('Webhook') && fileProblem(file) !== undefined) return undefined
  const webhook = (): AuthorizerConfig => ({
    type: 'Webhook',
    name: 'webhook',
    connection: withPath(readKubeconfig(file), isDelegated ? ACCESS_REVIEWS : ''),
    version: isDelegated || flagText(values, 'authorization-webhook-version') === 'v1' ? 'v1' : 'v1beta1',
    authorizedTtlMs: flagDurationMs(values, 'authorization-webhook-cache-authorized-ttl'),
    unauthorizedTtlMs: flagDurationMs(values, 'authorization-webhook-cache-unauthorized-ttl'),
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    failurePolicy: 'NoOpinion',
    matchConditions: [],
  })
  return {
    authorizers: modes.map((type) => (type === 'Webhook' ? webhook() : { type, name: type.toLowerCase() })),
    alwaysAllowPaths: isDelegated ? flagList(values, 'authorization-always-allow-paths') : [],
  }
}
