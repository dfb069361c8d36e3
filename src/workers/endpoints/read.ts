/** Thread: pool. GET and LIST in forms that shared memory does not hold, and from storage when memory cannot answer. */
import { parseListOptions } from '../../api/list-options.js'
import { parseSelectors } from '../../api/selectors.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import type { ResourceVersionMatch } from '../../storage/contract/interface.js'
import { acceptedOf, encodeList, encodeResponse } from './encode-response.js'
import type { WorkerRequest } from './request.js'

export async function read(worker: WorkerRequest): Promise<EncodedResponse> {
  const { request, endpoint } = worker
  acceptedOf(worker)
  const context = worker.context(false)
  if (request.info.verb === 'get') {
    const resourceVersion = worker.query.get('resourceVersion') ?? ''
    const { handler } = endpoint
    const object =
      handler?.get === undefined
        ? await endpoint.store.get(context, request.info.name, resourceVersion)
        : await handler.get(context, request.info.name, resourceVersion)
    return encodeResponse(worker, 200, object)
  }
  const options = parseListOptions(worker.query, false)
  const selectors = parseSelectors(options, endpoint.selectableFields)
  if (endpoint.handler?.list !== undefined) return encodeList(worker, await endpoint.handler.list(context, selectors))
  const list = await endpoint.store.list(context, selectors, {
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch as ResourceVersionMatch,
    limit: options.limit,
    continueToken: options.continueToken,
  })
  return encodeList(worker, list)
}
