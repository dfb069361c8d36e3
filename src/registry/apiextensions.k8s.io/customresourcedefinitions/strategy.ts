/** Thread: pool. Custom resource definitions: checked in the form in which what all versions share stands once. */

import { FieldPath, invalid, required } from '../../../api/field-error.js'
import type { CustomResourceDefinition } from '../../../api/generated/kinds/apiextensions.v1.js'
import type { CustomResourceDefinition as Definition } from '../../../api/generated/kinds/apiextensions.v1beta1.js'
import { metadataOf, nextGeneration } from '../../../api/object.js'
import { type Errors, immutable, sameValue } from '../../../api/validation/checks.js'
import { hasKnownVersion } from '../../../api/validation/webhook-client.js'
import { APPROVED, approvalOf, isCommunityGroup } from '../../../apiextensions/definitions/approval.js'
import { hasUnknownFields } from '../../../apiextensions/schema/admission-pass.js'
import { allSchemas, isSet, type JsonSchema, whyNotStructural } from '../../../apiextensions/schema/json-schema.js'
import { SchemaNode } from '../../../apiextensions/schema/schema-node.js'
import { firstByName } from '../../generic/first-by-name.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { definitionsV1beta1, V1BETA1 } from './conversion.js'
import { isEstablished, schemasOf } from './definition.js'
import { formatWarnings } from './format-warnings.js'
import { isNonAtomicSet, keyErrors, SCHEMA_TYPES } from './schema-validation.js'
import { hasDefaults, isCABundle, namesErrors, type SpecOptions, specErrors } from './spec-validation.js'
import { structuralErrors } from './structural-validation.js'
import { MOST_SELECTABLE } from './version-parts.js'

const SPEC = FieldPath.of('spec')
const STORED_VERSIONS = FieldPath.of('status', 'storedVersions')

const STRICT: SpecOptions = {
  requireKnownReviewVersion: true,
  requireSchemas: true,
  requireStructural: true,
  requirePrunedDefaults: true,
  requireValidTypes: true,
  requireAtomicSets: true,
  requireMapKeys: true,
  requireCABundle: false,
  stored: { rules: new Set(), messageExpressions: new Set() },
  unchangedSchemas: new Set(),
  manySelectable: new Set(),
}

const shared = (object: CustomResourceDefinition): Definition => definitionsV1beta1.fromMemoryVersion(object)

function setDefaults(definition: CustomResourceDefinition): void {
  if (definition.apiVersion === V1BETA1) return
  definition.spec ??= {}
  const { spec } = definition
  spec.names ??= {}
  const { names } = spec
  if ((names.singular ?? '') === '' && (names.kind ?? '') !== '') names.singular = names.kind!.toLowerCase()
  if ((names.listKind ?? '') === '' && (names.kind ?? '') !== '') names.listKind = `${names.kind}List`
  spec.conversion ??= { strategy: 'None' }
  const service = spec.conversion?.webhook?.clientConfig?.service
  if (isSet(service)) service.port ??= 443
  const { storedVersions } = definition.status ?? {}
  if (storedVersions !== undefined && storedVersions !== null && storedVersions.length === 0)
    rememberStorageVersion(definition)
}

/** Objects may be stored in every version that was the storage version once. */
function rememberStorageVersion(definition: CustomResourceDefinition): void {
  const name = (definition.spec?.versions ?? []).find(({ storage }) => storage === true)?.name
  if (name === undefined) return
  const status = definition.status ?? {}
  const known = status.storedVersions ?? []
  definition.status = { ...status, storedVersions: known.includes(name) ? known : [...known, name] }
}

function nameErrors(object: CustomResourceDefinition, spec: NonNullable<Definition['spec']>): Errors {
  const { name = '', generateName = '' } = metadataOf(object)
  const wanted = `${spec.names?.plural ?? ''}.${spec.group ?? ''}`
  const check = (value: string, field: string): Errors =>
    value === '' || value === wanted
      ? []
      : [invalid(FieldPath.of('metadata', field), value, 'must be spec.names.plural+"."+spec.group')]
  return [...check(generateName, 'generateName'), ...check(name, 'name')]
}

