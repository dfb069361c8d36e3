/**
 * Thread: any. The contract of a compiled schema: what serving a version of a custom resource needs to know of the
 * `openAPIV3Schema` that its definition has for that version.
 *
 *     bytes ──▶ decode ───────────────▶ object, complaints        one pass: unknown fields out, nulls that may not be out,
 *                                                                 embedded metadata made to fit, defaults in
 *     object (+ the stored one) ──▶ validate ─▶ errors, warnings  after admission
 *     stored bytes ──▶ admit('stored') ─▶ object                  with defaults that came after it was stored
 *     type ──▶ server-side apply (src/workers/endpoints/apply)
 *
 * A compiled schema is immutable to its users and lives as long as somebody keeps it. Compiling looks at nothing: each part
 * of the schema is compiled when a value first comes to it, so a definition of 20 KB of which an object uses a tenth costs
 * a tenth. Its memory is bounded by the size of the schema.
 *
 * Objects are JSON trees as `api/json` makes them and are changed in place. Integers beyond 2^53 are bigints and stay so.
 *
 * Versions. Kubernetes reads a stored object by the schema of the version that it was *stored* in (prune, defaults), converts
 * it, and prunes by the schema of the version that was *asked for*, which adds no defaults:
 *
 *     stored.admit(object, { origin: 'stored' }); asked.admit(object, { origin: 'converted' })
 *
 * A write in a version that is not the storage version goes the other way before it is stored: by `converted`, too.
 */
import type { FieldError } from '../../api/field-error.js'
import type { ParsedJson } from '../../api/json/parse.js'
import type { JsonObject } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'
import type { ScalePaths } from '../subresources/scale.js'

/**
 * Where an object comes from:
 * - `request`: malformed metadata is refused (DecodeError), unknown fields are told, defaults are put in;
 * - `stored`: malformed fields of metadata are dropped, a missing generation becomes 1, defaults are put in;
 * - `converted`: malformed metadata is refused, nothing is told, no defaults.
 */
export type ObjectOrigin = 'request' | 'stored' | 'converted'

export interface AdmitOptions {
  readonly origin: ObjectOrigin
}

export interface Admitted {
  /**
   * `unknown field "spec.colour"`: errors when fieldValidation is Strict, warnings when it is Warn. Those of the object's own
   * metadata first, then by path, those of embedded metadata last.
   */
  readonly strictErrors: readonly string[]
  /** Of requests: members of all objects as they came, to be compared with those in the text: fewer means that a key was given twice. */
  readonly members: number
  /** Whether the object prints otherwise than before. */
  readonly changed: boolean
}

export interface DecodedCustomObject {
  readonly object: JsonObject
  /** Keys that were given twice, then what is unknown. */
  readonly strictErrors: readonly string[]
  /** Whole numbers written as `4.0`: integers to a schema, but not to the paths of the scale subresource. */
  readonly wholeFloats: ParsedJson['wholeFloats']
}

export interface ValidateOptions {
  /** The object as it is stored, in the same version; absent on a create. What is the same in both is ratcheted. */
  readonly old?: JsonObject
  /** A write of the status subresource: only `status` is held against the schema. Rules see the whole object. */
  readonly subresource?: 'status'
  /** Checked on every write when the version has a scale subresource. */
  readonly scale?: ScalePaths
  /** From decoding the request. */
  readonly wholeFloats?: ParsedJson['wholeFloats']
  /**
   * What was found wrong before: metadata, kind. Rules are not evaluated when one of these, or of the schema's own errors, makes
   * them pointless (a wrong type, an unsupported value, something required, too long or too many).
   */
  readonly found?: readonly FieldError[]
  /** An object of another kind is not held against the keywords of the schema. */
  readonly isOtherKind?: boolean
}

export interface Verdict {
  /** Without `found`. In Kubernetes' order: schema, scale, embedded objects, uniqueness in lists, rules. */
  readonly errors: readonly FieldError[]
  /** Rules that failed before already, by values that did not change. */
  readonly warnings: readonly string[]
}

export interface CompiledSchema {
  /**
   * A request's body. Throws JsonSyntaxError, DecodeError for metadata that does not fit, and DecodedSizeError for more values
   * than an object may have. kind and apiVersion are strings; whether they are the right ones is the caller's to check.
   */
  decode(bytes: Uint8Array): DecodedCustomObject
  /** The same pass over an object that was parsed elsewhere (YAML, a patch, storage), in place. */
  admit(object: JsonObject, options: AdmitOptions): Admitted
  /** Once more after admission changed the object, in place. Throws DecodedSizeError. */
  setDefaults(object: JsonObject): void
  validate(object: JsonObject, options?: ValidateOptions): Verdict
  /** How apply merges the whole object: fields, list types and keys, metadata as all objects have it. */
  readonly type: StructSchema
}
