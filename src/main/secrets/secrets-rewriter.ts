/**
 * Thread: main. Writes every object back as it is, so that the server stores it anew with the newest key. What is stored
 * with that key already is not written by the server; so a rewrite can be stopped at any moment and begun again, and the
 * place where it was is only a matter of time saved.
 */
import { printRaw } from '../../api/json/print-raw.js'
import type { JsonObject } from '../../api/object.js'
import { type ApiClient, ApiFailure, messageOf } from './api-client.js'
import type { RewriteTarget } from './rewrite-targets.js'

export interface RewritePlace {
  /** Resources that are done. */
  readonly done: readonly string[]
  readonly resource: string
  readonly continueToken: string
}

export interface RewriteProgress {
  readonly resource: string
  readonly written: number
  readonly failed: number
  /** How many objects are left, as far as the server knows. */
  readonly remaining: number
}

export interface SecretsRewriterOptions {
  readonly client: Pick<ApiClient, 'get' | 'send'>
  readonly targets: readonly RewriteTarget[]
  readonly pageSize: number
  readonly parallel: number
  readonly place: RewritePlace | undefined
  readonly onProgress: (progress: RewriteProgress) => void
  /** Called after each page, and after each resource. */
  readonly onPlace: (place: RewritePlace) => void
  readonly onFailure: (object: string, why: string) => void
}

interface Item {
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

interface Page {
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number }
  readonly items: readonly Item[]
}

/**
 * Answers after which the object is as good as written: it is gone, or somebody changed it meanwhile and so stored it
 * anew.
 */
const AS_GOOD_AS_WRITTEN: ReadonlySet<number> = new Set([200, 201, 404, 409])

export class SecretsRewriter {
  readonly #options: SecretsRewriterOptions
  #written = 0
  #failed = 0
  #stopping = false

  constructor(options: SecretsRewriterOptions) {
    this.#options = options
  }

  /** Writes under way are finished, and the place is kept. */
  stop(): void {
    this.#stopping = true
  }

  /** Gives false when it was stopped, or when some objects could not be written. */
  async run(): Promise<boolean> {
    const { targets, place } = this.#options
    const done = [...(place?.done ?? [])]
    for (const target of targets) {
      if (done.includes(target.name)) continue
      const from = place?.resource === target.name ? place.continueToken : ''
      if (!(await this.#resource(target, from, done))) return false
      done.push(target.name)
      this.#options.onPlace({ done, resource: '', continueToken: '' })
    }
    return this.#failed === 0
  }

  async #resource(target: RewriteTarget, from: string, done: readonly string[]): Promise<boolean> {
    let continueToken = from
    do {
      const page = await this.#page(target, continueToken)
      await this.#writeAll(target, page.items)
      continueToken = page.metadata.continue ?? ''
      this.#options.onPlace({ done, resource: target.name, continueToken })
      this.#options.onProgress({
        resource: target.name,
        written: this.#written,
        failed: this.#failed,
        remaining: page.metadata.remainingItemCount ?? 0,
      })
      if (this.#stopping) return false
    } while (continueToken !== '')
    return true
  }

  async #page(target: RewriteTarget, continueToken: string): Promise<Page> {
    const { client, pageSize } = this.#options
    const query = `?limit=${pageSize}${continueToken === '' ? '' : `&continue=${encodeURIComponent(continueToken)}`}`
    try {
      return await client.get<Page>(`${target.path}${query}`)
    } catch (error) {
      // The token has expired: the resource is read from its start again.
      if (error instanceof ApiFailure && error.status === 410 && continueToken !== '') return this.#page(target, '')
      throw error
    }
  }

  async #writeAll(target: RewriteTarget, items: readonly Item[]): Promise<void> {
    const left = [...items]
    const work = async (): Promise<void> => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await this.#write(target, item)
    }
    await Promise.all(Array.from({ length: this.#options.parallel }, work))
  }

  async #write(target: RewriteTarget, item: Item): Promise<void> {
    const { name, namespace } = item.metadata
    const [root, resource] = [target.path.slice(0, target.path.lastIndexOf('/')), target.path.split('/').at(-1)!]
    const within = target.namespaced ? `/namespaces/${encodeURIComponent(namespace ?? '')}` : ''
    const path = `${root}${within}/${resource}/${encodeURIComponent(name)}`
    const { kind, apiVersion } = target
    const { status, text } = await this.#options.client.send(
      'PUT',
      path,
      printRaw({ kind, apiVersion, ...item } as unknown as JsonObject),
    )
    if (AS_GOOD_AS_WRITTEN.has(status)) this.#written++
    else {
      this.#failed++
      this.#options.onFailure(path, `${status} ${messageOf(text)}`)
    }
  }
}
