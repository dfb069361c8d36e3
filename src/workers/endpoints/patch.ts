/** Thread: pool. PATCH in its four forms; apply may create the object. */

import { checkJsonSize, DecodedSizeError } from '../../api/decoded-size.js'
import { FieldPath, invalid } from '../../api/field-error.js'
import { formatGroupVersion } from '../../api/group-version.js'
import { type Decoded, decodeTree } from '../../api/json/decode.js'
import { DecodeError } from '../../api/json/decode-error.js'
import { encodeText } from '../../api/json/encode.js'
import { type ParsedJson, parseJson } from '../../api/json/parse.js'
import { JsonSyntaxError } from '../../api/json/syntax-error.js'
import { deepCopy, isJsonObject, type Json, type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import {
  isStatusError,
  newBadRequest,
  newConflict,
  newInvalid,
  newNotFound,
  newRequestEntityTooLarge,
  newUnknown,
  newUnsupportedMediaTypeGeneric,
} from '../../api/status.js'
import { type ParsedYaml, parseYaml, YamlError } from '../../api/yaml/yaml.js'
import { lookupTable } from '../../lib/lookup-table.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import { admissionAttributes, admitObject } from './admission-attributes.js'
import type { ApplyResult } from './apply/field-manager.js'
import { managerOrUserAgent } from './apply/manager-name.js'
import { checkKind, limitedStrict, reportStrict } from './decode-body.js'
import { encodeResponse } from './encode-response.js'
import type { Endpoint } from './endpoint.js'
import { applyJsonPatch } from './patch/json-patch.js'
import { applyMergePatch } from './patch/merge-patch.js'
import { isPatchError, patchStatusError } from './patch/patch-error.js'
import { applyStrategicMergePatch } from './patch/strategic-merge-patch.js'
import { patchStrictErrors } from './patch/strict-errors.js'
import type { WorkerRequest } from './request.js'
import { checkName, checkNamespace, updatedObject, updaterOf, validations } from './update.js'
import { parseWriteOptions, type WriteOptions } from './write-options.js'

type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

const PATCH_TYPES: Readonly<Record<string, PatchType>> = lookupTable({
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
})

export async function patch(worker: WorkerRequest): Promise<EncodedResponse> {
  const { request, endpoint } = worker
  // The content type is compared as written: Kubernetes too tells letter case apart here.
  const type = PATCH_TYPES[request.contentType.split(';', 1)[0]!.trim()]
  if (type === undefined || (type === 'strategic' && endpoint.custom !== undefined))
    throw newUnsupportedMediaTypeGeneric(endpoint.custom === undefined)
  const { name } = request.info
  const options = parseWriteOptions(worker.query, 'PatchOptions', type === 'apply')
  const patched = type === 'apply' ? applier(worker, options) : patcher(worker, type, options)
  const { object, created } = await updaterOf(endpoint).update(
    worker.context(options.dryRun),
    name,
    { updatedObject: patched },
    validations(worker, options.dryRun, name),
    // An apply to a subresource never creates the object.
    type === 'apply' && endpoint.subresource === '',
  )
  return encodeResponse(worker, created ? 201 : 200, object)
}

/** Makes the patched object from the current one; called again with a newer one when another writer was faster. */
function patcher(
  worker: WorkerRequest,
  type: Exclude<PatchType, 'apply'>,
  options: WriteOptions,
): (existing: KubeObject) => Promise<KubeObject> {
  const { request, endpoint } = worker
  let parsed: ParsedJson | undefined
  const manager = managerOrUserAgent(options.fieldManager, request.userAgent)
  return async (existing) => {
    if (metadataOf(existing).resourceVersion === undefined) {
      throw newNotFound({ group: request.info.apiGroup, resource: request.info.resource }, request.info.name)
    }
    const current = (endpoint.conversion?.fromMemoryVersion(deepCopy(existing)) ?? deepCopy(existing)) as JsonObject
    // The patch is parsed only when there is an object: a patch of nothing is not found, whatever it says.
    parsed ??= patchDocument(request.body)
    const tree = applyDocument(type, current, parsed.value, worker)
    const ofPatch = options.fieldValidation === 'Ignore' ? [] : patchStrictErrors(request.body, parsed, type === 'json')
    // A strategic merge patch has the fields of a known type, so it cannot make another kind of the object.
    const wanted = decodePatched(worker, tree, options, { ofPatch, keepsKind: type === 'strategic' })
    checkNamespace(worker, wanted)
    checkName(wanted, request.info.name)
    return updatedObject(worker, existing, wanted, { manager, dryRun: options.dryRun })
  }
}

function applyDocument(
  type: Exclude<PatchType, 'apply'>,
  current: JsonObject,
  document: Json,
  { endpoint }: WorkerRequest,
): Json {
  try {
    if (type === 'json') return applyJsonPatch(current, document)
    if (type === 'merge') return applyMergePatch(current, document)
    return applyStrategicMergePatch(current, document, endpoint.schema)
  } catch (error) {
    if (isPatchError(error)) throw patchStatusError(error)
    throw error
  }
}

function patchDocument(body: Uint8Array): ParsedJson {
  try {
    checkJsonSize(body)
    return parseJson(body)
  } catch (error) {
    if (error instanceof DecodedSizeError) throw newRequestEntityTooLarge(error.message)
    if (error instanceof JsonSyntaxError) throw newBadRequest(`error decoding patch: ${error.message}`)
    throw error
  }
}

interface PatchedDocument {
  /** What a strict decoder has found in the patch itself. */
  readonly ofPatch?: readonly string[]
  /** Whether kind and apiVersion are the endpoint's, whatever the document says. */
  readonly keepsKind?: boolean
}

function decodePatched(
  worker: WorkerRequest,
  tree: Json,
  { fieldValidation }: WriteOptions,
  { ofPatch = [], keepsKind = false }: PatchedDocument = {},
): KubeObject {
  const { endpoint } = worker
  const text = (): string => encodeText(tree as JsonObject, endpoint.schema)
  const refuse = (why: string): never => {
    throw newInvalid({ group: '', kind: '' }, '', [invalid(FieldPath.of('patch'), text(), why)])
  }
  try {
    const decoded = decodedTree(endpoint, tree)
    const { object } = decoded
    worker.noteEmptied(decoded.emptied)
    if (!keepsKind) checkPatchedKind(worker, object, refuse)
    const strictErrors = [...limitedStrict(ofPatch), ...limitedStrict(decoded.strictErrors)]
    if (strictErrors.length > 0 && fieldValidation === 'Strict')
      refuse(`strict decoding error: ${strictErrors.join(', ')}`)
    if (fieldValidation === 'Warn') for (const error of strictErrors) worker.addWarning(error)
    object.apiVersion = formatGroupVersion(endpoint.kind)
    object.kind = endpoint.kind.kind
    endpoint.rules.setDefaults?.(object)
    return object
  } catch (error) {
    if (error instanceof DecodeError) return refuse(error.message)
    throw error
  }
}

function decodedTree({ schema, custom, handler }: Endpoint, tree: Json): Decoded {
  if (custom === undefined || handler !== undefined) return decodeTree(tree, schema)
  if (!isJsonObject(tree)) throw new DecodeError('the patch makes something of the object that is none', '')
  const { strictErrors } = custom.schema.admit(tree, { origin: 'request' })
  return { object: tree, strictErrors, emptied: [] }
}

/** Refuses a patch that makes another kind of the object, which could not be decoded. */
function checkPatchedKind({ endpoint }: WorkerRequest, object: KubeObject, refuse: (why: string) => never): void {
  try {
    checkKind(object, endpoint.kind)
  } catch (error) {
    if (endpoint.info.definitionHash === undefined && isStatusError(error, 'BadRequest')) refuse(error.message)
    throw error
  }
}

function applier(worker: WorkerRequest, options: WriteOptions): (existing: KubeObject) => Promise<KubeObject> {
  const { request, endpoint } = worker
  if (endpoint.custom !== undefined && endpoint.handler !== undefined)
    throw newUnknown(`request to convert CR to an invalid group/version: ${formatGroupVersion(endpoint.kind)}`)
  const { value: applied, strictErrors } = appliedConfiguration(worker)
  return async (existing) => {
    const exists = metadataOf(existing).resourceVersion !== undefined
    // The field manager changes neither of the two; what it gives shares parts with both, and is copied.
    const live = exists
      ? ((endpoint.conversion?.fromMemoryVersion(deepCopy(existing)) ?? existing) as JsonObject)
      : undefined
    const apply = (): ApplyResult =>
      endpoint.fieldManager.apply(live, applied, options.fieldManager, {
        force: options.force,
        now: worker.now(),
      })
    const result = await (endpoint.managerConversions?.run(apply, worker.signal) ?? apply())
    reportStrict(strictErrors, { ...options, addWarning: worker.addWarning }, 'error strict decoding YAML: ')
    if (!exists) refuseUid(worker, applied)
    const object = decodeApplied(worker, deepCopy(result.object), options)
    checkNamespace(worker, object)
    checkName(object, request.info.name)
    return afterApply(worker, existing, object, options)
  }
}

/** Of a custom object all that was applied is known to its schema; a null in it is for validation. */
function decodeApplied(worker: WorkerRequest, tree: JsonObject, options: WriteOptions): KubeObject {
  const { custom, handler, rules } = worker.endpoint
  if (custom === undefined || handler !== undefined)
    return decodePatched(worker, tree, { ...options, fieldValidation: 'Ignore' })
  rules.setDefaults?.(tree as KubeObject)
  return tree as KubeObject
}

/** Apply has settled the managers; fields that admission changes are the applier's too. */
async function afterApply(
  worker: WorkerRequest,
  existing: KubeObject,
  object: KubeObject,
  { dryRun }: WriteOptions,
): Promise<KubeObject> {
  const { endpoint, request } = worker
  const exists = metadataOf(existing).resourceVersion !== undefined
  const objects = { object, name: request.info.name, ...(exists ? { oldObject: existing } : {}) }
  await admitObject(worker, admissionAttributes(worker, exists ? 'UPDATE' : 'CREATE', dryRun, objects))
  return endpoint.conversion?.toMemoryVersion(object) ?? object
}

/** An apply that names a uid means an object that exists, so it must not create one. */
function refuseUid({ request: { info } }: WorkerRequest, applied: JsonObject): void {
  const { uid = '' } = metadataOf(applied as KubeObject)
  if (uid === '') return
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw newConflict({ group: info.apiGroup, resource: info.resource }, info.name, why)
}

interface AppliedConfiguration {
  readonly value: JsonObject
  /** What a strict decoder objects to in the document: keys that are given twice. */
  readonly strictErrors: readonly string[]
}

/** The configuration as it was sent: a tree that is not decoded, because absent and empty differ. */
function appliedConfiguration({ request }: WorkerRequest): AppliedConfiguration {
  const { value, strictErrors } = yamlOrJson(request.body)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw newBadRequest('error decoding YAML: the configuration is not an object')
  return { value, strictErrors }
}

function yamlOrJson(body: Uint8Array): ParsedYaml {
  try {
    if (body[0] !== 0x7b) return parseYaml(Buffer.from(body).toString())
    checkJsonSize(body)
    const parsed = parseJson(body)
    return { value: parsed.value, strictErrors: patchStrictErrors(body, parsed, false) }
  } catch (error) {
    if (error instanceof DecodedSizeError) throw newRequestEntityTooLarge(error.message)
    if (error instanceof JsonSyntaxError || error instanceof YamlError)
      throw newBadRequest(`error decoding YAML: ${error.message}`)
    throw error
  }
}
