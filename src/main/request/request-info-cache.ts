/**
 * Thread: main, or a front end's own. Remembers the request info and the query of reads: clients ask for the same again
 * and again, and taking a path apart costs more than finding it.
 */
import type { RequestInfo } from '../../api/request-info.js'
import { NO_QUERY, resolveRequestInfo } from './request-info-resolver.js'

/** Paths and queries up to these lengths are remembered, which takes some megabytes at most, whoever sends them. */
const MAX_PATHS = 4096
const MAX_PATH_CHARACTERS = 512
/** Long enough for `resourceVersion=0` and `limit=500`, and not for continue tokens, which come once. */
const MAX_QUERY_CHARACTERS = 64

/** Many requests may share it, so nobody changes it. */
export interface AskedFor {
  readonly info: RequestInfo
  readonly query: URLSearchParams
}

export class RequestInfoCache {
  #known = new Map<string, AskedFor>()

  of(method: string, rawPath: string, queryText: string): AskedFor {
    if (method !== 'GET' || rawPath.length > MAX_PATH_CHARACTERS || queryText.length > MAX_QUERY_CHARACTERS)
      return understood(method, rawPath, queryText)
    const name = queryText === '' ? rawPath : `${rawPath}?${queryText}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const asked = understood(method, rawPath, queryText)
    if (this.#known.size >= MAX_PATHS) this.#known = new Map()
    this.#known.set(name, asked)
    return asked
  }
}

function understood(method: string, rawPath: string, queryText: string): AskedFor {
  const query = queryText === '' ? NO_QUERY : new URLSearchParams(queryText)
  return { info: resolveRequestInfo(method, rawPath, query), query }
}
