/** Thread: pool. A request while a worker has it: what strategies may know, and the warnings it gathers. */

import type { AdmissionChain } from '../../admission/chain.js'
import type { JsonPath } from '../../api/json/decode.js'
import type { PrintedObject } from '../../api/json/encode-draft.js'
import type { ParsedJson } from '../../api/json/parse.js'
import type { KubeObject } from '../../api/object.js'
import type { Authorizer } from '../../auth/interface.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import type { EncodedResponse, PoolRequest } from '../../protocol/main-pool.js'
import type { RequestContext } from '../../registry/generic/strategy.js'
import type { Endpoint } from './endpoint.js'
import { Warnings } from './warnings.js'

const NO_OPTIONS: object = {}

/** What all requests of a worker share. */
export interface WorkerParts {
  readonly admission: AdmissionChain
  readonly authorizer: Authorizer
  readonly clock: Clock
}

export class WorkerRequest {
  readonly request: PoolRequest
  readonly endpoint: Endpoint
  readonly admission: AdmissionChain
  readonly authorizer: Authorizer
  readonly query: URLSearchParams
  readonly signal: CancelSignal | undefined
  readonly #warnings = new Warnings()
  readonly #annotations = new Map<string, string>()
  #emptied: readonly JsonPath[] = []
  #wholeFloats: ParsedJson['wholeFloats']
  #written: { readonly object: KubeObject; readonly printed: PrintedObject } | undefined
  #outcomes: ((succeeded: boolean) => Promise<void> | void)[] = []
  readonly #clock: Clock

  /** Watches have no signal: they end with their port. */
  constructor(
    request: PoolRequest,
    endpoint: Endpoint,
    { admission, authorizer, clock }: WorkerParts,
    signal?: CancelSignal,
  ) {
    this.signal = signal
    this.request = request
    this.endpoint = endpoint
    this.admission = admission
    this.authorizer = authorizer
    this.query = new URLSearchParams(request.query)
    this.#clock = clock
  }

  readonly addWarning = (text: string): void => {
    this.#warnings.add(text)
  }

  /** Keeps the paths of one attempt at a write; the next attempt decodes the body again and replaces them. */
  readonly noteEmptied = (paths: readonly JsonPath[]): void => {
    this.#emptied = paths
  }

  readonly noteWholeFloats = (wholeFloats: ParsedJson['wholeFloats']): void => {
    this.#wholeFloats = wholeFloats
  }

  readonly #notePrinted = (object: KubeObject, printed: PrintedObject): void => {
    this.#written = { object, printed }
  }

  /** The JSON of an object, in the memory version, that this request has written; undefined for any other object. */
  printed(object: KubeObject): PrintedObject | undefined {
    return this.#written?.object === object ? this.#written.printed : undefined
  }

  readonly addAnnotation = (key: string, value: string): void => {
    if (!this.#annotations.has(key)) this.#annotations.set(key, value)
  }

  readonly onOutcome = (callback: (succeeded: boolean) => Promise<void> | void): void => {
    this.#outcomes.push(callback)
  }

  /** Tells admission how a write, or one attempt at it, ended. All are told; then the first that failed is thrown. */
  async settle(succeeded: boolean): Promise<void> {
    if (this.#outcomes.length === 0) return
    const outcomes = this.#outcomes
    this.#outcomes = []
    const failures: unknown[] = []
    for (const callback of outcomes) {
      try {
        await callback(succeeded)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  /** The response with the annotations that admission made for the audit log. */
  withAnnotations(response: EncodedResponse): EncodedResponse {
    if (this.#annotations.size === 0) return response
    return { ...response, auditAnnotations: Object.fromEntries(this.#annotations) }
  }

  /** The options of a create or an update as admission shows them to webhooks: what the client gave, and nothing else. */
  operationOptions(): object {
    if (this.request.query === '') return NO_OPTIONS
    const dryRun = this.query.getAll('dryRun')
    const fieldManager = this.query.get('fieldManager') ?? ''
    const fieldValidation = this.query.get('fieldValidation') ?? ''
    return {
      ...(dryRun.length === 0 ? {} : { dryRun }),
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(fieldValidation === '' ? {} : { fieldValidation }),
    }
  }

  get warnings(): string[] {
    return this.#warnings.shown()
  }

  context(dryRun: boolean): RequestContext {
    const { info, user } = this.request
    return {
      namespace: this.endpoint.info.namespaced ? info.namespace : '',
      resource: info.resource,
      subresource: info.subresource,
      verb: info.verb,
      apiGroup: info.apiGroup,
      apiVersion: info.apiVersion,
      user,
      dryRun,
      now: () => this.#clock.now(),
      addWarning: this.addWarning,
      emptied: () => this.#emptied,
      wholeFloats: () => this.#wholeFloats,
      onPrinted: this.#notePrinted,
      ...(this.signal === undefined ? {} : { signal: this.signal }),
    }
  }

  now(): number {
    return this.#clock.now()
  }
}
