/** Thread: pool. DELETE of one object and of a collection. */

import { checkJsonSize, DecodedSizeError } from '../../api/decoded-size.js'
import type { DeleteOptions as UncheckedOptions } from '../../api/generated/kinds/meta.v1.js'
import { decodeTree } from '../../api/json/decode.js'
import { DecodeError } from '../../api/json/decode-error.js'
import { parseJson } from '../../api/json/parse.js'
import { JsonSyntaxError } from '../../api/json/syntax-error.js'
import { parseListOptions } from '../../api/list-options.js'
import { deepCopy, type Json, type KubeObject, metadataOf } from '../../api/object.js'
import { deleteOptionsSchema } from '../../api/protobuf/builtin.js'
import { decodeProtobuf } from '../../api/protobuf/envelope.js'
import { ProtobufError } from '../../api/protobuf/protobuf-error.js'
import { parseSelectors } from '../../api/selectors.js'
import {
  isStatusError,
  newBadRequest,
  newForbidden,
  newRequestEntityTooLarge,
  successStatus,
} from '../../api/status.js'
import { parseYaml, YamlError } from '../../api/yaml/yaml.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import { checkDeleteOptions } from '../../registry/generic/delete-options.js'
import type { DeleteOptions } from '../../registry/generic/strategy.js'
import { admissionAttributes } from './admission-attributes.js'
import { authorizeVerb } from './authorize-verb.js'
import { bodyFormat } from './decode-body.js'
import { encodeList, encodeResponse, encodeStatus, isStatus } from './encode-response.js'
import type { WorkerRequest } from './request.js'
import { deleteOptionsFromQuery } from './write-options.js'

/** The verb that Kubernetes asks for, beside `delete`, before it deletes an unreadable object. */
const UNSAFE_DELETE = 'unsafe-delete-ignore-read-errors'

export async function deleteObject(worker: WorkerRequest): Promise<EncodedResponse> {
  const { request, endpoint } = worker
  const options = deleteOptions(worker)
  const dryRun = (options.dryRun ?? []).length > 0
  const { name } = request.info
  if (endpoint.rules.undeletable?.includes(name) === true && endpoint.handler === undefined)
    throw newForbidden(endpoint.info, name, 'this is an object of the system and cannot be deleted')
  const { ignoreStoreReadErrorWithClusterBreakingPotential: unsafe, ...usual } = options
  if (unsafe === true && (await endpoint.store.isUnreadable(worker.context(dryRun), name)))
    return deleteUnreadable(worker, usual, dryRun)
  return deleteReadable(worker, usual, dryRun)
}

/**
 * Deletes an object that cannot be read, for who says so and may: nothing of the object is checked, and its deletion
 * entails nothing else. The option means nothing for an object that can be read, as in Kubernetes while its feature
 * gate is off.
 */
async function deleteUnreadable(
  worker: WorkerRequest,
  { preconditions }: DeleteOptions,
  dryRun: boolean,
): Promise<EncodedResponse> {
  const { request, endpoint } = worker
  const { name, subresource } = request.info
  worker.addAnnotation('apiserver.k8s.io/unsafe-delete-ignore-read-error', '')
  if (subresource !== '')
    throw newForbidden(endpoint.info, name, 'a subresource is not deleted without reading its object')
  await authorizeVerb(worker, UNSAFE_DELETE)
  await endpoint.store.deleteUnreadable(worker.context(dryRun), name, preconditions)
  const { group, kind } = endpoint.info
  return encodeStatus(worker, 200, successStatus({ name, ...(group === '' ? {} : { group }), kind }))
}

async function deleteReadable(
  worker: WorkerRequest,
  options: DeleteOptions,
  dryRun: boolean,
): Promise<EncodedResponse> {
  const { name } = worker.request.info
  const validate = deletionValidation(worker, dryRun, name, options)
  const { handler, store } = worker.endpoint
  const { result, deleted } =
    handler?.delete === undefined
      ? await store.delete(worker.context(dryRun), name, options, validate)
      : await handler.delete(worker.context(dryRun), name, options, validate)
  const status = !deleted && options.orphanDependents === false ? 202 : 200
  return isStatus(result) ? encodeStatus(worker, status, result) : encodeResponse(worker, status, result)
}