function storedVersionsErrors({ spec, status }: Definition): Errors {
  const stored = status?.storedVersions ?? []
  if (stored.length === 0) return [invalid(STORED_VERSIONS, null, 'must have at least one stored version')]
  const versions = spec?.versions ?? []
  return [
    ...versions
      .filter(({ storage, name = '' }) => storage === true && !stored.includes(name))
      .map(({ name }) => invalid(STORED_VERSIONS, stored, `must have the storage version ${name}`)),
    ...stored.flatMap((name, i) =>
      versions.some((version) => version.name === name)
        ? []
        : [invalid(STORED_VERSIONS.index(i), name, 'objects may be stored in it: it must stay in spec.versions')],
    ),
  ]
}

/** Groups of the Kubernetes community need a word that says who agreed. */
function approvalErrors(object: Definition, old?: Definition): Errors {
  if (!isCommunityGroup(object.spec?.group ?? '')) return []
  const { annotations } = metadataOf(object)
  const approval = approvalOf(annotations)
  if (old !== undefined && approvalOf(metadataOf(old).annotations) === approval) return []
  const at = FieldPath.of('metadata', 'annotations').key(APPROVED)
  if (approval === 'missing') return [required(at, 'protected groups need the link to the approval')]
  return approval === 'invalid' ? [invalid(at, annotations?.[APPROVED], 'must be a URL')] : []
}

function preserveErrors({ spec }: Definition, old?: Definition): Errors {
  if (old?.spec?.preserveUnknownFields === true || spec?.preserveUnknownFields !== true) return []
  return [invalid(SPEC.child('preserveUnknownFields'), true, 'cannot set to true')]
}

const statusErrors = ({ status }: Pick<Definition, 'status'>): Errors =>
  namesErrors(status?.acceptedNames ?? {}, FieldPath.of('status', 'acceptedNames'))

function commonErrors(definition: Definition, options: SpecOptions, old?: Definition): Errors {
  return [
    ...specErrors(definition.spec ?? {}, options),
    ...statusErrors(definition),
    ...storedVersionsErrors(definition),
    ...approvalErrors(definition, old),
    ...preserveErrors(definition, old),
  ]
}

function validate(object: CustomResourceDefinition): Errors {
  const definition = shared(object)
  return [...nameErrors(object, definition.spec ?? {}), ...commonErrors(definition, STRICT)]
}

const isRightBundle = (caBundle: string): boolean => caBundle === '' || isCABundle(caBundle)

function manySelectable(old: Spec, next: Spec): ReadonlySet<string> {
  const same = (a: Holder, b: Holder | undefined): boolean =>
    (a.selectableFields ?? []).length > MOST_SELECTABLE && sameValue(a.selectableFields, b?.selectableFields)
  const names = (old.versions ?? [])
    .filter((version) =>
      same(
        version,
        next.versions?.find(({ name }) => name === version.name),
      ),
    )
    .map(({ name }) => name ?? '')
  return new Set(same(old, next) ? ['', ...names] : names)
}

function storedRules(schemas: readonly JsonSchema[]): SpecOptions['stored'] {
  const all = schemas.flatMap((schema) => allSchemas(schema).flatMap((one) => one['x-kubernetes-validations'] ?? []))
  return {
    rules: new Set(all.map(({ rule = '' }) => rule)),
    messageExpressions: new Set(all.map(({ messageExpression = '' }) => messageExpression)),
  }
}

