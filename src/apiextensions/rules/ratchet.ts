/**
 * Thread: any. Whether what a rule finds wrong was so before: the value, or when no old one belongs to it the nearest above it to
 * which one belongs, did not change.
 */
import type { Json } from '../../api/object.js'
import { isUnchanged } from '../schema/correlation.js'
import type { SchemaNode } from '../schema/schema-node.js'

class Correlated {
  readonly #node: SchemaNode
  readonly #value: Json
  readonly #old: Json
  #isUnchanged: boolean | undefined

  constructor(node: SchemaNode, value: Json, old: Json) {
    this.#node = node
    this.#value = value
    this.#old = old
  }

  get isUnchanged(): boolean {
    this.#isUnchanged ??= isUnchanged(this.#node, this.#value, this.#old)
    return this.#isUnchanged
  }
}

export class Ratchet {
  /** Of an object that is created. */
  static readonly NONE = new Ratchet(undefined, undefined)
  readonly #current: Correlated | undefined
  readonly #nearest: Correlated | undefined

  private constructor(current: Correlated | undefined, nearest: Correlated | undefined) {
    this.#current = current
    this.#nearest = nearest
  }

  static ofObject(node: SchemaNode, value: Json, old: Json): Ratchet {
    return new Ratchet(new Correlated(node, value, old), undefined)
  }

  get isUnchanged(): boolean {
    return (this.#current ?? this.#nearest)?.isUnchanged ?? false
  }

  /** `old`: the value that belongs to the item or the entry. */
  below(node: SchemaNode, value: Json, old: Json | undefined): Ratchet {
    if (this.#current === undefined) return this
    return new Ratchet(old === undefined ? undefined : new Correlated(node, value, old), this.#current)
  }

  /** Kind and version of the object are what the request made them, in the old one too. */
  field(name: string, node: SchemaNode, value: Json, old: Json | undefined): Ratchet {
    const isRoot = this.#current !== undefined && this.#nearest === undefined
    return isRoot && (name === 'apiVersion' || name === 'kind') ? Ratchet.NONE : this.below(node, value, old)
  }
}