/** Deletes every object of the selection, some at a time; an object that is gone already counts as deleted. */
export async function deleteCollection(worker: WorkerRequest, workers: number): Promise<EncodedResponse> {
  const { endpoint, query } = worker
  const listOptions = parseListOptions(query, false)
  const selectors = parseSelectors(listOptions, endpoint.selectableFields)
  const { ignoreStoreReadErrorWithClusterBreakingPotential: _, ...options } = deleteOptions(worker)
  const dryRun = (options.dryRun ?? []).length > 0
  const context = worker.context(dryRun)
  const list = await endpoint.store.list(context, selectors, {
    resourceVersion: listOptions.resourceVersion,
    resourceVersionMatch: '',
    limit: listOptions.limit,
    continueToken: listOptions.continueToken,
  })
  const queue = list.items.entries()
  const deleteSome = async (): Promise<void> => {
    for (const [, item] of queue) {
      if (worker.signal?.aborted) throw worker.signal.reason
      await deleteItem(worker, item, deepCopy(options), dryRun)
    }
  }
  // A deletion that fails ends its own loop alone. The answer waits for the others: behind it nothing may be under way.
  const loops = await Promise.allSettled(Array.from({ length: Math.max(1, workers) }, deleteSome))
  for (const loop of loops) if (loop.status === 'rejected') throw loop.reason
  return encodeList(worker, list)
}

async function deleteItem(
  worker: WorkerRequest,
  item: KubeObject,
  options: DeleteOptions,
  dryRun: boolean,
): Promise<void> {
  const { name = '', namespace = '' } = metadataOf(item)
  const context = { ...worker.context(dryRun), namespace }
  try {
    // Admission is told no name, as kube-apiserver tells none: it was not the client that named the object.
    await worker.endpoint.store.delete(context, name, options, deletionValidation(worker, dryRun, '', options))
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}

function deletionValidation(worker: WorkerRequest, dryRun: boolean, name: string, options: DeleteOptions) {
  return async (oldObject: KubeObject): Promise<void> => {
    const attributes = admissionAttributes(worker, 'DELETE', dryRun, { oldObject, name }, options)
    await worker.admission.admit(attributes)
    await worker.admission.validate(attributes)
  }
}

function deleteOptions(worker: WorkerRequest): DeleteOptions {
  const { request } = worker
  const options: UncheckedOptions =
    request.body.byteLength > 0
      ? optionsFromBody(request.body, request.contentType)
      : deleteOptionsFromQuery(worker.query)
  checkDeleteOptions(options)
  for (const warning of worker.endpoint.rules.warningsOnDelete?.(options) ?? []) worker.addWarning(warning)
  return options
}

function optionsFromBody(body: Uint8Array, contentType: string): DeleteOptions {
  try {
    const value = optionsTree(body, contentType) ?? {}
    if (typeof value !== 'object' || Array.isArray(value)) throw newBadRequest('the body is no DeleteOptions')
    // The options may be of any version: those of all groups are the same.
    const { kind, ...options } = decodeTree(value, deleteOptionsSchema()).object
    if (kind !== undefined && kind !== 'DeleteOptions')
      throw newBadRequest(`no kind ${JSON.stringify(kind)} is registered for DELETE`)
    delete options.apiVersion
    return options as DeleteOptions
  } catch (error) {
    if (error instanceof DecodedSizeError) throw newRequestEntityTooLarge(error.message)
    if (error instanceof DecodeError) throw newBadRequest(error.message)
    if (error instanceof JsonSyntaxError || error instanceof YamlError)
      throw newBadRequest(`couldn't get version/kind; parse error: ${error.message}`)
    if (error instanceof ProtobufError) throw newBadRequest(error.message)
    throw error
  }
}

function optionsTree(body: Uint8Array, contentType: string): Json {
  switch (bodyFormat(contentType)) {
    case 'yaml':
      return parseYaml(Buffer.from(body).toString()).value
    case 'protobuf':
      return decodeProtobuf(body, deleteOptionsSchema).object as unknown as Json
    case 'json':
      checkJsonSize(body)
      return parseJson(body).value
  }
}
