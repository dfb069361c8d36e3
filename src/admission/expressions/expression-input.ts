/**
 * Thread: pool. What the expressions of one request see. Each value is made when an expression first reads it, and kept for all
 * others: the objects once for a version, `authorizer` once for the request.
 */
import type { CelValue } from '../../api/cel/values/value.js'
import type { JsonObject } from '../../api/object.js'
import type { AdmissionAttributes } from '../chain.js'
import type { ServedKind } from '../matching/admission-kinds.js'
import { admissionRequest } from './admission-request.js'
import type { ExpressionAuthorizer } from './expression-authorizer.js'

/** The objects of a request as trees of JSON, in one version. */
export interface ObjectTrees {
  object(): JsonObject | undefined
  oldObject(): JsonObject | undefined
}

/** A request in one version. */
export class ExpressionRequest {
  readonly attributes: AdmissionAttributes
  readonly matched: ServedKind
  readonly #trees: ObjectTrees
  #object: CelValue | undefined
  #oldObject: CelValue | undefined
  #request: JsonObject | undefined

  constructor(attributes: AdmissionAttributes, matched: ServedKind, trees: ObjectTrees) {
    this.attributes = attributes
    this.matched = matched
    this.#trees = trees
  }

  get object(): CelValue {
    this.#object ??= this.#trees.object() ?? null
    return this.#object
  }

  get oldObject(): CelValue {
    this.#oldObject ??= this.#trees.oldObject() ?? null
    return this.#oldObject
  }

  get request(): CelValue {
    this.#request ??= admissionRequest(this.attributes, this.matched)
    return this.#request
  }
}

export interface ExpressionInput {
  readonly request: ExpressionRequest
  readonly params: JsonObject | undefined
  readonly namespace: JsonObject | undefined
  /** Undefined where expressions may not ask: then reading it is an error. */
  readonly authorizer: ExpressionAuthorizer | undefined
}

/** Values by the names that expressions use; `variables` is set by those who have any. */
export class InputActivation {
  readonly [name: string]: CelValue | undefined
  readonly #input: ExpressionInput
  variables: CelValue | undefined = undefined

  constructor(input: ExpressionInput) {
    this.#input = input
  }

  get object(): CelValue {
    return this.#input.request.object
  }

  get oldObject(): CelValue {
    return this.#input.request.oldObject
  }

  get request(): CelValue {
    return this.#input.request.request
  }

  get params(): CelValue {
    return this.#input.params ?? null
  }

  get namespaceObject(): CelValue {
    return this.#input.namespace ?? null
  }

  get authorizer(): CelValue | undefined {
    return this.#input.authorizer?.value
  }

  get 'authorizer.requestResource'(): CelValue | undefined {
    return this.#input.authorizer?.requestResource
  }
}
