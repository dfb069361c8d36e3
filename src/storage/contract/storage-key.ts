/**
 * Thread: any. From the keys of the contract (`/pods/default/a`) to the keys in the store (`/registry/pods/default/a`).
 */
import path from 'node:path'
import { StorageError } from './errors.js'

/** `registry`, `/registry` and `/registry/` all mean `/registry/`. */
export function normalizePathPrefix(pathPrefix: string): string {
  const joined = path.posix.join('/', pathPrefix)
  return joined.endsWith('/') ? joined : `${joined}/`
}

/** `/pods` and `/pods/` both mean `/pods/`, so that `/pods.apps` and a bare `/pods` are recognised as other keys. */
export function normalizeResourcePrefix(resourcePrefix: string): string {
  if (!resourcePrefix.startsWith('/') || /^\/*$/.test(resourcePrefix)) {
    throw new RangeError(`a resource prefix starts with a slash and has a name after it, not ${quote(resourcePrefix)}`)
  }
  return resourcePrefix.endsWith('/') ? resourcePrefix : `${resourcePrefix}/`
}

/** Both prefixes of a resource, normalized once. */
export class KeySpace {
  readonly pathPrefix: string
  readonly resourcePrefix: string

  constructor(options: { pathPrefix: string; resourcePrefix: string }) {
    this.pathPrefix = normalizePathPrefix(options.pathPrefix)
    this.resourcePrefix = normalizeResourcePrefix(options.resourcePrefix)
  }

  /** The key of one object. Throws `invalid-request` for a key that could reach outside the resource. */
  object(key: string): string {
    checkSegments(key)
    return this.#stored(key)
  }

  /**
   * The prefix of everything below a key; always ends in a slash, so that `/pods/foo` never takes in `/pods/foobar`.
   */
  prefix(key: string): string {
    checkSegments(key)
    return this.#stored(key.endsWith('/') ? key : `${key}/`)
  }

  prepare(key: string, recursive: boolean): string {
    return recursive ? this.prefix(key) : this.object(key)
  }

  /** The prefix of the whole resource. */
  get root(): string {
    return this.pathPrefix + this.resourcePrefix.slice(1)
  }

  #stored(key: string): string {
    if (!key.startsWith(this.resourcePrefix)) {
      throw new StorageError(
        'invalid-request',
        `invalid key ${quote(key)}: it lacks the resource prefix ${quote(this.resourcePrefix)}`,
        { key },
      )
    }
    return this.pathPrefix + key.slice(1)
  }
}

function checkSegments(key: string): void {
  if (key === '' || key === '/') throw new StorageError('invalid-request', `empty key ${quote(key)}`, { key })
  // Most keys hold no dot; names such as kube-root-ca.crt do, and only whole segments matter.
  if (!key.includes('.')) return
  for (const segment of key.split('/')) {
    if (segment === '.' || segment === '..') {
      throw new StorageError('invalid-request', `invalid key ${quote(key)}: ${segment} is no name`, { key })
    }
  }
}

function quote(text: string): string {
  return JSON.stringify(text)
}
