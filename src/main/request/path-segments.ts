/**
 * Thread: main. A path taken apart once, decoded and as the client encoded it. Both are cut at the same places: where a
 * slash stands or an encoded one, which is a slash as well.
 */
import type { ProxiedPath } from '../../api/request-info.js'
import { newBadRequest } from '../../api/status.js'

const SLASH = /\/|%2f/gi

export class PathSegments {
  /** The whole path, decoded. */
  readonly path: string
  /** The segments of the decoded path, without empty ones. */
  readonly decoded: readonly string[]
  readonly #rawPath: string

  /** Throws BadRequest when the path cannot be decoded. */
  constructor(rawPath: string) {
    this.#rawPath = rawPath
    this.path = rawPath.includes('%') ? decode(rawPath) : rawPath
    this.decoded = this.path.split('/').filter((segment) => segment !== '')
  }

  /** The path in two: the first `count` segments that are not empty, and the rest. */
  cutAfter(count: number): ProxiedPath {
    const raw = this.#rawPath
    let [prefix, start] = ['', 0]
    let left = count
    for (const { index, 0: slash } of raw.matchAll(SLASH)) {
      if (index > start) {
        prefix += `/${raw.slice(start, index)}`
        // The slash that ends the segment was read as one, however it was written.
        if (--left === 0) return { prefix, rest: `/${raw.slice(index + slash.length)}` }
      }
      start = index + slash.length
    }
    return { prefix: `${prefix}/${raw.slice(start)}`, rest: '' }
  }
}

function decode(rawPath: string): string {
  try {
    return decodeURIComponent(rawPath)
  } catch {
    throw newBadRequest('the path is not valid percent-encoding')
  }
}
