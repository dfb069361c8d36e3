/**
 * Thread: any. Continue tokens, encoded as Kubernetes encodes them, so that a client may take one from either server to
 * the other: unpadded base64url of `{"v":"meta.k8s.io/v1","rv":REVISION,"start":KEY}`, the key relative to the listed
 * prefix. A revision of -1 means "go on at the newest", which is what an expired token is exchanged for.
 */
import path from 'node:path'
import { assert } from '../../lib/assert.js'
import { StorageError } from './errors.js'

const TOKEN_VERSION = 'meta.k8s.io/v1'
export const NEWEST_REVISION = -1

export interface ContinuePosition {
  /** The first key that the next page looks at. */
  readonly startKey: string
  /** The revision of the next page; NEWEST_REVISION when the list goes on at the newest one. */
  readonly revision: number
}

export function encodeContinue(startKey: string, keyPrefix: string, revision: number): string {
  assert(startKey.startsWith(keyPrefix) && startKey !== keyPrefix, 'a continue token points below the listed prefix')
  const token = { v: TOKEN_VERSION, rv: revision, start: startKey.slice(keyPrefix.length) }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

/** Throws `invalid-request` for what no server made, and for keys that lead out of the listed prefix. */
export function decodeContinue(token: string, keyPrefix: string): ContinuePosition {
  const fields = parseToken(token)
  if (fields.v !== TOKEN_VERSION) throw invalid(`its version ${String(fields.v)} is not known here`)
  if (typeof fields.rv !== 'number' || !Number.isSafeInteger(fields.rv) || fields.rv === 0) {
    throw invalid('it holds no resourceVersion')
  }
  if (typeof fields.start !== 'string' || fields.start === '') throw invalid('it holds no start key')
  const start = fields.start.startsWith('/') ? fields.start : `/${fields.start}`
  if (path.posix.normalize(start) !== start || start.endsWith('/')) {
    throw invalid(`${JSON.stringify(fields.start)} is no plain key`)
  }
  return { startKey: keyPrefix + start.slice(1), revision: fields.rv > 0 ? fields.rv : NEWEST_REVISION }
}

function parseToken(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  if (!/^[A-Za-z0-9_-]+$/.test(token)) throw invalid('it is not base64url')
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'))
    if (typeof parsed === 'object' && parsed !== null) return parsed
  } catch (cause) {
    throw invalid('it is not JSON', cause)
  }
  throw invalid('it is not an object')
}

function invalid(why: string, cause?: unknown): StorageError {
  return new StorageError('invalid-request', `invalid continue token: ${why}`, cause === undefined ? {} : { cause })
}
