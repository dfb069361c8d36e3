/**
 * Thread: pool. The rules of a version of a custom resource, made from its compiled schema: what Kubernetes calls the custom resource
 * strategy. Objects are given in the storage version; they are held against the schema of the version that was asked for.
 */
import { isDeepStrictEqual } from 'node:util'
import { type FieldError, FieldPath, invalid } from '../../api/field-error.js'
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresources,
} from '../../api/generated/kinds/apiextensions.v1.js'
import { deepCopy, type JsonObject, type KubeObject, metadataOf, nextGeneration } from '../../api/object.js'
import { dnsSubdomainName, isQualifiedName } from '../../api/validation/names.js'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../api/validation/object-meta.js'
import { type PrinterColumn, printerTable } from '../../apiextensions/columns/printer-columns.js'
import type { CompiledSchema } from '../../apiextensions/schema/interface.js'
import type { ScalePaths } from '../../apiextensions/subresources/scale.js'
import type { ResourceRules, VersionConversion } from './resource-rules.js'
import { keepMetadata } from './rules-strategy.js'
import type { RequestContext } from './strategy.js'

export interface CustomRulesOptions {
  readonly kind: string
  readonly columns: readonly CustomResourceColumnDefinition[] | undefined
  readonly namespaced: boolean
  readonly schema: CompiledSchema
  readonly subresources: CustomResourceSubresources | undefined
  /** By apiVersion: between the storage version and the others. */
  readonly conversions: Readonly<Record<string, VersionConversion>>
  /** From the storage version to the one that was asked for; undefined when they are one. */
  readonly conversion: VersionConversion | undefined
}

export function customRules(options: CustomRulesOptions): ResourceRules {
  const { kind, namespaced, columns, schema, subresources, conversions, conversion } = options
  const scale = scalePaths(subresources)
  const asked = (object: KubeObject): JsonObject => (conversion?.fromMemoryVersion(object) ?? object) as JsonObject
  const kindErrors = (object: KubeObject): FieldError[] =>
    object.kind === kind ? [] : [invalid(FieldPath.of('kind'), object.kind ?? '', `must be ${kind}`)]
  // An object of another kind is not looked at any further, but for what embedded objects, lists and rules promise.
  const found = (object: KubeObject): FieldError[] =>
    object.kind === kind
      ? validateObjectMeta(metadataOf(object), { namespaceScoped: namespaced, nameRule: dnsSubdomainName })
      : kindErrors(object)
  const changed = (object: KubeObject, old: KubeObject): FieldError[] =>
    object.kind === kind ? validateObjectMetaUpdate(metadataOf(object), metadataOf(old)) : kindErrors(object)
  const verdict = (
    object: KubeObject,
    old: KubeObject | undefined,
    { addWarning, wholeFloats }: RequestContext,
    part: { readonly subresource?: 'status' },
    before: readonly FieldError[],
  ): FieldError[] => {
    const { errors, warnings } = schema.validate(asked(object), {
      ...(old === undefined ? {} : { old: asked(old) }),
      ...(scale === undefined ? {} : { scale }),
      ...part,
      wholeFloats: wholeFloats?.(),
      found: before,
      isOtherKind: object.kind !== kind,
    })
    for (const warning of warnings) addWarning(warning)
    return [...before, ...errors]
  }
  return {
    allowUnconditionalUpdate: false,
    metadataOnCreate: 'none',
    metadataOnUpdate: 'none',
    conversions,
    table: printerTable(columns?.map(printerColumn)),
    // An object of another kind is refused as it came.
    setDefaults: (object) => {
      if (object.kind === kind) schema.setDefaults(object as JsonObject)
    },
    prepareForCreate: (object) => {
      metadataOf(object).generation = 1
    },
    prepareForUpdate: (object, old) => {
      if (!isDeepStrictEqual(withoutMetadata(object), withoutMetadata(old)))
        metadataOf(object).generation = nextGeneration(metadataOf(old))
    },
    validate: (object, context) => verdict(object, undefined, context, {}, found(object)),
    validateUpdate: (object, old, context) => verdict(object, old, context, {}, changed(object, old)),
    warningsOnCreate: (object) => finalizerWarnings(metadataOf(object).finalizers ?? []),
    warningsOnUpdate: (object, old) => {
      const before = metadataOf(old).finalizers ?? []
      return finalizerWarnings((metadataOf(object).finalizers ?? []).filter((one) => !before.includes(one)))
    },
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate: (object, old) => {
        keepMetadata(object, old)
        if (old.kind !== undefined) object.kind = old.kind
      },
      validateUpdate: (object, old, context) =>
        verdict(object, old, context, { subresource: 'status' }, changed(object, old)),
    },
  }
}

const printerColumn = ({
  name = '',
  type = '',
  jsonPath = '',
  ...rest
}: CustomResourceColumnDefinition): PrinterColumn => ({ name, type, jsonPath, ...rest })

/** Between the storage version and another one by strategy None: the same fields, less those that the other schema lacks. */
export function plainConversion(
  memory: { readonly apiVersion: string; readonly schema: CompiledSchema },
  other: { readonly apiVersion: string; readonly schema: CompiledSchema },
): VersionConversion {
  const as = (object: KubeObject, { apiVersion, schema }: typeof memory): KubeObject => {
    const copy: KubeObject = { ...deepCopy(object), apiVersion }
    schema.admit(copy as JsonObject, { origin: 'converted' })
    return copy
  }
  return { toMemoryVersion: (object) => as(object, memory), fromMemoryVersion: (object) => as(object, other) }
}

export function scalePaths(subresources: CustomResourceSubresources | undefined): ScalePaths | undefined {
  const { scale } = subresources ?? {}
  if (scale === undefined || scale === null) return undefined
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath } = scale
  return {
    specReplicasPath,
    statusReplicasPath,
    ...(labelSelectorPath === undefined || labelSelectorPath === null || labelSelectorPath === ''
      ? {}
      : { labelSelectorPath }),
  }
}

function withoutMetadata({ metadata: _, ...rest }: KubeObject): object {
  return rest
}

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

function finalizerWarnings(finalizers: readonly string[]): string[] {
  return [...new Set(finalizers)].sort().flatMap((finalizer) => {
    const about = `metadata.finalizers: ${JSON.stringify(finalizer)}: `
    const warnings = isQualifiedName(finalizer).map((why) => about + why)
    if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return warnings
    const path = finalizer.includes('.') ? ' including a path (/)' : ''
    const prefer = `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
    return [...warnings, about + prefer]
  })
}
