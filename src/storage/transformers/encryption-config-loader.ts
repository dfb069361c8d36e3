/** Thread: any. From an EncryptionConfiguration file to transformers that work, with their KMS providers started. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FieldError } from '../../api/field-error.js'
import { parseGroupResource } from '../../api/group-version.js'
import { describeFieldError } from '../../api/status.js'
import { assert } from '../../lib/assert.js'
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { Transformer } from '../contract/transformer.js'
import { AesCbcTransformer } from './aes-cbc.js'
import { AesGcmTransformer } from './aes-gcm.js'
import { encryptCheckTransformer } from './encrypt-check.js'
import {
  decodeEncryptionConfiguration,
  EncryptionConfigError,
  type EncryptionConfiguration,
  type EncryptionKey,
  type KmsConfiguration,
  type ProviderConfiguration,
} from './encryption-config.js'
import { decodeSecret, validateEncryptionConfiguration } from './encryption-config-validation.js'
import { EnvelopeTransformer } from './kms/envelope.js'
import { type KeyCounter, noKeyCounter } from './kms/key-counter.js'
import { KmsProvider } from './kms/kms-provider.js'
import { GrpcKmsService } from './kms/kms-service.js'
import { type PrefixTransformer, PrefixTransformers } from './prefix-transformers.js'
import {
  ANY_GROUP_ANY_RESOURCE,
  formatRule,
  type ResourceTransformers,
  StaticTransformers,
} from './resource-transformers.js'
import { SecretboxTransformer } from './secretbox.js'

export interface LoaderOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly keys?: KeyCounter
}

/** One generation of the configuration. */
export interface LoadedEncryption {
  readonly transformers: ResourceTransformers
  /** `sha256:…` of the file; keys are not kept to compare. */
  readonly contentHash: string
  /** How long calls to its plugins may still be under way once nobody starts new ones. */
  readonly closeGracePeriodMs: number
  /** The health check `kms-providers`: rejects naming every provider that is unwell. */
  check(): Promise<void>
  close(): void
}

export async function loadEncryptionConfig(filePath: string, options: LoaderOptions): Promise<LoadedEncryption> {
  const content = await readConfigFile(filePath)
  const config = decodeFile(filePath, content.toString('utf8'))
  const builder = new Builder(options)
  const transformers = builder.build(config)
  await Promise.all(builder.kmsProviders.map(({ provider }) => provider.start()))
  return {
    transformers,
    contentHash: hashOf(content),
    // Health checks ask the plugins one after another; the sum of their timeouts is doubled for safety.
    closeGracePeriodMs: 2 * builder.kmsProviders.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0),
    check: () => checkAll(builder.kmsProviders.map(({ provider }) => provider)),
    close: () => {
      for (const { provider } of builder.kmsProviders) provider.stop()
    },
  }
}

function decodeFile(filePath: string, text: string): EncryptionConfiguration {
  try {
    const config = decodeEncryptionConfiguration(text)
    const errors = validateEncryptionConfiguration(config)
    if (errors.length > 0) throw new EncryptionConfigError(errors.map(describe).join('; '))
    refuseMaskedRules(config)
    return config
  } catch (cause) {
    if (!(cause instanceof EncryptionConfigError)) throw cause
    throw new EncryptionConfigError(`the encryption configuration ${filePath}: ${cause.message}`, { cause })
  }
}

/** The hash of the file, which is cheap enough to be asked for often. */
export async function encryptionConfigHash(filePath: string): Promise<string> {
  return hashOf(await readConfigFile(filePath))
}

async function readConfigFile(filePath: string): Promise<Buffer> {
  let content: Buffer
  try {
    content = await readFile(filePath)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new EncryptionConfigError(`the encryption configuration cannot be read: ${why}`, { cause })
  }
  if (content.length === 0) throw new EncryptionConfigError(`the encryption configuration ${filePath} is empty`)
  return content
}

function hashOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

