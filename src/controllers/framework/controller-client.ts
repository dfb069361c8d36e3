/**
 * Thread: controllers. What a controller writes, as its service account. A write is done when memory has it: whoever reads
 * after it finds what it wrote, so that controllers need to remember no expectations.
 */
import type { KubeObject } from '../../api/object.js'
import { StatusError } from '../../api/status.js'
import type { ResourceViews } from '../../cacher/read/resource-view.js'
import type { Clock } from '../../lib/clock.js'
import type { ControlledResource } from './controlled-resource.js'
import type { ControllerRequest, PoolRequests } from './pool-requests.js'
import type { ObjectPlace } from './seen-object.js'

/** So long a write waits for memory to have it; who reads earlier sees the state before, and comes again with the event. */
const SEEN_LIMIT_MS = 2_000

export interface DeleteOptions {
  /** Preconditions: the object is deleted only as the controller knows it. */
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
}

export interface PatchOptions {
  readonly type: 'merge' | 'strategic' | 'json' | 'apply'
  readonly subresource?: string
  /** Of apply: who owns the fields. Conflicts are overridden. */
  readonly fieldManager?: string
}

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

export class ControllerClient {
  readonly #requests: PoolRequests
  readonly #views: ResourceViews
  readonly #clock: Clock

  constructor(requests: PoolRequests, views: ResourceViews, clock: Clock) {
    this.#requests = requests
    this.#views = views
    this.#clock = clock
  }

  create<T extends KubeObject>(resource: ControlledResource, object: T): Promise<T> {
    const { namespace = '' } = object.metadata ?? {}
    return this.#write({ verb: 'create', resource, place: { namespace, name: '' }, body: typed(resource, object) })
  }

  update<T extends KubeObject>(resource: ControlledResource, object: T, subresource = ''): Promise<T> {
    const { namespace = '', name = '' } = object.metadata ?? {}
    const body = typed(resource, object)
    return this.#write({ verb: 'update', resource, place: { namespace, name }, subresource, body })
  }

  updateStatus<T extends KubeObject>(resource: ControlledResource, object: T): Promise<T> {
    return this.update(resource, object, 'status')
  }

  patch<T extends KubeObject = KubeObject>(
    resource: ControlledResource,
    place: ObjectPlace,
    body: unknown,
    { type, subresource = '', fieldManager }: PatchOptions,
  ): Promise<T> {
    const query =
      fieldManager === undefined
        ? ''
        : `fieldManager=${encodeURIComponent(fieldManager)}${type === 'apply' ? '&force=true' : ''}`
    return this.#write({ verb: 'patch', resource, place, subresource, query, contentType: PATCH_TYPES[type], body })
  }

  /** Throws NotFound and Conflict as they come. */
  async delete(resource: ControlledResource, place: ObjectPlace, options: DeleteOptions = {}): Promise<void> {
    await this.#requests.send({ verb: 'delete', resource, place, body: deleteOptions(options) })
  }

  async deleteCollection(resource: ControlledResource, namespace: string, options: DeleteOptions = {}): Promise<void> {
    const place = { namespace, name: '' }
    await this.#requests.send({ verb: 'deletecollection', resource, place, body: deleteOptions(options) })
  }

  async #write<T extends KubeObject>(request: ControllerRequest): Promise<T> {
    const object = (await this.#requests.send(request)) as T
    const revision = Number(object.metadata?.resourceVersion ?? 0)
    const { clock } = this.#views(request.resource.arena)
    if (clock.revision() < revision) await this.#seen(clock.reached.bind(clock), revision)
    return object
  }

  async #seen(reached: (revision: number, signal: AbortSignal) => Promise<void>, revision: number): Promise<void> {
    const limit = new AbortController()
    const timer = this.#clock.after(SEEN_LIMIT_MS, () => limit.abort())
    try {
      await reached(revision, limit.signal)
    } catch (error) {
      if (!limit.signal.aborted) throw error
    } finally {
      timer.cancel()
    }
  }
}

const typed = <T extends KubeObject>({ apiVersion, kind }: ControlledResource, object: T): T => ({
  ...object,
  apiVersion,
  kind,
})

function deleteOptions({ uid, resourceVersion, ...options }: DeleteOptions): object {
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...options,
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
  }
}

/** Whether a write failed with this reason: `NotFound`, `Conflict`, `AlreadyExists`. */
export const failedWith = (error: unknown, reason: string): boolean =>
  error instanceof StatusError && error.reason === reason
