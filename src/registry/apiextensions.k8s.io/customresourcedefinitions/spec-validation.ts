/** Thread: pool. What a definition says, field by field, as Kubernetes checks it. */

import { X509Certificate } from 'node:crypto'
import { RUNTIME_COST_BUDGET } from '../../../api/cel/limits.js'
import { FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  WebhookClientConfig,
} from '../../../api/generated/kinds/apiextensions.v1beta1.js'
import { certificateBlocks } from '../../../api/pem.js'
import { type Errors, each, type List } from '../../../api/validation/checks.js'
import { isDns1035Label, isDns1123Subdomain } from '../../../api/validation/names.js'
import { clientConfigErrors, reviewVersionsErrors } from '../../../api/validation/webhook-client.js'
import { allSchemas, isSet, type JsonSchema, whyNotStructural } from '../../../apiextensions/schema/json-schema.js'
import { defaultsErrors } from './defaults-validation.js'
import { hasStatus, schemasOf } from './definition.js'
import { ruleExpressionErrors, type StoredRules } from './rule-expressions.js'
import { openAPISchemaErrors, type SchemaOptions } from './schema-validation.js'
import { structuralErrors } from './structural-validation.js'
import { columnErrors, selectableFieldsErrors, subresourcesErrors } from './version-parts.js'

/** How strict to be: what a stored definition does wrong already, it may go on doing. */
export interface SpecOptions extends SchemaOptions {
  readonly requireKnownReviewVersion: boolean
  readonly requireSchemas: boolean
  readonly requireStructural: boolean
  readonly requirePrunedDefaults: boolean
  /** A definition that is not established yet, or has a bundle that is none already, need not have a right one. */
  readonly requireCABundle: boolean
  /** Expressions that are stored already. */
  readonly stored: StoredRules
  /** Versions whose schema is the one that is stored already, by name. */
  readonly unchangedSchemas: ReadonlySet<string>
  /** Versions, '' for all at once, that had more fields to select by than there may be, and still have the same. */
  readonly manySelectable: ReadonlySet<string>
}

