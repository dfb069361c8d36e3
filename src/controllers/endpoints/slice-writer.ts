/** Thread: controllers. Reads the EndpointSlices that one controller keeps for one service, and carries out a plan for them. */
import type { EndpointSlice } from '../../api/generated/kinds/discovery.v1.js'
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { ControllerContext } from '../framework/controller.js'
import { failedWith } from '../framework/controller-client.js'
import type { ObjectPlace, SeenObject } from '../framework/seen-object.js'
import { isEnding } from '../service-account-controller.js'
import type { SlicePlan } from './slice-plan.js'

export const SERVICE_NAME = 'kubernetes.io/service-name'
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'

export class SliceWriter {
  readonly #context: ControllerContext
  readonly #slices: ControlledResource
  readonly #manager: string
  /** Slices by the service that they are of, and by their key. */
  readonly #index = new Map<string, Set<string>>()
  /** The revision in which this controller left a slice, until the event of it was seen. */
  readonly #written = new Map<string, number>()

  /** `manager` is who the label says keeps the slices. */
  constructor(context: ControllerContext, manager: string) {
    this.#context = context
    this.#slices = context.resource('endpointslices.discovery.k8s.io')
    this.#manager = manager
  }

  /** `look` is called with the key of a service whose slices somebody else changed. */
  follow(look: (service: string) => void): void {
    const service = (slice: SeenObject): string | undefined => {
      const name = slice.labels.get(SERVICE_NAME) ?? ''
      return name === '' || slice.labels.get(MANAGED_BY) !== this.#manager ? undefined : `${slice.namespace}/${name}`
    }
    this.#context.follow(this.#slices, {
      onReset: () => this.#index.clear(),
      onPut: (slice, previous) => {
        const [now, before] = [service(slice), previous && service(previous)]
        if (before !== undefined && before !== now) {
          this.#remove(before, slice.key)
          look(before)
        }
        if (now === undefined) return
        this.#add(now, slice.key)
        const written = this.#written.get(slice.key)
        if (written === undefined || slice.revision > written) {
          this.#written.delete(slice.key)
          look(now)
        }
      },
      onDelete: (slice) => {
        this.#written.delete(slice.key)
        const of = service(slice)
        if (of === undefined) return
        this.#remove(of, slice.key)
        look(of)
      },
    })
  }

  /** The slices of a service that this controller keeps. */
  async of(service: string): Promise<EndpointSlice[]> {
    this.#context.catchUp()
    const found: EndpointSlice[] = []
    for (const key of this.#index.get(service) ?? []) {
      const slash = key.indexOf('/')
      const place = { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
      const slice = await this.#context.objects.get<EndpointSlice>(this.#slices, place)
      if (slice !== undefined) found.push(slice)
    }
    return found
  }

  /** Nothing is created for an owner that is being deleted. */
  async carryOut({ create, update, remove }: SlicePlan, isOwnerDeleted: boolean): Promise<void> {
    const { client } = this.#context
    for (const slice of isOwnerDeleted ? [] : create) {
      try {
        this.#wrote(await client.create(this.#slices, slice))
      } catch (error) {
        if (!isEnding(error)) throw error
        return
      }
    }
    for (const slice of update) this.#wrote(await client.update(this.#slices, slice))
    for (const { metadata } of remove) {
      const { namespace = '', name = '', uid } = metadata ?? {}
      await this.remove({ namespace, name }, uid)
    }
  }

  async remove(place: ObjectPlace, uid: string | undefined): Promise<void> {
    try {
      await this.#context.client.delete(this.#slices, place, { uid })
    } catch (error) {
      if (!failedWith(error, 'NotFound')) throw error
    }
  }

  /** Kept until the slice goes: its key is among those of the index, which bounds it. */
  #wrote({ metadata }: EndpointSlice): void {
    const { namespace = '', name = '', resourceVersion = '0' } = metadata ?? {}
    this.#written.set(`${namespace}/${name}`, Number(resourceVersion))
  }

  #add(service: string, key: string): void {
    const keys = this.#index.get(service)
    if (keys === undefined) this.#index.set(service, new Set([key]))
    else keys.add(key)
  }

  #remove(service: string, key: string): void {
    const keys = this.#index.get(service)
    keys?.delete(key)
    if (keys?.size === 0) this.#index.delete(service)
  }
}
