/** Thread: any. The rules of an EncryptionConfiguration; every one that is broken is reported, not the first alone. */
import { type FieldError, FieldPath, invalid, required } from '../../api/field-error.js'
import { type GroupResource, parseGroupResource } from '../../api/group-version.js'
import { AES_KEY_SIZES } from './aes-gcm.js'
import type {
  EncryptionConfiguration,
  EncryptionKey,
  KmsConfiguration,
  ProviderConfiguration,
} from './encryption-config.js'
import { isAnyGroupAnyResource } from './resource-transformers.js'
import { SECRETBOX_KEY_SIZES } from './secretbox.js'

const KINDS = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'] as const
/** Resources that are kept in storage beside the API's objects and are not served. */
const NOT_SERVED: readonly string[] = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']
const REDACTED = 'REDACTED'

export function validateEncryptionConfiguration(config: EncryptionConfiguration): FieldError[] {
  const root = FieldPath.of('resources')
  if (config.resources.length === 0) return [required(root, 'at least one resources is required')]
  const errors: FieldError[] = []
  const kmsNames = new Set<string>()
  for (const [i, block] of config.resources.entries()) {
    const resources = root.index(i).child('resources')
    const providers = root.index(i).child('providers')
    if (block.resources.length === 0) errors.push(required(resources, `at least one ${resources} is required`))
    errors.push(...validateOverlap(block.resources, resources))
    errors.push(...block.resources.flatMap((name, j) => validateResourceName(name, resources.index(j))))
    if (block.providers.length === 0) errors.push(required(providers, `at least one ${providers} is required`))
    for (const [j, provider] of block.providers.entries()) {
      errors.push(...validateProvider(provider, providers.index(j), kmsNames))
    }
  }
  return errors
}

/** The overlaps within one list. What one list hides of a later one is found when the transformers are put together. */
function validateOverlap(names: readonly string[], path: FieldPath): FieldError[] {
  const parsed = names.map(parseGroupResource)
  const pairs = parsed.flatMap((a, i) => parsed.slice(i + 1).map((b) => [a, b] as const))
  const same = (a: GroupResource, b: GroupResource): boolean => a.group === b.group && a.resource === b.resource
  const errors: FieldError[] = []
  if (pairs.some(([a, b]) => same(a, b))) {
    errors.push(invalid(path, names, 'a resource may be listed only once'))
  }
  if (pairs.some(([a, b]) => !same(a, b) && overlap(a, b))) {
    errors.push(invalid(path, names, "a resource and a wildcard that covers it, such as 'secrets' and '*.', overlap"))
  }
  return errors
}

function overlap(a: GroupResource, b: GroupResource): boolean {
  if (isAnyGroupAnyResource(a) || isAnyGroupAnyResource(b)) return true
  return a.group === b.group && (a.resource === '*' || b.resource === '*')
}

function validateResourceName(name: string, path: FieldPath): FieldError[] {
  const { group, resource } = parseGroupResource(name)
  const problem = (): string | undefined => {
    if (name !== name.toLowerCase()) return 'the name of a resource has no capital letters'
    if (name === '*') return "use '*.' for all resources of the core group or '*.*' for all resources"
    if (NOT_SERVED.includes(name)) return 'what the API does not serve cannot be encrypted'
    if (group === 'events.k8s.io') return "events are stored in the core group: use 'events'"
    if (group === 'extensions') return "the group 'extensions' is gone and cannot be encrypted"
    if (group === '*' && resource !== '*') return 'one resource across all groups cannot be encrypted'
    return undefined
  }
  const detail = problem()
  return detail === undefined ? [] : [invalid(path, name, detail)]
}

