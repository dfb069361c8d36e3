/**
 * Thread: main, or a front end's own. What paths mean, remembered: clients ask for the same objects again and again, and
 * taking a path apart costs more than finding it. Only reads without a query, which says more than the path.
 */
import type { RequestInfo } from '../api/request-info.js'
import { newBadRequest } from '../api/status.js'
import { requestInfo } from './request-info.js'

/** Two megabytes at most, whoever sends them: longer paths than any object's are taken apart each time. */
const MAX_PATHS = 4096
const MAX_PATH_CHARACTERS = 512

export class RequestInfos {
  #known = new Map<string, RequestInfo>()

  of(method: string, rawPath: string, hasQuery: boolean, query: URLSearchParams): RequestInfo {
    if (hasQuery || method !== 'GET' || rawPath.length > MAX_PATH_CHARACTERS)
      return requestInfo(method, decodePath(rawPath), query)
    const known = this.#known.get(rawPath)
    if (known !== undefined) return known
    const info = requestInfo(method, decodePath(rawPath), query)
    if (this.#known.size >= MAX_PATHS) this.#known = new Map()
    this.#known.set(rawPath, info)
    return info
  }
}

/** Percent-encoding is undone before the path is split: an encoded slash is a slash. */
function decodePath(rawPath: string): string {
  if (!rawPath.includes('%')) return rawPath
  try {
    return decodeURIComponent(rawPath)
  } catch {
    throw newBadRequest('the path is not valid percent-encoding')
  }
}
