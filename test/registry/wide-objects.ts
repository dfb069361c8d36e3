/**
 * Objects of every built-in kind that are very wide in one place: a list or map of many equal, empty or named items. They go
 * the way of a dry run: decoded, defaulted, their fields owned, prepared, validated, answered.
 */
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { Catalogue, type ResourceInfo } from '#keelson/api/catalogue.js'
import { formatGroupVersion } from '#keelson/api/group-version.js'
import { decodeJson } from '#keelson/api/json/decode.js'
import { encodeText } from '#keelson/api/json/encode.js'
import type { Json, JsonObject, KubeObject } from '#keelson/api/object.js'
import type { StructSchema, TypeSchema } from '#keelson/api/schema.js'
import { isStatusError, newInvalid } from '#keelson/api/status.js'
import { RulesStrategy, StatusStrategy } from '#keelson/registry/generic/rules-strategy.js'
import type { UpdateStrategy } from '#keelson/registry/generic/strategy.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { FieldManager } from '#keelson/workers/endpoints/apply/field-manager.js'
import { isLinear } from '../support/growth.js'
import { requestContext } from '../support/request-context.js'
import { SAMPLES } from '../support/sample-objects.js'

const context = requestContext({ user: { name: 'admin', uid: '', groups: ['system:masters'], extra: {} } })

/** `[]`: the first item of a list; `{}`: a value of a map. */
type Path = readonly string[]

export interface WideField {
  readonly path: Path
  readonly type: TypeSchema & { readonly kind: 'list' | 'map' }
}

export interface WideUpdate {
  readonly stored: KubeObject
  readonly next: KubeObject
}

export class WideKind {
  readonly info: ResourceInfo
  readonly #schema: StructSchema
  readonly #strategy: RulesStrategy
  readonly #statusStrategy: StatusStrategy
  readonly #fieldManager: FieldManager

  constructor(info: ResourceInfo, schema: StructSchema) {
    this.info = info
    this.#schema = schema
    const shape = { kind: info, namespaceScoped: info.namespaced, hasStatus: false }
    this.#strategy = new RulesStrategy(shape, rulesOf(info))
    this.#statusStrategy = new StatusStrategy({ ...shape, hasStatus: true }, rulesOf(info))
    this.#fieldManager = new FieldManager({ apiVersion: formatGroupVersion(info), kind: info.kind, schema })
  }

