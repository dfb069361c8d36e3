/**
 * Thread: pool. The writes that admission makes for somebody: through the registry as the server itself, past
 * admission.
 */
import type { AdmissionWriter } from '../../admission/objects.js'
import type { GroupVersionResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import { isStatusError } from '../../api/status.js'
import { API_SERVER_USER } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import type { RequestContext } from '../../registry/generic/strategy.js'
import type { EndpointTable } from '../endpoints/endpoint-table.js'

export class RegistryAdmissionWriter implements AdmissionWriter {
  readonly #endpoints: EndpointTable
  readonly #clock: Clock

  constructor(endpoints: EndpointTable, clock: Clock) {
    this.#endpoints = endpoints
    this.#clock = clock
  }

  async createIfAbsent(resource: GroupVersionResource, namespace: string, object: KubeObject): Promise<void> {
    const { group: apiGroup, version: apiVersion } = resource
    const { store, rules } = this.#endpoints.find({
      apiGroup,
      apiVersion,
      resource: resource.resource,
      subresource: '',
    })
    const made = structuredClone(object)
    rules.setDefaults?.(made)
    const context: RequestContext = {
      namespace,
      resource: resource.resource,
      subresource: '',
      verb: 'create',
      apiGroup,
      apiVersion,
      user: API_SERVER_USER,
      dryRun: false,
      now: () => this.#clock.now(),
      addWarning: () => undefined,
    }
    try {
      await store.create(context, made, () => undefined)
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
}
