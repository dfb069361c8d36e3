/**
 * Thread: any. Which state a list reads: the rules of resourceVersion, resourceVersionMatch, limit and continue. This
 * is the one table of them: a store, the cacher around it, and the front end all ask here.
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
 *
 * What is read from memory at resourceVersion 0 is given whole, whatever the limit (unless a token asks for a page): a
 * page of a state that may be old helps nobody, and Kubernetes' watch cache does the same (`memoryLimit`).
 */
import { decodeContinue } from './continue-token.js'
import { StorageError } from './errors.js'
import type { ResourceVersionMatch } from './interface.js'

const MATCH_RULES: ReadonlySet<string> = new Set<ResourceVersionMatch>(['', 'Exact', 'NotOlderThan'])

/** What a list asks for, as its client wrote it. */
export interface ListDemand {
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  /** The most objects of a page; 0 when there is no limit. */
  readonly limit: number
  /** The token of the page; '' for the first one. */
  readonly continueToken: string
  /** Whether everything below the key is wanted; else the one object at the key. */
  readonly recursive: boolean
}

/** The state that a read is answered from. */
export interface ReadPosition {
  /** The exact revision to read; 0 for the newest. */
  readonly revision: number
  /** The answer must not be older than this revision; 0 when there is no demand. */
  readonly minimumRevision: number
  /** Whether everything that was acknowledged before the read must be in the answer. */
  readonly consistent: boolean
}

export interface ListPosition extends ReadPosition {
  /** The key at which a continued list goes on; undefined for the first page. */
  readonly startKey: string | undefined
  /** The limit that a reader of memory keeps; 0 when there is none. */
  readonly memoryLimit: number
}

/** `parse` gives the number of a resourceVersion ('' is 0), or throws what its caller is told. */
export function resolveListPosition(
  keyPrefix: string,
  demand: ListDemand,
  parse: (resourceVersion: string) => number,
): ListPosition {
  const { resourceVersion, resourceVersionMatch, recursive, limit, continueToken } = demand
  const memoryLimit = recursive && (resourceVersion !== '0' || continueToken !== '') ? limit : 0
  if (recursive && continueToken !== '') {
    const position = decodeContinue(continueToken, keyPrefix)
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw new StorageError('invalid-request', 'specifying resource version is not allowed when using continue')
    }
    const revision = Math.max(position.revision, 0)
    return { revision, minimumRevision: 0, consistent: revision === 0, startKey: position.startKey, memoryLimit }
  }
  const asked = parse(resourceVersion)
  if (resourceVersion !== '' && !MATCH_RULES.has(resourceVersionMatch)) {
    throw new StorageError('invalid-request', `unknown resourceVersionMatch ${JSON.stringify(resourceVersionMatch)}`)
  }
  const exact =
    resourceVersion !== '' &&
    (resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && recursive && limit > 0))
  const consistent = resourceVersion === ''
  return exact
    ? { revision: asked, minimumRevision: 0, consistent, startKey: undefined, memoryLimit }
    : { revision: 0, minimumRevision: asked, consistent, startKey: undefined, memoryLimit }
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
