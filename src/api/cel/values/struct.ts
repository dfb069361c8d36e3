/** Thread: any. Objects that expressions build by the name of their type: `Object.spec{replicas: 3}`. */
import type { ObjectType } from '../types.js'
import { type CelValue, MapValue } from './value.js'

export class StructValue extends MapValue {
  readonly type: ObjectType
  readonly #fields: ReadonlyMap<string, CelValue>

  constructor(type: ObjectType, fields: ReadonlyMap<string, CelValue>) {
    super()
    this.type = type
    this.#fields = fields
  }

  get size(): number {
    return this.#fields.size
  }

  get(key: CelValue): CelValue | undefined {
    return typeof key === 'string' ? this.#fields.get(key) : undefined
  }

  get keys(): readonly CelValue[] {
    return [...this.#fields.keys()]
  }
}

export const structValue = (type: ObjectType, fields: readonly (readonly [string, CelValue])[]): StructValue =>
  new StructValue(type, new Map(fields))