  /** Every list and map that an object of this kind can hold. A type within itself is not entered again. */
  fields(): WideField[] {
    return [...fieldsOf(this.#schema, [], [])]
  }

  /** Its JSON. `named`: the items have different names, where they have names. */
  wide({ path, type }: WideField, count: number, named: boolean): Buffer {
    const { group, resource, kind } = this.info
    const sample = SAMPLES[`${group}/${resource}`]
    const base = structuredClone(sample?.object ?? {})
    const metadata = { name: sample?.name ?? 'wide', ...(this.info.namespaced ? { namespace: 'default' } : {}) }
    const object = { apiVersion: formatGroupVersion(this.info), kind, metadata, ...base } as JsonObject
    const value = type.kind === 'list' ? items(type.items, count, named) : values(type.values, count)
    place(object, path, value)
    return Buffer.from(JSON.stringify(object))
  }

  /**
   * The same object written over itself, what is wide in it turned round: what is looked for from the front is found at the end. `stored` is
   * what was there. The length of the answer.
   */
  dryUpdate({ stored, next }: WideUpdate): number {
    const [old, object] = [structuredClone(stored), structuredClone(next)]
    let length = 0
    for (const strategy of [this.#strategy, this.#statusStrategy] as UpdateStrategy[]) {
      strategy.prepareForUpdate(object, old, context)
      const errors = strategy.validateUpdate(object, old, context)
      const warnings = strategy.warningsOnUpdate(object, old, context).join().length
      length += warnings + JSON.stringify(newInvalid(this.info, 'wide', errors).status).length
    }
    this.#fieldManager.update(old as JsonObject, object as JsonObject, 'm', { now: 1 })
    return length
  }

  /** What is stored, and what is written over it; undefined when it could not be read at all. */
  wideUpdate(field: WideField, count: number, named: boolean): WideUpdate | undefined {
    try {
      const read = (): KubeObject => {
        const { object } = decodeJson(this.wide(field, count, named), this.#schema)
        rulesOf(this.info).setDefaults?.(object)
        return object
      }
      const [stored, next] = [read(), read()]
      turnRound(next as JsonObject, field.path)
      // What belongs to several tells more: a second manager has come meanwhile.
      const owned = this.#fieldManager.update(undefined, stored as JsonObject, 'm', { now: 0 }) as KubeObject
      return { stored: owned, next: { ...next, metadata: { ...owned.metadata, ...next.metadata } } }
    } catch (error) {
      if (isStatusError(error) || isOfTheReader(error)) return undefined
      throw error
    }
  }

  /** The length of the answer. What a client can cause is a Status; anything else is thrown. */
  dryRun(body: Buffer): number {
    try {
      const { object } = decodeJson(body, this.#schema)
      rulesOf(this.info).setDefaults?.(object)
      const owned = this.#fieldManager.update(undefined, object as JsonObject, 'm', { now: 0 }) as KubeObject
      this.#strategy.prepareForCreate(owned, context)
      const errors = this.#strategy.validate(owned, context)
      const warnings = this.#strategy.warningsOnCreate(owned, context).join().length
      if (errors.length > 0) return warnings + JSON.stringify(newInvalid(this.info, 'wide', errors).status).length
      this.#strategy.canonicalize(owned)
      return warnings + encodeText(owned, this.#schema).length
    } catch (error) {
      if (isStatusError(error) || isOfTheReader(error)) return 0
      throw error
    }
  }
}

/** decode-body.ts makes a 400 of what a reader says. */
const isOfTheReader = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof TypeError || error instanceof RangeError) &&
  error.name !== 'AssertionError'

export function wideKinds(): WideKind[] {
  const schemas = new BuiltinSchemas()
  const seen = new Set<string>()
  const kinds: WideKind[] = []
  for (const info of Catalogue.builtin().servedByDefault().resources) {
    const name = `${info.group}/${info.resource}`
    if (seen.has(name) || !info.verbs.includes('create') || !info.verbs.includes('get')) continue
    seen.add(name)
    kinds.push(new WideKind(info, schemas.kind(info.group, info.version, info.kind)!))
  }
  return kinds
}

/** A Status names at most 1,000 causes; what is valid comes back with defaults and the fields that its manager owns. */
const MAX_STATUS_BYTES = 4 * 1024 * 1024
const MAX_GROWTH = 8
/** Whatever is compared with everything else takes longer; what does not is the collector's. */
const NOTICED_MS = 60

/** What is wrong with how an object that is wide there is treated; undefined: nothing. */
export function wideFault(kind: WideKind, field: WideField, count: number): string | undefined {
  for (const named of [false, true]) {
    const whole = kind.wide(field, 2 * count, named)
    const started = performance.now()
    const length = kind.dryRun(whole)
    const tookMs = performance.now() - started
    if (length > Math.max(MAX_STATUS_BYTES, MAX_GROWTH * whole.length)) return `an answer of ${length} bytes`
    const prepare = (size: number): Buffer => kind.wide(field, size, named)
    if (tookMs > NOTICED_MS && !isLinear(count, prepare, (body) => kind.dryRun(body)))
      return `${named ? 'named' : 'equal'} items take more than linear time`
  }
  return undefined
}

/** What is wrong with how such an object is treated when it is written again; undefined: nothing. */
export function wideUpdateFault(kind: WideKind, field: WideField, count: number): string | undefined {
  for (const named of [false, true]) {
    const whole = kind.wideUpdate(field, 2 * count, named)
    if (whole === undefined) continue
    const started = performance.now()
    const length = kind.dryUpdate(whole)
    const tookMs = performance.now() - started
    if (length > 2 * MAX_STATUS_BYTES) return `an answer of ${length} bytes`
    const prepare = (size: number): WideUpdate => kind.wideUpdate(field, size, named)!
    if (tookMs > NOTICED_MS && !isLinear(count, prepare, (update) => kind.dryUpdate(update)))
      return `${named ? 'named' : 'equal'} items that are written again take more than linear time`
  }
  return undefined
}

function* fieldsOf(type: TypeSchema, path: Path, within: readonly string[]): Generator<WideField> {
  if (type.kind === 'list' || type.kind === 'map') {
    yield { path, type }
    yield* fieldsOf(
      type.kind === 'list' ? type.items : type.values,
      [...path, type.kind === 'list' ? '[]' : '{}'],
      within,
    )
  } else if (type.kind === 'struct') {
    if (within.includes(type.name)) return
    for (const [name, field] of type.fields) yield* fieldsOf(field.type, [...path, name], [...within, type.name])
  }
}

function place(object: JsonObject, path: Path, value: Json): void {
  let at = object as Record<string, Json>
  for (const [i, step] of path.slice(0, -1).entries()) {
    const isList = path[i + 1] === '[]'
    const key = step === '[]' ? '0' : step === '{}' ? 'k' : step
    at[key] ??= isList ? [] : {}
    at = at[key] as Record<string, Json>
  }
  const last = path.at(-1)!
  at[last === '[]' ? '0' : last === '{}' ? 'k' : last] = value
}

/** The first item stays where it is: at places of their own things are often compared one by one, and no further than the first difference. */
function turnRound(object: JsonObject, path: Path): void {
  let at: Json | undefined = object
  for (const step of path)
    at = (at as Record<string, Json> | undefined)?.[step === '[]' ? '0' : step === '{}' ? 'k' : step]
  if (Array.isArray(at)) at.push(...at.splice(1).reverse())
}

function items(type: TypeSchema, count: number, named: boolean): Json {
  const key = named && type.kind === 'struct' ? nameOf(type) : undefined
  return Array.from({ length: count }, (_, i) => (key === undefined ? scalar(type, named ? i : 0) : { [key]: `n${i}` }))
}

/** The field by which items of a list are told apart: their name, or else the first text in them. */
function nameOf({ fields }: StructSchema): string | undefined {
  if (fields.get('name')?.type.kind === 'string') return 'name'
  return [...fields].find(([, field]) => field.type.kind === 'string')?.[0]
}

function values(type: TypeSchema, count: number): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, scalar(type, 0)]))
}

function scalar(type: TypeSchema, i: number): Json {
  switch (type.kind) {
    case 'list':
      return []
    case 'struct':
    case 'map':
    case 'any':
      return {}
    case 'boolean':
      return true
    case 'int32':
    case 'int64':
    case 'double':
    case 'int-or-string':
      return i
    case 'bytes':
      return 'YQ=='
    case 'time':
      return '2026-01-01T00:00:00Z'
    case 'micro-time':
      return '2026-01-01T00:00:00.000000Z'
    case 'duration':
      return '1s'
    case 'quantity':
      return '1'
    default:
      return `a${i === 0 ? '' : i}`
  }
}