/** By name of their version; what all versions share is named by the first of them. */
function unchangedSchemas(old: Spec, next: Spec): ReadonlySet<string> {
  const [before, now] = [firstByName(old.versions), firstByName(next.versions)]
  const isUnchanged = ({ name = '' }: { readonly name?: string }): boolean =>
    before.has(name) &&
    sameValue(
      old.validation?.openAPIV3Schema ?? before.get(name)?.schema?.openAPIV3Schema,
      next.validation?.openAPIV3Schema ?? now.get(name)?.schema?.openAPIV3Schema,
    )
  return new Set((next.versions ?? []).filter(isUnchanged).map(({ name }) => name ?? ''))
}

type Spec = NonNullable<Definition['spec']>
type Holder = Pick<Spec, 'selectableFields'>

/** What the stored definition does already, the new one may do too. */
function ratcheted(old: Definition, next: Definition): SpecOptions {
  const { spec = {} } = old
  const schemas = schemasOf(spec)
  const some = (holds: (schema: JsonSchema) => boolean): boolean =>
    schemas.some((schema) => allSchemas(schema).some(holds))
  const at = FieldPath.of('schema')
  const versions = spec.conversion?.conversionReviewVersions
  return {
    requireKnownReviewVersion: (versions ?? []).length === 0 || hasKnownVersion(versions),
    requireSchemas:
      isSet(spec.validation?.openAPIV3Schema) ||
      (spec.versions ?? []).every(({ schema }) => isSet(schema?.openAPIV3Schema)),
    requireStructural: !schemas.some(
      (schema) => whyNotStructural(schema) !== undefined || structuralErrors(schema, at).length > 0,
    ),
    requirePrunedDefaults: !(
      schemas.some(hasDefaults) &&
      some((one) => isSet(one.default) && hasUnknownFields(one.default, new SchemaNode(one)))
    ),
    requireValidTypes: !some(({ type = '' }) => type !== '' && !SCHEMA_TYPES.some((one) => one === type)),
    requireAtomicSets: !some(isNonAtomicSet),
    requireMapKeys: !some((one) => keyErrors(one, at).length > 0),
    requireCABundle: isEstablished(old) && isRightBundle(spec.conversion?.webhookClientConfig?.caBundle ?? ''),
    stored: storedRules(schemas),
    unchangedSchemas: unchangedSchemas(spec, next.spec ?? {}),
    manySelectable: manySelectable(spec, next.spec ?? {}),
  }
}

function validateUpdate(object: CustomResourceDefinition, oldObject: CustomResourceDefinition): Errors {
  const [definition, old] = [shared(object), shared(oldObject)]
  const [spec, before] = [definition.spec ?? {}, old.spec ?? {}]
  const names = SPEC.child('names')
  return [
    ...commonErrors(definition, ratcheted(old, definition), old),
    ...(isEstablished(old)
      ? [
          ...immutable(spec.scope, before.scope, SPEC.child('scope')),
          ...immutable(spec.names?.kind, before.names?.kind, names.child('kind')),
        ]
      : []),
    ...immutable(spec.group, before.group, SPEC.child('group')),
    ...immutable(spec.names?.plural, before.names?.plural, names.child('plural')),
  ]
}

export const customResourceDefinitionRules: ResourceRules<CustomResourceDefinition> = {
  conversions: { [V1BETA1]: definitionsV1beta1 },
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  setDefaults,
  prepareForCreate: (object) => {
    metadataOf(object).generation = 1
    rememberStorageVersion(object)
  },
  prepareForUpdate: (object, old) => {
    if (!sameValue(object.spec, old.spec)) metadataOf(object).generation = nextGeneration(metadataOf(old))
    rememberStorageVersion(object)
  },
  validate,
  validateUpdate,
  warningsOnCreate: (object) => formatWarnings(shared(object).spec ?? {}),
  warningsOnUpdate: (object, old) => {
    const known = new Set(formatWarnings(shared(old).spec ?? {}))
    return formatWarnings(shared(object).spec ?? {}).filter((warning) => !known.has(warning))
  },
  status: { validateUpdate: (object) => statusErrors(object) },
}
