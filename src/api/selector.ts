/** Thread: any. What the storage stack needs to know of a selector; labels.ts and fields.ts parse the real ones. */

/** Labels or fields of one object; a record in shared memory and a plain object both offer it. */
export interface AttributeSet {
  get(name: string): string | undefined
  has(name: string): boolean
}

export interface Selector {
  matches(attributes: AttributeSet): boolean
  /** True when it selects everything. */
  empty(): boolean
  /** The one value that `name` must have for anything to match, when there is one: lets an index be used. */
  requiresExactMatch(name: string): string | undefined
  toString(): string
}

export const everything: Selector = {
  matches: () => true,
  empty: () => true,
  requiresExactMatch: () => undefined,
  toString: () => '',
}

/** Labels or fields held in a plain object. */
export class MapAttributes implements AttributeSet {
  readonly #values: Readonly<Record<string, string>>
  constructor(values: Readonly<Record<string, string>> | undefined) {
    this.#values = values ?? {}
  }
  get(name: string): string | undefined {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined
  }
  has(name: string): boolean {
    return Object.hasOwn(this.#values, name)
  }
}