function describe(error: FieldError): string {
  return `${error.field}: ${describeFieldError(error)}`
}

/** A wildcard in an earlier list would leave a later rule that it covers without effect. */
function refuseMaskedRules(config: EncryptionConfiguration): void {
  const earlier = new Set<string>()
  for (const block of config.resources) {
    for (const name of block.resources) {
      const rule = parseGroupResource(name)
      for (const wildcard of [{ group: rule.group, resource: '*' }, ANY_GROUP_ANY_RESOURCE]) {
        if (!earlier.has(formatRule(wildcard))) continue
        throw new EncryptionConfigError(
          `resource "${formatRule(rule)}" is masked by the earlier rule "${formatRule(wildcard)}"`,
        )
      }
    }
    for (const name of block.resources) earlier.add(formatRule(parseGroupResource(name)))
  }
}

async function checkAll(providers: readonly KmsProvider[]): Promise<void> {
  const failures: Error[] = []
  for (const provider of providers) {
    try {
      await provider.check()
    } catch (error) {
      failures.push(error instanceof Error ? error : new Error(String(error)))
    }
  }
  if (failures.length === 0) return
  throw new AggregateError(failures, failures.map((f) => f.message).join('; '))
}

class Builder {
  readonly kmsProviders: { provider: KmsProvider; timeoutMs: number }[] = []
  readonly #options: LoaderOptions

  constructor(options: LoaderOptions) {
    this.#options = options
  }

  /** A resource in several lists has the providers of all of them, in order. */
  build(config: EncryptionConfiguration): ResourceTransformers {
    const byRule = new Map<string, PrefixTransformer[]>()
    for (const block of config.resources) {
      const providers = block.providers.map((provider) => this.#provider(provider))
      for (const name of block.resources) {
        const rule = formatRule(parseGroupResource(name))
        byRule.set(rule, [...(byRule.get(rule) ?? []), ...providers])
      }
    }
    return new StaticTransformers(
      new Map([...byRule].map(([rule, list]) => [rule, new PrefixTransformers(list, 'no matching prefix found')])),
    )
  }

  #provider({ aesgcm, aescbc, secretbox, kms, identity }: ProviderConfiguration): PrefixTransformer {
    if (aesgcm !== undefined) return keyed('aesgcm', aesgcm, (key) => new AesGcmTransformer(key))
    if (aescbc !== undefined) return keyed('aescbc', aescbc, (key) => new AesCbcTransformer(key))
    if (secretbox !== undefined) return keyed('secretbox', secretbox, (key) => new SecretboxTransformer(key))
    if (kms !== undefined) return this.#kms(kms)
    assert(identity, 'a validated provider is one of the known ones')
    return { prefix: '', transformer: encryptCheckTransformer }
  }

  #kms({ name, endpoint, timeoutMs }: KmsConfiguration): PrefixTransformer {
    const { clock, logger, keys = noKeyCounter } = this.#options
    const service = new GrpcKmsService({ endpoint, timeoutMs, clock })
    const provider = new KmsProvider({ name, service, clock, logger, keys })
    this.kmsProviders.push({ provider, timeoutMs })
    const transformer = new EnvelopeTransformer({ service, clock, keys, currentState: () => provider.currentState() })
    return { prefix: `k8s:enc:kms:v2:${name}:`, transformer }
  }
}

function keyed(
  kind: 'aesgcm' | 'aescbc' | 'secretbox',
  keys: readonly EncryptionKey[],
  make: (key: Uint8Array) => Transformer,
): PrefixTransformer {
  const transformers = keys.map(({ name, secret }) => {
    const key = decodeSecret(secret)
    assert(key !== undefined, 'a validated secret is base64')
    return { prefix: `${name}:`, transformer: make(key) }
  })
  const transformer = new PrefixTransformers(transformers, `no key of the ${kind} provider has written this data`)
  return { prefix: `k8s:enc:${kind}:v1:`, transformer }
}
