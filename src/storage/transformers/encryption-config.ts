/**
 * Thread: any. EncryptionConfiguration, apiserver.config.k8s.io/v1, as a file holds it. Decoding is strict: a field
 * that nobody reads, twice the same field or a wrong type is an error, since a typing mistake here means plain secrets.
 */
import { load, YAMLException } from 'js-yaml'
import { parseDurationMs } from '../../api/duration.js'

export interface EncryptionKey {
  readonly name: string
  /** The key in base64. */
  readonly secret: string
}

export interface KmsConfiguration {
  readonly apiVersion: string
  readonly name: string
  readonly cachesize: number | undefined
  readonly endpoint: string
  readonly timeoutMs: number
}

/** A provider; a valid one has exactly one of the fields. */
export interface ProviderConfiguration {
  readonly aesgcm: readonly EncryptionKey[] | undefined
  readonly aescbc: readonly EncryptionKey[] | undefined
  readonly secretbox: readonly EncryptionKey[] | undefined
  readonly identity: true | undefined
  readonly kms: KmsConfiguration | undefined
}

export interface ResourceConfiguration {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*` for everything. */
  readonly resources: readonly string[]
  readonly providers: readonly ProviderConfiguration[]
}

export interface EncryptionConfiguration {
  readonly resources: readonly ResourceConfiguration[]
}

export class EncryptionConfigError extends Error {
  override readonly name = 'EncryptionConfigError'
  readonly code = 'encryption-config'
}

const DEFAULT_KMS_TIMEOUT_MS = 3000
/** The default is Kubernetes' own, which is refused with a word about what to write instead. */
const DEFAULT_KMS_API_VERSION = 'v1'

/**
 * Reads YAML or JSON; throws EncryptionConfigError with every problem of form. The rules are checked elsewhere
 * (encryption-config-validation.ts).
 */
export function decodeEncryptionConfiguration(text: string): EncryptionConfiguration {
  const problems: string[] = []
  const root = new Reader(parse(text), '', problems)
  const header = `${root.string('apiVersion')}, ${root.string('kind')}`
  // The second header is a slip in early documentation that Kubernetes has honoured ever since.
  if (header !== 'apiserver.config.k8s.io/v1, EncryptionConfiguration' && header !== 'v1, EncryptionConfig') {
    throw new EncryptionConfigError(
      `apiVersion and kind must be apiserver.config.k8s.io/v1 and EncryptionConfiguration, not ${header}`,
    )
  }
  const resources = root.list('resources').map((block) => {
    const decoded = { resources: block.strings('resources'), providers: block.list('providers').map(decodeProvider) }
    block.end()
    return decoded
  })
  root.end()
  if (problems.length > 0) throw new EncryptionConfigError(problems.join('; '))
  return { resources }
}

function parse(text: string): unknown {
  try {
    return load(text)
  } catch (cause) {
    if (!(cause instanceof YAMLException)) throw new EncryptionConfigError(`it is not YAML: ${String(cause)}`)
    // The exception itself is not passed on: its message quotes the lines around, and with them the keys.
    const place = cause.mark === undefined ? '' : `line ${cause.mark.line + 1}, column ${cause.mark.column + 1}: `
    throw new EncryptionConfigError(`it is not YAML: ${place}${cause.reason}`)
  }
}

function decodeProvider(provider: Reader): ProviderConfiguration {
  const decoded = {
    aesgcm: decodeKeys(provider.struct('aesgcm')),
    aescbc: decodeKeys(provider.struct('aescbc')),
    secretbox: decodeKeys(provider.struct('secretbox')),
    identity: decodeIdentity(provider.struct('identity')),
    kms: decodeKms(provider.struct('kms')),
  }
  provider.end()
  return decoded
}

function decodeIdentity(identity: Reader | undefined): true | undefined {
  identity?.end()
  return identity === undefined ? undefined : true
}

function decodeKeys(provider: Reader | undefined): EncryptionKey[] | undefined {
  const keys = provider?.list('keys').map((key) => {
    const decoded = { name: key.string('name'), secret: key.string('secret') }
    key.end()
    return decoded
  })
  provider?.end()
  return keys
}

function decodeKms(kms: Reader | undefined): KmsConfiguration | undefined {
  if (kms === undefined) return undefined
  const decoded = {
    apiVersion: kms.string('apiVersion') || DEFAULT_KMS_API_VERSION,
    name: kms.string('name'),
    cachesize: kms.integer('cachesize'),
    endpoint: kms.string('endpoint'),
    timeoutMs: kms.duration('timeout') ?? DEFAULT_KMS_TIMEOUT_MS,
  }
  kms.end()
  return decoded
}

/** One mapping of the file: reads fields by type, and knows at the end which were never asked for. */
class Reader {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #path: string
  readonly #problems: string[]
  readonly #asked = new Set<string>()

  constructor(value: unknown, path: string, problems: string[]) {
    this.#path = path
    this.#problems = problems
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!isMapping) problems.push(`${path === '' ? 'the file' : path} must be a mapping`)
    this.#values = isMapping ? (value as Record<string, unknown>) : {}
  }

  string(name: string): string {
    return this.#typed(name, 'a string', (value) => (typeof value === 'string' ? value : undefined)) ?? ''
  }

  integer(name: string): number | undefined {
    return this.#typed(name, 'an integer', (value) => (Number.isInteger(value) ? (value as number) : undefined))
  }

  duration(name: string): number | undefined {
    const milliseconds = (value: unknown): number | undefined =>
      typeof value === 'string' ? parseDurationMs(value) : undefined
    return this.#typed(name, 'a duration such as 3s', milliseconds)
  }

  strings(name: string): string[] {
    const strings = (value: unknown): string[] | undefined =>
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
    return this.#typed(name, 'a list of strings', strings) ?? []
  }

  struct(name: string): Reader | undefined {
    const value = this.#get(name)
    return value === undefined ? undefined : new Reader(value, this.#pathOf(name), this.#problems)
  }

  list(name: string): Reader[] {
    const items = this.#typed(name, 'a list', (value) => (Array.isArray(value) ? (value as unknown[]) : undefined))
    return (items ?? []).map((item, i) => new Reader(item, `${this.#pathOf(name)}[${i}]`, this.#problems))
  }

  end(): void {
    for (const name of Object.keys(this.#values)) {
      if (!this.#asked.has(name)) this.#problems.push(`unknown field ${JSON.stringify(this.#pathOf(name))}`)
    }
  }

  #typed<T>(name: string, what: string, convert: (value: unknown) => T | undefined): T | undefined {
    const value = this.#get(name)
    if (value === undefined) return undefined
    const converted = convert(value)
    if (converted === undefined) this.#problems.push(`${this.#pathOf(name)} must be ${what}`)
    return converted
  }

  /** The value of a field; null counts as absent. */
  #get(name: string): unknown {
    this.#asked.add(name)
    return (Object.hasOwn(this.#values, name) ? this.#values[name] : undefined) ?? undefined
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }
}
