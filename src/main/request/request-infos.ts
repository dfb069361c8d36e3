/**
 * Thread: main, or a front end's own. What paths and queries mean, remembered: clients ask for the same again and again, and
 * taking it apart costs more than finding it. Only of reads.
 */
import type { RequestInfo } from '../../api/request-info.js'
import { NO_QUERY, resolveRequestInfo } from './request-info-resolver.js'

/** Some megabytes at most, whoever sends them: what is longer than any object's path is taken apart each time. */
const MAX_PATHS = 4096
const MAX_PATH_CHARACTERS = 512
/** `resourceVersion=0`, `limit=500`; not tokens to go on with, which come once. */
const MAX_QUERY_CHARACTERS = 64

/** Nobody changes it: many requests may share it. */
export interface AskedFor {
  readonly info: RequestInfo
  readonly query: URLSearchParams
}

export class RequestInfos {
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
