/** Thread: any. The schema of a version of a custom resource, compiled. What it promises is in interface.ts. */
import { checkJsonSize } from '../../api/decoded-size.js'
import type { FieldError, FieldErrorType } from '../../api/field-error.js'
import { parseGroupVersion } from '../../api/group-version.js'
import { pathText } from '../../api/json/decode.js'
import { DecodeError } from '../../api/json/decode-error.js'
import { duplicateKeys, parseJson } from '../../api/json/parse.js'
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'
import type { SchemaSource, StructSchema } from '../../api/schema.js'
import { type RulesNode, rulesOf } from '../rules/rules-node.js'
import { RulesValidator } from '../rules/rules-validator.js'
import { scaleErrors } from '../subresources/scale.js'
import { AdmissionPass, DefaultsFiller } from './admission-pass.js'
import { applyType } from './apply-type.js'
import type {
  AdmitOptions,
  Admitted,
  CompiledSchema,
  DecodedCustomObject,
  ValidateOptions,
  Verdict,
} from './interface.js'
import type { JsonSchema } from './json-schema.js'
import { objectMetaType } from './object-metadata.js'
import { NOTHING, SchemaNode } from './schema-node.js'
import { NOWHERE, SchemaValidator } from './schema-validator.js'
import { StructureChecks } from './structure-checks.js'

export interface CompileOptions {
  /** Where the type of metadata is found. */
  readonly builtin: SchemaSource
  /** The name of the type, as documents have it: com.example.v1.Widget. */
  readonly name?: string
  readonly kind?: KindOfSchema
  /** spec.preserveUnknownFields, which definitions from before v1 may have. */
  readonly preserveUnknownFields?: boolean
}

/** What objects call themselves. One of another kind or group is left as it came: it will be refused. */
interface KindOfSchema {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** All versions of the kind. Of a version that is none of them nothing is known. */
  readonly versions: readonly string[]
}

/** `schema` as it is stored in the definition; undefined for a version from before v1 that has none. */
export function compileSchema(schema: JsonSchema | undefined, options: CompileOptions): CompiledSchema {
  return new Compiled(schema, options)
}

class Compiled implements CompiledSchema {
  readonly #root: SchemaNode
  readonly #prunes: boolean
  readonly #metadataType: StructSchema
  readonly #name: string
  readonly #kind: CompileOptions['kind']
  #type: StructSchema | undefined
  /** Null as long as nobody asked; undefined when there are none. */
  #rules: RulesNode | undefined | null = null

  constructor(
    schema: JsonSchema | undefined,
    { builtin, name = '', kind, preserveUnknownFields = false }: CompileOptions,
  ) {
    this.#root = new SchemaNode(schema ?? {})
    this.#prunes = !preserveUnknownFields
    this.#metadataType = objectMetaType(builtin)
    this.#name = name
    this.#kind = kind
  }

  decode(bytes: Uint8Array): DecodedCustomObject {
    checkJsonSize(bytes)
    const { value, memberCount, wholeFloats } = parseJson(bytes)
    if (!isJsonObject(value)) throw new DecodeError('json: cannot unmarshal what is no object into an object', '')
    for (const field of ['apiVersion', 'kind']) if (!isText(value[field])) throw notText(field)
    const { strictErrors, members } = this.admit(value, { origin: 'request' })
    if (members === memberCount) return { object: value, strictErrors, wholeFloats }
    const repeated = duplicateKeys(bytes).map((path) => `duplicate field ${JSON.stringify(pathText(path))}`)
    return { object: value, strictErrors: [...repeated, ...strictErrors], wholeFloats }
  }

  admit(object: JsonObject, { origin }: AdmitOptions): Admitted {
    const node = origin === 'request' ? this.#nodeOf(object) : this.#root
    const pass = new AdmissionPass({ origin, prunes: this.#prunes, metadataType: this.#metadataType })
    pass.root(object, node)
    return { strictErrors: pass.strictErrors, members: pass.members, changed: pass.changed }
  }

  #nodeOf({ apiVersion, kind }: JsonObject): SchemaNode {
    const own = this.#kind
    if (own === undefined) return this.#root
    if ((kind ?? '') !== '' && kind !== own.kind) return ANYTHING
    const given = typeof apiVersion === 'string' && apiVersion !== '' ? parseGroupVersion(apiVersion) : own
    if (given === undefined || given.group !== own.group) return ANYTHING
    if (given.version === own.version) return this.#root
    return own.versions.includes(given.version) ? ANYTHING : NOTHING
  }

  setDefaults(object: JsonObject): void {
    new DefaultsFiller().fill(object, this.#root)
  }

  validate(object: JsonObject, options: ValidateOptions = {}): Verdict {
    const errors =
      options.subresource === 'status' ? this.#statusErrors(object, options) : this.#errors(object, options)
    if (this.#rules === null) this.#rules = rulesOf(this.#root, true)
    if (this.#rules === undefined) return { errors, warnings: [] }
    if ([...(options.found ?? []), ...errors].some(isBlocking)) return { errors: [...errors, NOT_ALL], warnings: [] }
    const validator = new RulesValidator()
    validator.validate(this.#rules, object, options.old)
    return { errors: [...errors, ...validator.errors], warnings: validator.warnings }
  }

  get type(): StructSchema {
    this.#type ??= applyType(this.#root.schema, this.#name, this.#metadataType)
    return this.#type
  }

  #errors(object: JsonObject, { old, scale, wholeFloats, isOtherKind = false }: ValidateOptions): FieldError[] {
    const errors = isOtherKind ? [] : new SchemaValidator().validate(this.#root, object, old)
    if (scale !== undefined && !isOtherKind) errors.push(...scaleErrors(object, scale, wholeFloats))
    const structure = this.#structure(object)
    errors.push(...structure.embedded)
    if (!this.#hadListErrors(structure, old)) errors.push(...structure.lists)
    return errors
  }

  /** Of the whole object only what lists promise is looked at: the rest is as it is stored. */
  #statusErrors(object: JsonObject, { old, scale, wholeFloats }: ValidateOptions): FieldError[] {
    const errors: FieldError[] = []
    const node = this.#root.properties.get('status')
    const { status } = object
    if (status !== undefined && node !== undefined)
      errors.push(...new SchemaValidator('status').validate(node, status, old?.['status']))
    if (scale !== undefined) errors.push(...scaleErrors(object, scale, wholeFloats, 'status'))
    const structure = this.#structure(object)
    if (!this.#hadListErrors(structure, old)) errors.push(...structure.lists)
    return errors
  }

  #structure(object: JsonObject): StructureChecks {
    const checks = new StructureChecks(this.#metadataType)
    checks.walk(this.#root, object)
    return checks
  }

  /** An object whose lists were wrong before may stay so. */
  #hadListErrors({ lists }: StructureChecks, old: JsonObject | undefined): boolean {
    return lists.length > 0 && old !== undefined && this.#structure(old).lists.length > 0
  }
}

const ANYTHING = new SchemaNode({ 'x-kubernetes-preserve-unknown-fields': true })

/** Values that are not what the schema says could not be read by rules, or would make them expensive. */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])
const isBlocking = ({ type }: FieldError): boolean => BLOCKING.has(type)
const NOT_ALL: FieldError = {
  type: 'FieldValueInvalid',
  field: NOWHERE,
  badValue: null,
  detail:
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
}

const isText = (value: Json | undefined): boolean => value === undefined || value === null || typeof value === 'string'

const notText = (field: string): DecodeError =>
  new DecodeError(`json: cannot unmarshal into Go struct field .${field} of type string`, field)
