/** Thread: any. The rules that metadata obeys whatever the kind. */
import { type FieldError, FieldPath, forbidden, invalid, required, tooLong } from '../field-error.js'
import { parseGroupVersion } from '../group-version.js'
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../object.js'
import { dnsLabelName, isQualifiedName, isValidLabelValue, type NameRule } from './names.js'

export const IMMUTABLE = 'field is immutable'
const ANNOTATIONS_LIMIT_BYTES = 256 * 1024
const METADATA = FieldPath.of('metadata')
export const FINALIZER_ORPHAN = 'orphan'
export const FINALIZER_FOREGROUND = 'foregroundDeletion'

export interface ObjectMetaRules {
  readonly namespaceScoped: boolean
  readonly nameRule: NameRule
}

export function validateObjectMeta(meta: ObjectMeta, rules: ObjectMetaRules, path: FieldPath = METADATA): FieldError[] {
  const errors: FieldError[] = []
  const { name = '', generateName = '' } = meta
  if (generateName !== '') {
    for (const reason of rules.nameRule(generateName, true))
      errors.push(invalid(path.child('generateName'), generateName, reason))
  }
  if (name === '') errors.push(required(path.child('name'), 'name or generateName is required'))
  else for (const reason of rules.nameRule(name, false)) errors.push(invalid(path.child('name'), name, reason))
  errors.push(...validateNamespaceOf(meta, rules.namespaceScoped, path))
  if ((meta.generation ?? 0) < 0)
    errors.push(invalid(path.child('generation'), meta.generation, 'must be greater than or equal to 0'))
  errors.push(...validateLabels(meta.labels, path.child('labels')))
  errors.push(...validateAnnotations(meta.annotations, path.child('annotations')))
  errors.push(...validateOwnerReferences(meta.ownerReferences ?? [], path.child('ownerReferences')))
  errors.push(...validateFinalizers(meta.finalizers ?? [], path.child('finalizers')))
  errors.push(...validateManagedFields(meta.managedFields ?? [], path.child('managedFields')))
  return errors
}

function validateNamespaceOf(meta: ObjectMeta, namespaceScoped: boolean, path: FieldPath): FieldError[] {
  const namespace = meta.namespace ?? ''
  if (!namespaceScoped) return namespace === '' ? [] : [forbidden(path.child('namespace'), 'not allowed on this type')]
  if (namespace === '') return [required(path.child('namespace'))]
  return dnsLabelName(namespace, false).map((reason) => invalid(path.child('namespace'), namespace, reason))
}

export function validateLabels(labels: Record<string, string> | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const reason of isQualifiedName(key)) errors.push(invalid(path, key, reason))
    for (const reason of isValidLabelValue(value)) errors.push(invalid(path, value, reason))
  }
  return errors
}

export function validateAnnotations(annotations: Record<string, string> | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // The prefix of an annotation's key may be written in upper case; a label's may not.
    for (const reason of isQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, reason))
    size += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (size > ANNOTATIONS_LIMIT_BYTES) errors.push(tooLong(path, ANNOTATIONS_LIMIT_BYTES))
  return errors
}

function validateOwnerReferences(references: readonly OwnerReference[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const reference of references) {
    errors.push(...validateOwnerReference(reference, path))
    if (reference.controller !== true) continue
    const name = `${reference.kind}/${reference.name}`
    if (controller === undefined) controller = name
    else
      errors.push(
        invalid(path, references, `only one reference may be the controller, found ${controller} and ${name}`),
      )
  }
  return errors
}

function validateOwnerReference(reference: OwnerReference, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference
  const needed = (field: string, value: string): void => {
    if (value === '') errors.push(invalid(path.child(field), value, 'must not be empty'))
  }
  if ((parseGroupVersion(apiVersion)?.version ?? '') === '') {
    errors.push(invalid(path.child('apiVersion'), apiVersion, 'version must not be empty'))
  }
  needed('kind', kind)
  needed('name', name)
  needed('uid', uid)
  // An event that owned something would keep it alive only as long as events are kept.
  if (kind === 'Event' && apiVersion === 'v1')
    errors.push(invalid(path, reference, `${apiVersion} ${kind} is disallowed from being an owner`))
  return errors
}

export function validateFinalizers(finalizers: readonly string[], path: FieldPath): FieldError[] {
  const errors = finalizers.flatMap((name) => isQualifiedName(name).map((reason) => invalid(path, name, reason)))
  if (finalizers.includes(FINALIZER_ORPHAN) && finalizers.includes(FINALIZER_FOREGROUND)) {
    errors.push(
      invalid(path, finalizers, `finalizer ${FINALIZER_ORPHAN} and ${FINALIZER_FOREGROUND} cannot be both set`),
    )
  }
  return errors
}

/** Names without a domain are the server's own. */
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set([FINALIZER_ORPHAN, FINALIZER_FOREGROUND, 'kubernetes'])

/** Built-in kinds are stricter: a finalizer that is not the server's has a domain. */
export function validateQualifiedFinalizers(
  finalizers: readonly string[],
  path: FieldPath = METADATA.child('finalizers'),
): FieldError[] {
  return finalizers.flatMap((name, i) =>
    name.includes('/') || STANDARD_FINALIZERS.has(name)
      ? []
      : [invalid(path.index(i), name, 'name is neither a standard finalizer name nor is it fully qualified')],
  )
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, entry] of entries.entries()) {
    const at = path.index(i)
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalid(at.child('operation'), entry.operation ?? '', 'must be `Apply` or `Update`'))
    }
    if ((entry.fieldsType ?? '') !== '' && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalid(at.child('fieldsType'), entry.fieldsType, 'must be `FieldsV1`'))
    }
    if (Buffer.byteLength(entry.manager ?? '') > 128) errors.push(tooLong(at.child('manager'), 128))
    if (Buffer.byteLength(entry.subresource ?? '') > 256) errors.push(tooLong(at.child('subresource'), 256))
  }
  return errors
}

/** What no update may change. `next` takes over what the server owns where the client left it out. */
export function validateObjectMetaUpdate(next: ObjectMeta, old: ObjectMeta, path: FieldPath = METADATA): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    const known = new Set(old.finalizers ?? [])
    const added = (next.finalizers ?? []).filter((name) => !known.has(name))
    if (added.length > 0) {
      errors.push(
        forbidden(
          path.child('finalizers'),
          `no new finalizers can be added if the object is being deleted, found ${added.join(', ')}`,
        ),
      )
    }
  }
  if ((next.resourceVersion ?? '') === '')
    errors.push(invalid(path.child('resourceVersion'), '', 'must be specified for an update'))
  if ((next.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(path.child('generation'), next.generation ?? 0, 'must not be decremented'))
  }
  const same = (
    field: 'name' | 'namespace' | 'uid' | 'creationTimestamp' | 'deletionTimestamp' | 'deletionGracePeriodSeconds',
  ): void => {
    const [now, before] = [next[field] ?? null, old[field] ?? null]
    if (now !== before) errors.push(invalid(path.child(field), now, IMMUTABLE))
  }
  same('name')
  same('namespace')
  same('uid')
  same('creationTimestamp')
  same('deletionTimestamp')
  same('deletionGracePeriodSeconds')
  errors.push(...validateLabels(next.labels, path.child('labels')))
  errors.push(...validateAnnotations(next.annotations, path.child('annotations')))
  errors.push(...validateOwnerReferences(next.ownerReferences ?? [], path.child('ownerReferences')))
  errors.push(...validateManagedFields(next.managedFields ?? [], path.child('managedFields')))
  return errors
}
