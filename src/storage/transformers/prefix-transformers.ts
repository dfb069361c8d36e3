/**
 * Thread: any. Several transformers that share one place in storage, told apart by the prefix each puts before what it
 * wrote. Used twice: providers of a resource (`k8s:enc:aesgcm:v1:`), and keys of a provider (`key1:`).
 */
import { assert } from '../../lib/assert.js'
import { TransformError } from '../contract/transform-error.js'
import type { Transformer, TransformResult } from '../contract/transformer.js'
import { concatBytes, startsWithBytes } from './bytes.js'

export interface PrefixTransformer {
  /** The prefix; '' belongs to the identity provider and matches everything. */
  readonly prefix: string
  readonly transformer: Transformer
}

interface Candidate {
  readonly prefix: Uint8Array
  readonly transformer: Transformer
}

/** The first transformer writes and all of them read; a value that another than the first has read is stale. */
export class PrefixTransformers implements Transformer {
  readonly #candidates: readonly Candidate[]
  readonly #noMatch: string

  constructor(transformers: readonly PrefixTransformer[], noMatch: string) {
    assert(transformers.length > 0, 'a set of transformers must not be empty')
    const encoder = new TextEncoder()
    this.#candidates = transformers.map((t) => ({ prefix: encoder.encode(t.prefix), transformer: t.transformer }))
    this.#noMatch = noMatch
  }

  transformFromStorage(data: Uint8Array, authenticatedData: string): TransformResult | Promise<TransformResult> {
    return this.#readFrom(0, data, authenticatedData, [])
  }

  transformToStorage(data: Uint8Array, authenticatedData: string): Uint8Array | Promise<Uint8Array> {
    const { prefix, transformer } = this.#candidates[0]!
    const written = transformer.transformToStorage(data, authenticatedData)
    if (prefix.length === 0) return written
    return written instanceof Promise
      ? written.then((bytes) => concatBytes(prefix, bytes))
      : concatBytes(prefix, written)
  }

  /**
   * Goes on after a match that failed: two blocks of one provider share its prefix while keys move from one to the
   * other, and an identity provider before the encrypting ones refuses what they wrote.
   */
  #readFrom(
    first: number,
    data: Uint8Array,
    authenticatedData: string,
    failures: TransformError[],
  ): TransformResult | Promise<TransformResult> {
    for (let i = first; i < this.#candidates.length; i++) {
      const { prefix, transformer } = this.#candidates[i]!
      if (!startsWithBytes(data, prefix)) continue
      const onFailure = (error: unknown): void => {
        // Anything else is a programmer's error and says nothing about the data.
        if (!(error instanceof TransformError)) throw error
        if (prefix.length > 0) failures.push(error)
      }
      try {
        const result = transformer.transformFromStorage(data.subarray(prefix.length), authenticatedData)
        if (!(result instanceof Promise)) return staleUnlessFirst(result, i)
        return result.then(
          (r) => staleUnlessFirst(r, i),
          (error: unknown) => {
            onFailure(error)
            return this.#readFrom(i + 1, data, authenticatedData, failures)
          },
        )
      } catch (error) {
        onFailure(error)
      }
    }
    throw this.#failure(failures)
  }

  #failure(failures: readonly TransformError[]): TransformError {
    const first = failures[0]
    if (first === undefined) return new TransformError('no-match', this.#noMatch)
    if (failures.length === 1) return first
    const messages = [...new Set(failures.map((f) => f.message))]
    return new TransformError(first.code, messages.join('; '), new AggregateError(failures))
  }
}

function staleUnlessFirst(result: TransformResult, index: number): TransformResult {
  return index === 0 || result.stale ? result : { data: result.data, stale: true }
}
