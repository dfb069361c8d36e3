/**
 * Thread: any. What is particular to one resource, as its folder src/registry/<group>/<resource>/ states it. All of it
 * is optional: a resource without particular rules needs no file. Functions are pure: objects in, findings out.
 */
import type { FieldError } from '../../api/field-error.js'
import type { KubeObject } from '../../api/object.js'
import type { NameRule } from '../../api/validation/names.js'
import type { DeleteOptions, GarbageCollectionPolicy, RequestContext } from './strategy.js'

/** A column of a Table, as kubectl prints it. */
export interface TableColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly description: string
  /** 0: always shown; 1: with -o wide. */
  readonly priority?: number
}

export type TableCell = string | number | bigint | boolean | null

export interface TableRules<T extends KubeObject = KubeObject> {
  readonly columns: readonly TableColumn[]
  /** One cell a column. `nowMs` is for ages. */
  cells(object: T, nowMs: number): TableCell[]
}

/** Rules of one way to update: the resource itself or a subresource that shares its object. */
export interface UpdateRules<T extends KubeObject = KubeObject> {
  /** Nobody comes to own these through this endpoint. Default: the part that the endpoint does not write. */
  readonly resetFields?: readonly (readonly string[])[]
  /** Restores what this endpoint may not change, on top of what the generic strategy does. */
  prepareForUpdate?(object: T, old: T, context: RequestContext): void
  validateUpdate?(object: T, old: T, context: RequestContext): FieldError[]
  warningsOnUpdate?(object: T, old: T, context: RequestContext): string[]
}

/**
 * Between a version of a resource and its hub version: the one in memory, which strategies, validation and columns see.
 * Neither changes what it is given.
 */
export interface HubConversion<Hub extends KubeObject = KubeObject, Version extends KubeObject = KubeObject> {
  toHub(object: Version): Hub
  fromHub(object: Hub): Version
}

/** A subresource that writes a part of the object: approval, finalize, resize. */
export interface PartRules<T extends KubeObject = KubeObject> extends UpdateRules<T> {
  /** The rest is put back before the rules see it. */
  readonly writes: 'spec' | 'status'
  /**
   * What a writer may come to own, in the elements of managedFields, `*` for any one; all below counts.
   * Default: everything but the other part.
   */
  readonly ownedFields?: readonly (readonly string[])[]
}

/**
 * `T` is the type of the kind in its hub version, from src/api/generated/kinds: the table of rules says by resource which
 * kind the functions are given, so they need no casts. Functions are declared as methods, which TypeScript compares in both
 * directions; that is what lets rules-table.ts hold the rules of every kind as rules of any object.
 */
export interface ResourceRules<T extends KubeObject = KubeObject> extends UpdateRules<T> {
  /** Default: a DNS subdomain. */
  readonly nameRule?: NameRule
  /** Default: the base and five random letters. */
  generateName?(base: string): string
  /** Where the spec of its pods is, for kinds that have any. */
  readonly podSpecAt?: readonly string[]
  readonly allowCreateOnUpdate?: boolean
  /** Default: true. */
  readonly allowUnconditionalUpdate?: boolean
  /**
   * The top-level fields that count as the desired state: a change of any of them raises metadata.generation.
   * Absent: the kind has no generation.
   */
  readonly generationFields?: readonly (keyof T & string)[]
  /** Whether an empty list or map in them is a change when nothing was stored. Default: false, as it is for most kinds. */
  readonly emptyIsChange?: boolean
  /** Default: false; a new object has no status but what prepareForCreate gives it. */
  readonly statusOnCreate?: boolean
  /** Default: 'whole'. 'none': names are checked as parts of a path and nothing more, and only when all else is well. */
  readonly metadataOnCreate?: 'none' | 'whole'
  /**
   * How much of the metadata an update checks beyond what every update does; decides how often a cause is said.
   * Default: 'whole', the rules for changes and those for new objects; 'changes' and 'new': one of them alone.
   */
  readonly metadataOnUpdate?: 'none' | 'changes' | 'new' | 'whole'
  /** Defaulting, of the version that `object.apiVersion` says: after decoding, after a patch, after reading from storage. */
  setDefaults?(object: T): void
  prepareForCreate?(object: T, context: RequestContext): void
  validate?(object: T, context: RequestContext): FieldError[]
  warningsOnCreate?(object: T, context: RequestContext): string[]
  canonicalize?(object: T): void
  /** The status subresource; only for kinds that have one. */
  readonly status?: UpdateRules<T>
  /** Further subresources that update the same object through rules of their own: approval. */
  readonly subresources?: Readonly<Record<string, PartRules<T>>>
  checkGracefulDelete?(object: T, options: DeleteOptions, context: RequestContext): boolean
  readonly garbageCollection?: GarbageCollectionPolicy
  readonly table?: TableRules<T>
  /** Beyond having lost its last finalizer: what else must hold for an update to end an object. */
  shouldDeleteDuringUpdate?(next: T, existing: T): boolean
  /** Objects live as long as the flag --event-ttl says, counted from their last write. Absent: for ever. */
  readonly expires?: 'event-ttl'
  /** By apiVersion, for versions whose types differ from the hub's; the others differ in their name alone. */
  readonly conversions?: Readonly<Record<string, HubConversion<T>>>
  /** Annotations that stand for a field of the type: who asks for the metadata alone does not get them. */
  readonly fieldAnnotations?: readonly string[]
  /** Names that nobody may delete one by one; a deletion of the whole collection takes them too. */
  readonly undeletable?: readonly string[]
  /** What a client that deletes should know. */
  warningsOnDelete?(options: DeleteOptions): string[]
  /** DELETE answers with the object instead of a Status. */
  readonly returnDeletedObject?: boolean
}
