/** Thread: any. Encryption at rest, timed and counted as kube-apiserver does. */
import { formatGroupResource, type GroupResource } from '../../api/group-version.js'
import type { Clock } from '../../lib/clock.js'
import { storageFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'
import type { Transformer, TransformResult } from '../contract/transformer.js'
import { GrpcError } from '../grpc/grpc-error.js'
import type { ResourceTransformers } from './resource-transformers.js'

type TransformationType = 'from_storage' | 'to_storage'

const MARK = 'k8s:enc:'
/** Prefixes are looked for in so many bytes: as long as that of a KMS provider with a long name. */
const MAX_PREFIX = 256
const OK = 'OK'
const STATUS_NAMES = [
  OK,
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
]

export class MeteredTransformers implements ResourceTransformers {
  readonly #transformers: ResourceTransformers
  readonly #recorder: Recorder
  readonly #clock: Clock

  constructor(transformers: ResourceTransformers, recorder: Recorder, clock: Clock) {
    this.#transformers = transformers
    this.#recorder = recorder
    this.#clock = clock
  }

  transformerForResource(resource: GroupResource): Transformer {
    const transformer = this.#transformers.transformerForResource(resource)
    return new MeteredTransformer(transformer, formatGroupResource(resource), this.#recorder, this.#clock)
  }
}

class MeteredTransformer implements Transformer {
  readonly #transformer: Transformer
  readonly #resource: string
  readonly #recorder: Recorder
  readonly #clock: Clock

  constructor(transformer: Transformer, resource: string, recorder: Recorder, clock: Clock) {
    this.#transformer = transformer
    this.#resource = resource
    this.#recorder = recorder
    this.#clock = clock
  }

  transformFromStorage(data: Uint8Array, authenticatedData: string): TransformResult | Promise<TransformResult> {
    const prefix = prefixOf(data)
    const startedMs = this.#clock.monotonicMs()
    try {
      const result = this.#transformer.transformFromStorage(data, authenticatedData)
      if (result instanceof Promise) return this.#later(result, 'from_storage', () => prefix, startedMs)
      this.#done('from_storage', prefix, startedMs)
      return result
    } catch (error) {
      this.#failed('from_storage', prefix, error)
      throw error
    }
  }

  transformToStorage(data: Uint8Array, authenticatedData: string): Uint8Array | Promise<Uint8Array> {
    const startedMs = this.#clock.monotonicMs()
    try {
      const result = this.#transformer.transformToStorage(data, authenticatedData)
      if (result instanceof Promise) return this.#later(result, 'to_storage', prefixOf, startedMs)
      this.#done('to_storage', prefixOf(result), startedMs)
      return result
    } catch (error) {
      this.#failed('to_storage', UNKNOWN, error)
      throw error
    }
  }

  async #later<T>(
    pending: Promise<T>,
    type: TransformationType,
    prefix: (result: T) => string,
    startedMs: number,
  ): Promise<T> {
    let result: T
    try {
      result = await pending
    } catch (error) {
      this.#failed(type, UNKNOWN, error)
      throw error
    }
    this.#done(type, prefix(result), startedMs)
    return result
  }

  #done(type: TransformationType, prefix: string, startedMs: number): void {
    this.#operations(type, prefix, OK).add(1)
    const seconds = (this.#clock.monotonicMs() - startedMs) / 1000
    this.#recorder.series(storageFamilies.transformationDuration, type, prefix).observe(seconds)
  }

  #failed(type: TransformationType, prefix: string, error: unknown): void {
    this.#operations(type, prefix, statusOf(error)).add(1)
  }

  #operations(type: TransformationType, prefix: string, status: string): Series {
    return this.#recorder.series(storageFamilies.transformations, this.#resource, type, prefix, status)
  }
}

const UNKNOWN = 'unknown'

/** The prefix of a value: `k8s:enc:aesgcm:v1:`, `k8s:enc:kms:v2:name:`; a value without one was written in plain. */
function prefixOf(data: Uint8Array): string {
  const text = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, MAX_PREFIX)).toString('latin1')
  if (!text.startsWith(MARK)) return 'identity'
  const [, , provider = '', version = '', name = ''] = text.split(':', 5)
  const prefix = `${MARK}${provider}:${version}:`
  return provider === 'kms' ? `${prefix}${name}:` : prefix
}

/** The status that the key service gave, when it was asked. */
function statusOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof GrpcError) return STATUS_NAMES[cause.status] ?? 'Unknown'
  return 'unknown-non-grpc'
}