const SPEC = FieldPath.of('spec')
const DEPRECATION_BYTES = 256
/** What a root schema beside a status of its own may say: the rest could not be split. */
const AT_ROOT = new Set([
  ...['description', 'type', 'format', 'title', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'multipleOf', 'required', 'items'],
  ...['properties', 'externalDocs', 'example', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-validations'],
])

const joined = (reasons: readonly string[], path: FieldPath, value: unknown): Errors =>
  reasons.length === 0 ? [] : [invalid(path, value, reasons.join(','))]

export function specErrors(spec: CustomResourceDefinitionSpec, given: SpecOptions): Errors {
  const extended = schemasOf(spec).some((schema) => allSchemas(schema).some(isExtended))
  const prunes = spec.preserveUnknownFields !== true
  const options = { ...given, requireStructural: given.requireStructural || prunes || extended }
  return [
    ...groupErrors(spec.group ?? '', SPEC.child('group')),
    ...choiceErrors(spec.scope, ['Cluster', 'Namespaced'], SPEC.child('scope')),
    ...missingSchemaErrors(spec, given.requireSchemas, prunes),
    ...(prunes || !schemasOf(spec).some(hasDefaults)
      ? []
      : [invalid(SPEC.child('preserveUnknownFields'), true, 'must be false in order to use defaults in the schema')]),
    ...versionsErrors(spec, options),
    ...requiredNameErrors(spec.names ?? {}, SPEC.child('names')),
    ...namesErrors(spec.names ?? {}, SPEC.child('names')),
    ...schemaErrors(
      spec.validation?.openAPIV3Schema,
      spec.version,
      hasAnyStatus(spec),
      options,
      SPEC.child('validation'),
    ),
    ...subresourcesErrors(spec.subresources, SPEC.child('subresources')),
    ...each(spec.additionalPrinterColumns, SPEC.child('additionalPrinterColumns'), columnErrors),
    ...selectableErrors(spec, spec.validation?.openAPIV3Schema, options.manySelectable.has(''), SPEC),
    ...conversionErrors(spec, given, SPEC.child('conversion')),
  ]
}

const isExtended = (schema: JsonSchema): boolean =>
  isSet(schema.default) ||
  schema['x-kubernetes-embedded-resource'] === true ||
  isSet(schema['x-kubernetes-preserve-unknown-fields']) ||
  schema['x-kubernetes-int-or-string'] === true ||
  (schema['x-kubernetes-list-map-keys'] ?? []).length > 0 ||
  isSet(schema['x-kubernetes-list-type']) ||
  (schema['x-kubernetes-validations'] ?? []).length > 0

export const hasDefaults = (schema: JsonSchema): boolean => allSchemas(schema).some((one) => isSet(one.default))

const hasAnyStatus = ({ subresources, versions }: CustomResourceDefinitionSpec): boolean =>
  hasStatus(subresources) || (versions ?? []).some((version) => hasStatus(version.subresources))

function groupErrors(group: string, path: FieldPath): Errors {
  if (group === '') return [required(path)]
  const errors = joined(isDns1123Subdomain(group), path, group)
  if (errors.length > 0 || group.includes('.')) return errors
  return [invalid(path, group, 'should be a domain with at least one dot')]
}

function choiceErrors(value: string | undefined, choices: readonly string[], path: FieldPath): Errors {
  if ((value ?? '') === '') return [required(path)]
  return choices.includes(value!) ? [] : [notSupported(path, value, choices)]
}

function missingSchemaErrors(
  { validation, versions }: CustomResourceDefinitionSpec,
  ofAll: boolean,
  prunes: boolean,
): Errors {
  if (isSet(validation?.openAPIV3Schema) || (!ofAll && !prunes)) return []
  return each(versions, SPEC.child('versions'), ({ schema, served }, at) =>
    isSet(schema?.openAPIV3Schema) || (!ofAll && served !== true)
      ? []
      : [required(at.child('schema', 'openAPIV3Schema'))],
  )
}

function versionsErrors(spec: CustomResourceDefinitionSpec, options: SpecOptions): Errors {
  const path = SPEC.child('versions')
  const versions = spec.versions ?? []
  const names = versions.map(({ name = '' }) => name)
  const ownSubresources = versions.some(({ subresources }) => isSet(subresources))
  const errors = each(versions, path, (version, at) => [
    ...joined(isDns1035Label(version.name ?? ''), at.child('name'), version.name ?? ''),
    ...versionErrors(version, ownSubresources ? version.subresources : spec.subresources, options, at),
  ])
  if (new Set(names).size < names.length) errors.push(invalid(path, versions, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage === true).length !== 1)
    errors.push(invalid(path, versions, 'must have exactly one version marked as storage version'))
  return [...errors, ...firstVersionErrors(spec.version ?? '', names[0])]
}

/** What stands for a list of versions in definitions of long ago. */
function firstVersionErrors(version: string, first: string | undefined): Errors {
  if (version === '') return []
  const at = SPEC.child('version')
  const errors = joined(isDns1035Label(version), at, version)
  if (first !== undefined && first !== version)
    errors.push(invalid(at, version, 'must match the first of spec.versions'))
  return errors
}

function versionErrors(
  version: CustomResourceDefinitionVersion,
  subresources: CustomResourceSubresources | undefined,
  options: SpecOptions,
  at: FieldPath,
): Errors {
  const { deprecationWarning: warning } = version
  const reasons = isSet(warning) ? warningReasons(version.deprecated === true, warning) : []
  return [
    ...reasons.map((reason) => invalid(at.child('deprecationWarning'), warning, reason)),
    ...schemaErrors(
      version.schema?.openAPIV3Schema,
      version.name,
      hasStatus(subresources),
      options,
      at.child('schema'),
    ),
    ...subresourcesErrors(version.subresources, at.child('subresources')),
    ...each(version.additionalPrinterColumns, at.child('additionalPrinterColumns'), columnErrors),
    ...selectableErrors(version, version.schema?.openAPIV3Schema, options.manySelectable.has(version.name ?? ''), at),
  ]
}

function warningReasons(deprecated: boolean, warning: string): string[] {
  if (!deprecated) return ['can only be set for deprecated versions']
  const reasons: string[] = []
  if (Buffer.byteLength(warning) > DEPRECATION_BYTES) reasons.push(`must be <= ${DEPRECATION_BYTES} characters long`)
  if (warning === '') reasons.push('must not be an empty string')
  // Spaces other than U+0020 are not printable either.
  if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(warning)) reasons.push('must only contain printable UTF-8 characters')
  return reasons
}

function selectableErrors(
  { selectableFields }: Pick<CustomResourceDefinitionVersion, 'selectableFields'>,
  schema: JsonSchema | undefined,
  allowsMany: boolean,
  at: FieldPath,
): Errors {
  if ((selectableFields ?? []).length === 0) return []
  const path = at.child('selectableFields')
  if (!isSet(schema)) return [invalid(path, '', 'may only be set beside a schema')]
  const why = whyNotStructural(schema)
  if (why !== undefined) return [invalid(at.child('schema.openAPIV3Schema'), '', why)]
  return selectableFieldsErrors(selectableFields, schema, path, allowsMany)
}

function schemaErrors(
  schema: JsonSchema | undefined,
  version: string | undefined,
  ownStatus: boolean,
  options: SpecOptions,
  path: FieldPath,
): Errors {
  if (!isSet(schema)) return []
  const at = path.child('openAPIV3Schema')
  const errors = ownStatus ? rootErrors(schema, path) : []
  if (schema.nullable === true) errors.push(forbidden(at.child('nullable'), 'nullable cannot be true at the root'))
  const why = options.requireStructural ? whyNotStructural(schema) : undefined
  const form = options.requireStructural && why === undefined ? formErrors(schema, options, at) : []
  const faulty = new Set<JsonSchema>()
  errors.push(...form, ...openAPISchemaErrors(schema, at, options, faulty))
  if (why !== undefined && errors.length === 0) return [invalid(at, '', why)]
  if (!options.requireStructural || why !== undefined || form.length > 0) return errors
  const isUnchanged = options.unchangedSchemas.has(version ?? '')
  return [...errors, ...ruleExpressionErrors(schema, at, { stored: options.stored, isUnchanged, faulty })]
}

