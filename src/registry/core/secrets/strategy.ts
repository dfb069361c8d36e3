/** Thread: pool. Secrets: data whose keys depend on the type, which never changes. */

import { type FieldError, FieldPath, invalid, required, tooLong } from '../../../api/field-error.js'
import type { Secret } from '../../../api/generated/kinds/core.v1.js'
import { IMMUTABLE } from '../../../api/validation/object-meta.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { AGE_COLUMN, ageOf, NAME_COLUMN } from '../../generic/table-columns.js'
import { base64Bytes, immutableErrors, keyErrors, MAX_DATA_BYTES } from '../config-data.js'

const DATA = FieldPath.of('data')
const ACCOUNT_NAME = 'kubernetes.io/service-account.name'

/** Keys of which all must be there, by type. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = lookupTable({
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
})
const JSON_KEYS: ReadonlySet<string> = new Set(['.dockercfg', '.dockerconfigjson'])

function validate(secret: Secret): FieldError[] {
  const { data = {}, type = '' } = secret
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of Object.entries(data)) {
    errors.push(...keyErrors('data', key))
    size += base64Bytes(value)
  }
  if (size > MAX_DATA_BYTES) errors.push(tooLong(DATA, MAX_DATA_BYTES))
  for (const key of REQUIRED_KEYS[type] ?? []) errors.push(...requiredKey(data, key, type))
  if (type === 'kubernetes.io/basic-auth' && !Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password')) {
    errors.push(required(DATA.key('username')), required(DATA.key('password')))
  }
  if (type === 'kubernetes.io/service-account-token' && (secret.metadata?.annotations?.[ACCOUNT_NAME] ?? '') === '') {
    errors.push(required(FieldPath.of('metadata', 'annotations').key(ACCOUNT_NAME)))
  }
  return errors
}

function requiredKey(data: NonNullable<Secret['data']>, key: string, type: string): FieldError[] {
  // Bytes that are null stand for none.
  const value = Object.hasOwn(data, key) ? (data[key] ?? '') : undefined
  if (value === undefined || (type === 'kubernetes.io/ssh-auth' && value === '')) return [required(DATA.key(key))]
  if (!JSON_KEYS.has(key) || isJsonObject(Buffer.from(value, 'base64').toString())) return []
  return [invalid(DATA.key(key), '<secret contents redacted>', 'it is not a JSON object')]
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value)
  } catch {
    return false
  }
}

/** stringData is for writing only: it becomes data before anything else looks at the object. */
function setDefaults(secret: Secret): void {
  if ((secret.type ?? '') === '') secret.type = 'Opaque'
  if (secret.stringData === undefined) return
  secret.data ??= {}
  for (const [key, value] of Object.entries(secret.stringData)) secret.data[key] = Buffer.from(value).toString('base64')
  delete secret.stringData
}

export const secretRules: ResourceRules<Secret> = {
  setDefaults,
  validate,
  validateUpdate: (object, old) => [
    ...(object['type'] === old['type'] ? [] : [invalid(FieldPath.of('type'), object['type'], IMMUTABLE)]),
    ...immutableErrors(object, old, ['data']),
    ...validate(object),
  ],
  table: {
    columns: [
      NAME_COLUMN,
      { name: 'Type', type: 'string', description: 'What the data is for.' },
      { name: 'Data', type: 'string', description: 'How many keys it holds.' },
      AGE_COLUMN,
    ],
    cells: (object, nowMs) => {
      const { data = {}, type = '' } = object
      return [object.metadata?.name ?? '', type, Object.keys(data).length, ageOf(object, nowMs)]
    },
  },
}
