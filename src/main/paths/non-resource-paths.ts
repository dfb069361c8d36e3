/** Thread: main. Paths that are no resources: health, version, metrics, discovery, documents, the index. */
import { UNKNOWN_PATH } from '../../api/status.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Exchange } from '../http/exchange.js'

export type PathHandler = (exchange: Exchange, query: URLSearchParams, rest: string) => Promise<void> | undefined

export class NonResourcePaths {
  readonly #exact = new Map<string, PathHandler>()
  /** Paths that are another path with a slash behind it. */
  readonly #asWritten = new Set<string>()
  readonly #public = new Map<string, PathHandler>()
  readonly #prefixes: { readonly prefix: string; readonly handler: PathHandler }[] = []

  exact(path: string, handler: PathHandler, slash: 'ignored' | 'as-written' = 'ignored'): Closable {
    this.#exact.set(path, handler)
    if (slash === 'as-written') this.#asWritten.add(path)
    return { close: () => void this.#exact.delete(path) }
  }

  /** Adds a path that is open to everybody, because it holds no data. It is not in the index. */
  public(path: string, handler: PathHandler): void {
    this.#public.set(path, handler)
  }

  publicHandler(path: string): PathHandler | undefined {
    return this.#public.get(path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
  }

  /** Adds everything below a path, which ends with a slash. */
  below(prefix: string, handler: PathHandler): void {
    this.#prefixes.push({ prefix, handler })
    this.#prefixes.sort((a, b) => b.prefix.length - a.prefix.length)
  }

  /** The paths that are served, for the index at /. */
  paths(): string[] {
    return [...this.#exact.keys()].filter((path) => path !== '/').sort()
  }

  handle(exchange: Exchange, path: string, query: URLSearchParams): Promise<void> | undefined {
    const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const handler = plain !== path && this.#asWritten.has(plain) ? undefined : this.#exact.get(plain)
    if (handler !== undefined) return handler(exchange, query, '')
    const below = this.#prefixes.find(({ prefix }) => path.startsWith(prefix))
    if (below !== undefined) return below.handler(exchange, query, path.slice(below.prefix.length))
    this.notFound(exchange)
    return undefined
  }

  notFound(exchange: Exchange): void {
    const { text, ...head } = UNKNOWN_PATH
    exchange.respond(head, text)
  }
}
