/**
 * Thread: any. Which state a list reads: the rules of resourceVersion, resourceVersionMatch, limit and continue, the same
 * for a store and for the cacher around it.
 *
 * | continue | resourceVersion | match        | limit | reads at                                |
 * | -------- | --------------- | ------------ | ----- | --------------------------------------- |
 * | token    | '' or 0         | any          | any   | the token's revision; newest when it is -1 |
 * | token    | other           | any          | any   | refused                                 |
 * | –        | ''              | any          | any   | newest                                  |
 * | –        | V               | Exact        | any   | V                                       |
 * | –        | V               | NotOlderThan | any   | newest, at least V                      |
 * | –        | V > 0           | ''           | > 0   | V (recursive only)                      |
 * | –        | V               | ''           | 0     | newest, at least V                      |
 */
import { decodeContinue } from './continue-token.js'
import { StorageError } from './errors.js'
import type { ListOptions, ResourceVersionMatch, Versioner } from './interface.js'

const MATCH_RULES: ReadonlySet<string> = new Set<ResourceVersionMatch>(['', 'Exact', 'NotOlderThan'])

export interface ListPosition {
  /** The exact revision to read; 0: the newest. */
  readonly revision: number
  /** Where a continued list goes on; undefined at the start. */
  readonly startKey: string | undefined
  /** The answer must not be older than this; 0: no demand. */
  readonly minimumRevision: number
}

export function resolveListPosition<T>(
  keyPrefix: string,
  versioner: Versioner<T>,
  options: ListOptions<T>,
): ListPosition {
  const { predicate, resourceVersion, resourceVersionMatch, recursive } = options
  if (recursive && predicate.continueToken !== '') {
    const position = decodeContinue(predicate.continueToken, keyPrefix)
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw new StorageError('invalid-request', 'specifying resource version is not allowed when using continue')
    }
    return { revision: Math.max(position.revision, 0), startKey: position.startKey, minimumRevision: 0 }
  }
  const asked = versioner.parseResourceVersion(resourceVersion)
  if (resourceVersion !== '' && !MATCH_RULES.has(resourceVersionMatch)) {
    throw new StorageError('invalid-request', `unknown resourceVersionMatch ${JSON.stringify(resourceVersionMatch)}`)
  }
  const exact =
    resourceVersion !== '' &&
    (resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && recursive && predicate.limit > 0))
  return exact
    ? { revision: asked, startKey: undefined, minimumRevision: 0 }
    : { revision: 0, startKey: undefined, minimumRevision: asked }
}

/** Throws `too-large` when a client has seen a revision that this store has not reached. */
export function checkMinimumRevision(minimumRevision: number, currentRevision: number): void {
  if (minimumRevision > currentRevision) throw tooLargeResourceVersion(minimumRevision, currentRevision)
}

export function tooLargeResourceVersion(
  resourceVersion: number,
  currentRevision: number,
  retryAfterSeconds?: number,
): StorageError {
  return new StorageError(
    'too-large',
    `Too large resource version: ${resourceVersion}, current: ${currentRevision}`,
    retryAfterSeconds === undefined
      ? { resourceVersion, currentRevision }
      : { resourceVersion, currentRevision, retryAfterSeconds },
  )
}