/** Whether it is structural, and if so whether its defaults fit it. */
function formErrors(schema: JsonSchema, { requirePrunedDefaults }: SpecOptions, at: FieldPath): Errors {
  const errors = structuralErrors(schema, at)
  if (errors.length > 0) return errors
  return defaultsErrors({ ...schema, 'x-kubernetes-embedded-resource': true }, at, {
    requirePruned: requirePrunedDefaults,
    budget: { remaining: RUNTIME_COST_BUDGET },
  })
}

function rootErrors(schema: JsonSchema, path: FieldPath): Errors {
  const says = (name: string, value: unknown): boolean =>
    isSet(value) && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0 && name !== 'enum')
  const wrong = Object.entries(schema).find(([name, value]) => says(name, value) && !AT_ROOT.has(name))
  const { type = '' } = schema
  if (type !== '' && type !== 'object')
    return [invalid(path.child('openAPIV3Schema.type'), type, 'only "object" is allowed beside a status of its own')]
  return wrong === undefined
    ? []
    : [
        invalid(
          path.child('openAPIV3Schema'),
          schema,
          `${wrong[0]} is not allowed at the root beside a status of its own`,
        ),
      ]
}

function requiredNameErrors(names: CustomResourceDefinitionNames, path: FieldPath): Errors {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((field) => (names[field] ?? '') === '')
    .map((field) => required(path.child(field)))
}

/** Of the spec and of those accepted, which may be none. */
export function namesErrors(names: CustomResourceDefinitionNames, path: FieldPath): Errors {
  const label = (field: 'plural' | 'singular' | 'kind' | 'listKind', fold: boolean): Errors => {
    const name = names[field] ?? ''
    return name === '' ? [] : joined(isDns1035Label(fold ? name.toLowerCase() : name), path.child(field), name)
  }
  const labels = (list: List<string>, field: string): Errors =>
    each(list, path.child(field), (name, at) => joined(isDns1035Label(name), at, name))
  const { kind = '', listKind } = names
  return [
    ...label('plural', false),
    ...label('singular', false),
    ...label('kind', true),
    ...label('listKind', true),
    ...labels(names.shortNames, 'shortNames'),
    ...(kind !== '' && kind === listKind
      ? [invalid(path.child('listKind'), listKind, 'kind and listKind may not be the same')]
      : []),
    ...labels(names.categories, 'categories'),
  ]
}

/** One certificate or more, all of them readable. */
export function isCABundle(caBundle: string): boolean {
  const blocks = certificateBlocks(Buffer.from(caBundle, 'base64').toString('latin1'))
  return blocks.length > 0 && blocks.every(isCertificate)
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    // OpenSSL has its own errors for each way of not being a certificate.
    return false
  }
}

const bundleErrors = ({ caBundle = '' }: WebhookClientConfig, at: FieldPath): Errors =>
  caBundle === '' || isCABundle(caBundle)
    ? []
    : [invalid(at.child('caBundle'), caBundle, 'must be PEM of certificates')]

function conversionErrors(
  { conversion, preserveUnknownFields }: CustomResourceDefinitionSpec,
  { requireKnownReviewVersion, requireCABundle }: SpecOptions,
  path: FieldPath,
): Errors {
  if (!isSet(conversion)) return []
  const { strategy = '', webhookClientConfig: client, conversionReviewVersions: versions } = conversion
  const [clientAt, versionsAt] = [path.child('webhookClientConfig'), path.child('conversionReviewVersions')]
  const errors: Errors =
    strategy !== 'None' && preserveUnknownFields === true
      ? [invalid(path.child('strategy'), strategy, 'must be None if spec.preserveUnknownFields is true')]
      : []
  errors.push(...choiceErrors(strategy, ['None', 'Webhook'], path.child('strategy')))
  if (strategy === 'Webhook')
    return [
      ...errors,
      ...(isSet(client)
        ? [...clientConfigErrors(client, clientAt), ...(requireCABundle ? bundleErrors(client, clientAt) : [])]
        : [required(clientAt, 'required when strategy is set to Webhook')]),
      ...reviewVersionsErrors(versions, versionsAt, requireKnownReviewVersion),
    ]
  if (isSet(client)) errors.push(forbidden(clientAt, 'should not be set when strategy is not set to Webhook'))
  if ((versions ?? []).length > 0)
    errors.push(forbidden(versionsAt, 'should not be set when strategy is not set to Webhook'))
  return errors
}
