/** Thread: pool. What is done to every object before it is written, around what its strategy adds. */
import type { FieldError } from '../../api/field-error.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import { type GroupKind, newInternalError, newInvalid } from '../../api/status.js'
import { pathSegmentName } from '../../api/validation/names.js'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../api/validation/object-meta.js'
import type { CreateStrategy, RequestContext, UpdateStrategy } from './strategy.js'
import { ensureNamespace } from './system-fields.js'

export function beforeCreate(strategy: CreateStrategy, object: KubeObject, context: RequestContext): void {
  const metadata = metadataOf(object)
  if (metadata.uid === undefined) throw newInternalError('system metadata was not initialized')
  ensureNamespace(object, context.namespace, strategy.namespaceScoped)
  strategy.prepareForCreate(object, context)
  const errors = strategy.validate(object, context)
  // The kind's own rules come first, because their words are more precise.
  if (errors.length === 0) errors.push(...commonErrors(object, strategy.namespaceScoped))
  if (errors.length > 0) throw newInvalid(kindOf(object, strategy), metadata.name ?? '', errors)
  for (const warning of strategy.warningsOnCreate(object, context)) context.addWarning(warning)
  strategy.canonicalize(object)
}

export function beforeUpdate(
  strategy: UpdateStrategy,
  object: KubeObject,
  old: KubeObject,
  context: RequestContext,
): void {
  const oldMetadata = metadataOf(old)
  ensureNamespace(object, context.namespace, strategy.namespaceScoped)
  keep(metadataOf(object), oldMetadata, 'generation')
  strategy.prepareForUpdate(object, old, context)
  // The metadata is taken only now, because status endpoints replace it in prepareForUpdate.
  const metadata = metadataOf(object)
  if ((metadata.uid ?? '') === '') keep(metadata, oldMetadata, 'uid')
  if (oldMetadata.creationTimestamp) metadata.creationTimestamp = oldMetadata.creationTimestamp
  if (oldMetadata.deletionTimestamp !== undefined) metadata.deletionTimestamp = oldMetadata.deletionTimestamp
  if (oldMetadata.deletionGracePeriodSeconds !== undefined && metadata.deletionGracePeriodSeconds === undefined) {
    metadata.deletionGracePeriodSeconds = oldMetadata.deletionGracePeriodSeconds
  }
  const errors = [
    ...commonErrors(object, strategy.namespaceScoped),
    ...validateObjectMetaUpdate(metadata, oldMetadata),
    ...strategy.validateUpdate(object, old, context),
  ]
  if (errors.length > 0) throw newInvalid(kindOf(object, strategy), metadata.name ?? '', errors)
  for (const warning of strategy.warningsOnUpdate(object, old, context)) context.addWarning(warning)
  strategy.canonicalize(object)
}

/** A custom object may be of another kind than the one that is served; the answer then names its own. */
const kindOf = ({ kind }: KubeObject, strategy: Pick<UpdateStrategy, 'kind'>): GroupKind =>
  kind === undefined || kind === strategy.kind.kind ? strategy.kind : { ...strategy.kind, kind }

function commonErrors(object: KubeObject, namespaceScoped: boolean): FieldError[] {
  return validateObjectMeta(metadataOf(object), { namespaceScoped, nameRule: pathSegmentName })
}

function keep<T extends object, K extends keyof T>(target: T, source: T, key: K): void {
  if (source[key] === undefined) delete target[key]
  else target[key] = source[key]
}
