/**
 * Thread: main, or a front end's own. The document of OpenAPI version 2, made by the pool once for each set of what it is made from, and
 * kept: one in each form. What it is made from is told by the index of version 3, which is small, and by the ETags of other servers'
 * documents. Whoever asks while it is made waits for the same one.
 */
import type { DocumentResponse, EncodedResponse, SwaggerSource } from '../../protocol/main-pool.js'
import type { PoolRunner } from '../threads/pool.js'

type Form = 'json' | 'protobuf'

/** A longer document is made for each request: with thousands of custom kinds it would take more memory than it is worth. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024

interface Kept {
  readonly sources: string
  readonly document: EncodedResponse
}

export class KeptSwagger {
  readonly #pool: Pick<PoolRunner, 'run'>
  readonly #others: () => Promise<SwaggerSource[]>
  readonly #kept = new Map<Form, Kept>()
  /** By form and sources: there are as many as questions under way. */
  readonly #making = new Map<string, Promise<EncodedResponse>>()

  constructor(pool: Pick<PoolRunner, 'run'>, others: () => Promise<SwaggerSource[]>) {
    this.#pool = pool
    this.#others = others
  }

  async document(form: Form): Promise<EncodedResponse> {
    const [index, others] = await Promise.all([
      this.#pool.run('document', { path: '/openapi/v3', form: 'json' }),
      this.#others(),
    ])
    const told = others.map(({ etag, prefixes }) => [etag, prefixes])
    const sourcesOf = (etag: string | undefined): string => JSON.stringify([etag, told])
    const sources = sourcesOf(etagOf(index))
    const kept = this.#kept.get(form)
    if (kept?.sources === sources) return kept.document
    const key = `${form} ${sources}`
    let making = this.#making.get(key)
    if (making === undefined) {
      making = this.#make(form, others, sourcesOf).finally(() => this.#making.delete(key))
      this.#making.set(key, making)
    }
    return making
  }

  async #make(
    form: Form,
    others: readonly SwaggerSource[],
    sourcesOf: (etag: string | undefined) => string,
  ): Promise<EncodedResponse> {
    const made: DocumentResponse = await this.#pool.run('document', { path: '/openapi/v2', form, others })
    // The thread that made it may know of a definition that the one that gave the index did not: what it knew is what counts.
    if (made.status === 200 && made.body.byteLength <= MAX_KEPT_BYTES)
      this.#kept.set(form, { sources: sourcesOf(made.index), document: made })
    return made
  }
}

function etagOf({ headers }: EncodedResponse): string | undefined {
  const at = headers.indexOf('ETag')
  return at < 0 ? undefined : headers[at + 1]
}