function validateProvider(provider: ProviderConfiguration, path: FieldPath, kmsNames: Set<string>): FieldError[] {
  const found = KINDS.filter((kind) => provider[kind] !== undefined)
  const errors: FieldError[] = []
  if (found.length === 0) errors.push(invalid(path, {}, `a provider is one of ${KINDS.join(', ')}`))
  if (found.length > 1) {
    errors.push(invalid(path, found, 'one list element holds one provider: split it into several elements'))
  }
  if (provider.kms !== undefined) {
    errors.push(...validateKms(provider.kms, path.child('kms'), kmsNames))
    kmsNames.add(provider.kms.name)
  } else if (provider.aesgcm !== undefined) {
    errors.push(...validateKeys(provider.aesgcm, path.child('aesgcm', 'keys'), AES_KEY_SIZES))
  } else if (provider.aescbc !== undefined) {
    errors.push(...validateKeys(provider.aescbc, path.child('aescbc', 'keys'), AES_KEY_SIZES))
  } else if (provider.secretbox !== undefined) {
    errors.push(...validateKeys(provider.secretbox, path.child('secretbox', 'keys'), SECRETBOX_KEY_SIZES))
  }
  return errors
}

function validateKeys(keys: readonly EncryptionKey[], path: FieldPath, sizes: readonly number[]): FieldError[] {
  if (keys.length === 0) return [required(path, 'at least one keys is required')]
  return keys.flatMap((key, i) => validateKey(key, path.index(i), sizes))
}

function validateKey({ name, secret }: EncryptionKey, path: FieldPath, sizes: readonly number[]): FieldError[] {
  const errors: FieldError[] = []
  if (name === '') errors.push(required(path.child('name'), 'a key needs a name'))
  if (secret === '') return [...errors, required(path.child('secret'), 'a key needs a secret')]
  const bytes = decodeSecret(secret)
  if (bytes === undefined) return [...errors, invalid(path.child('secret'), REDACTED, 'secrets must be base64 encoded')]
  if (!sizes.includes(bytes.length)) {
    const detail = `a secret of ${bytes.length} bytes is not of the expected length, one of ${sizes.join(', ')}`
    errors.push(invalid(path.child('secret'), REDACTED, detail))
  }
  return errors
}

/** Decodes standard base64 with its padding; line breaks are allowed. Undefined when it is anything else. */
export function decodeSecret(secret: string): Uint8Array | undefined {
  const compact = secret.replace(/[\r\n]/g, '')
  const isBase64 = compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact)
  return isBase64 ? Uint8Array.from(Buffer.from(compact, 'base64')) : undefined
}

function validateKms(kms: KmsConfiguration, path: FieldPath, names: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = []
  const name = path.child('name')
  if (kms.name === '') errors.push(required(name, 'a provider needs a name'))
  if (kms.name.includes(':')) errors.push(invalid(name, kms.name, "the name of a KMS provider must not contain ':'"))
  if (names.has(kms.name)) errors.push(invalid(name, kms.name, 'names of KMS providers must be unique'))
  if (kms.timeoutMs <= 0) errors.push(invalid(path.child('timeout'), `${kms.timeoutMs}ms`, 'must be positive'))
  errors.push(...validateEndpoint(kms.endpoint, path.child('endpoint')))
  if (kms.cachesize !== undefined && kms.apiVersion !== 'v1') {
    errors.push(invalid(path.child('cachesize'), kms.cachesize, 'v2 has no cachesize'))
  }
  const apiVersion = path.child('apiVersion')
  if (kms.apiVersion === 'v1') {
    errors.push(invalid(apiVersion, 'v1', 'KMS v1 (the default) is not supported: write apiVersion: v2'))
  } else if (kms.apiVersion !== 'v2') {
    errors.push(invalid(apiVersion, kms.apiVersion, 'not a version of the KMS API: write apiVersion: v2'))
  }
  return errors
}

function validateEndpoint(endpoint: string, path: FieldPath): FieldError[] {
  if (endpoint === '') return [invalid(path, '', 'a KMS provider needs an endpoint')]
  if (!URL.canParse(endpoint)) return [invalid(path, endpoint, 'it is not a URL such as unix:///run/kms.sock')]
  const { protocol } = new URL(endpoint)
  return protocol === 'unix:' ? [] : [invalid(path, endpoint, `the scheme must be unix, not ${protocol.slice(0, -1)}`)]
}
