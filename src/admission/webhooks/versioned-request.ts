/**
 * Thread: pool. A request in the versions that policies or webhooks asked for: each object is converted once for a version, and
 * turned into text or into values of expressions once for all of a round that ask for it.
 */
import type { KubeObject } from '../../api/object.js'
import type { Authorizer } from '../../auth/interface.js'
import type { AdmissionAttributes } from '../chain.js'
import { ExpressionAuthorizer } from '../expressions/expression-authorizer.js'
import { ExpressionRequest } from '../expressions/expression-input.js'
import type { AdmissionKinds, ServedKind } from '../matching/admission-kinds.js'
import type { ReviewedTexts } from './admission-review.js'

export interface VersionedObjects {
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
}

interface Version extends VersionedObjects {
  texts: ReviewedTexts | undefined
  expressions: ExpressionRequest | undefined
}

export class VersionedRequest {
  readonly attributes: AdmissionAttributes
  /** The request's own version. */
  readonly asked: ServedKind
  /** What expressions may ask for the user of the request. */
  readonly authorizer: ExpressionAuthorizer
  readonly #kinds: AdmissionKinds
  readonly #versions = new Map<string, Version>()
  #oldTexts = new Map<string, string>()
  /** The object as the webhooks before left it, in the version of the last of them. */
  #object: KubeObject | undefined

  constructor(attributes: AdmissionAttributes, kinds: AdmissionKinds, authorizer: Authorizer | undefined) {
    this.attributes = attributes
    this.authorizer = new ExpressionAuthorizer(authorizer, attributes)
    this.#kinds = kinds
    this.#object = attributes.object
    const { resource, subresource, kind } = attributes
    this.asked = { resource, subresource, kind }
  }

  /** The newest state of the object, in whatever version it is. */
  get object(): KubeObject | undefined {
    return this.#object
  }

  async in(target: ServedKind): Promise<VersionedObjects> {
    return this.#version(target)
  }

  async texts(target: ServedKind): Promise<ReviewedTexts> {
    const version = await this.#version(target)
    const key = keyOf(target)
    let old = this.#oldTexts.get(key)
    if (old === undefined) {
      old = this.#text(version.oldObject, target)
      this.#oldTexts.set(key, old)
    }
    version.texts ??= { object: this.#text(version.object, target), oldObject: old }
    return version.texts
  }

  /** The request as expressions see it. */
  async expressions(target: ServedKind): Promise<ExpressionRequest> {
    const version = await this.#version(target)
    const tree = (object: KubeObject | undefined) => object && this.#kinds.tree(object, target)
    version.expressions ??= new ExpressionRequest(this.attributes, target, {
      object: () => tree(version.object),
      oldObject: () => tree(version.oldObject),
    })
    return version.expressions
  }

  /** A webhook has changed the object: later ones see it so, in whichever version they ask for. */
  replace(object: KubeObject): void {
    this.#object = object
    this.#versions.clear()
  }

  /** The object of the request becomes what was made of it, in the request's own version. */
  async takeOver(): Promise<void> {
    const { object } = this.attributes
    if (object === undefined || this.#object === object || this.#object === undefined) return
    const own = await this.#kinds.convert(this.#object, this.asked)
    for (const key of Object.keys(object)) delete (object as Record<string, unknown>)[key]
    Object.assign(object, own)
    // Whoever comes later compares with what is there now, and those of this round are done with their copies.
    this.replace(object)
  }

  async #version(target: ServedKind): Promise<Version> {
    const key = keyOf(target)
    let version = this.#versions.get(key)
    if (version === undefined) {
      const { oldObject } = this.attributes
      version = {
        object: this.#object === undefined ? undefined : await this.#kinds.convert(this.#object, target),
        oldObject: oldObject === undefined ? undefined : await this.#kinds.convert(oldObject, target),
        texts: undefined,
        expressions: undefined,
      }
      this.#versions.set(key, version)
    }
    return version
  }

  #text(object: KubeObject | undefined, target: ServedKind): string {
    return object === undefined ? 'null' : this.#kinds.encode(object, target)
  }
}

const keyOf = ({ kind }: ServedKind): string => `${kind.group}/${kind.version}/${kind.kind}`
