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
  /** 0 for columns that are always shown, 1 for those of -o wide. */
  readonly priority?: number
}

export type TableCell = string | number | bigint | boolean | null

export interface TableRules<T extends KubeObject = KubeObject> {
  readonly columns: readonly TableColumn[]
  /** One cell for each column. `nowMs` is for ages. */
  cells(object: T, nowMs: number): TableCell[]
}

/** Rules of one way to update: the resource itself or a subresource that shares its object. */
export interface UpdateRules<T extends KubeObject = KubeObject> {
  /** Fields that nobody comes to own through this endpoint. Default: the part that the endpoint does not write. */
  readonly resetFields?: readonly (readonly string[])[]
  /** Restores what this endpoint may not change, on top of what the generic strategy does. */
  prepareForUpdate?(object: T, old: T, context: RequestContext): void
  validateUpdate?(object: T, old: T, context: RequestContext): FieldError[]
  warningsOnUpdate?(object: T, old: T, context: RequestContext): string[]
}

/**
 * Between a version of a resource and its memory version: the one that memory holds and that strategies, validation and columns
 * see. Neither function changes what it is given.
 */
export interface VersionConversion<InMemory extends KubeObject = KubeObject, Version extends KubeObject = KubeObject> {
  toMemoryVersion(object: Version): InMemory
  fromMemoryVersion(object: InMemory): Version
}

/** A subresource that writes a part of the object: approval, finalize, resize. */
export interface PartRules<T extends KubeObject = KubeObject> extends UpdateRules<T> {
  /** The part that is written; the rest is put back before the rules see the object. */
  readonly writes: 'spec' | 'status'
  /**
   * The fields that a writer may come to own, in the elements of managedFields, with all that is below them; `*` stands
   * for any element. Default: everything but the other part.
   */
  readonly ownedFields?: readonly (readonly string[])[]
}

/**
 * `T` is the type of the kind in its memory version, from src/api/generated/kinds: the table of rules says by resource which
 * kind the functions are given, so they need no casts. Functions are declared as methods, which TypeScript compares in both
 * directions; that is what lets rules-table.ts hold the rules of every kind as rules of any object.
 */
export interface ResourceRules<T extends KubeObject = KubeObject> extends UpdateRules<T> {
  /** The rule of names. Default: a DNS subdomain. */
  readonly nameRule?: NameRule
  /** Makes a name from generateName. Default: the base and five random letters. */
  generateName?(base: string): string
  /** The path to the pod's spec, for kinds that have one. */
  readonly podSpecAt?: readonly string[]
  readonly allowCreateOnUpdate?: boolean
  /** Whether a PUT without a resourceVersion replaces whatever is there. Default: true. */
  readonly allowUnconditionalUpdate?: boolean
  /**
   * The top-level fields that count as the desired state: a change of any of them raises metadata.generation.
   * Absent: the kind has no generation.
   */
  readonly generationFields?: readonly (keyof T & string)[]
  /**
   * Whether an empty list or map in these fields is a change when nothing was stored. Default: false, as it is for most
   * kinds.
   */
  readonly emptyIsChange?: boolean
  /**
   * Whether a client may set the status of a new object. Default: false; it has no status but what prepareForCreate
   * gives it.
   */
  readonly statusOnCreate?: boolean
  /**
   * How much of a new object's metadata is checked. Default: 'whole'. With 'none' names are checked as parts of a path
   * and nothing more, and only when all else is well.
   */
  readonly metadataOnCreate?: 'none' | 'whole'
  /**
   * How much of the metadata an update checks beyond what every update does; decides how often a cause is said.
   * Default: 'whole', the rules for changes and those for new objects; 'changes' and 'new': one of them alone.
   */
  readonly metadataOnUpdate?: 'none' | 'changes' | 'new' | 'whole'
  /**
   * Fills in the defaults of the version that `object.apiVersion` names: after decoding, after a patch, after reading
   * from storage.
   */
  setDefaults?(object: T): void
  prepareForCreate?(object: T, context: RequestContext): void
  validate?(object: T, context: RequestContext): FieldError[]
  warningsOnCreate?(object: T, context: RequestContext): string[]
  canonicalize?(object: T): void
  /** The rules of the status subresource, for kinds that have one. */
  readonly status?: UpdateRules<T>
  /** Further subresources that update the same object through rules of their own: approval. */
  readonly subresources?: Readonly<Record<string, PartRules<T>>>
  checkGracefulDelete?(object: T, options: DeleteOptions, context: RequestContext): boolean
  readonly garbageCollection?: GarbageCollectionPolicy
  readonly table?: TableRules<T>
  /** What must hold, beside the loss of the last finalizer, for an update to end an object. */
  shouldDeleteDuringUpdate?(next: T, existing: T): boolean
  /** Objects live as long as the flag --event-ttl says, counted from their last write. Absent: they live for ever. */
  readonly expires?: 'event-ttl'
  /**
   * Conversions by apiVersion, for versions whose types differ from those of the memory version; the others differ in
   * their name alone.
   */
  readonly conversions?: Readonly<Record<string, VersionConversion<T>>>
  /** Annotations that stand for a field of the type: who asks for the metadata alone does not get them. */
  readonly fieldAnnotations?: readonly string[]
  /** Names that nobody may delete one by one; a deletion of the whole collection takes them too. */
  readonly undeletable?: readonly string[]
  /** Warnings for a client that deletes. */
  warningsOnDelete?(options: DeleteOptions): string[]
  /** Whether DELETE answers with the object instead of a Status. */
  readonly returnDeletedObject?: boolean
}
