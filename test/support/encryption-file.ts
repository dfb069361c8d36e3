import { randomBytes } from 'node:crypto'

const KEYS = Object.fromEntries(['old', 'new'].map((name) => [name, randomBytes(32).toString('base64')]))

/** An EncryptionConfiguration of secrets with these keys, the first of which writes: old, new. */
export const encryptionFile = (...names: string[]): string => encryptionFileOf(['secrets'], ...names)

/** The same of other resources. */
export const encryptionFileOf = (resources: readonly string[], ...names: string[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers: [{ aescbc: { keys: names.map((name) => ({ name, secret: KEYS[name] })) } }] }],
  })
