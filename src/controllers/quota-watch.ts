/**
 * Thread: controllers. Which quotas must be counted again: follows the quotas, and of all other resources only those that some
 * quota counts, as long as one does.
 */
import { isDeepStrictEqual } from 'node:util'
import { isCurrent } from '../admission/plugins/quota/quota.js'
import { resourceBehind } from '../admission/plugins/quota/usage.js'
import type { ResourceQuota } from '../api/generated/kinds/core.v1.js'
import { formatGroupResource } from '../api/group-version.js'
import type { ControlledResource } from './framework/controlled-resource.js'
import type { ControllerContext } from './framework/controller.js'
import type { SeenObject } from './framework/seen-object.js'

export class QuotaWatch {
  readonly #context: ControllerContext
  readonly #look: (quota: string, isNew: boolean) => void
  /** The resources that a quota counts: key of the quota, ids. */
  readonly #quotas = new Map<string, ReadonlySet<string>>()
  readonly #followed = new Map<string, { readonly resource: ControlledResource; readonly stop: () => void }>()

  /** `look` is called with the key of a quota; `isNew` when its status does not say what its spec asks. */
  constructor(context: ControllerContext, look: (quota: string, isNew: boolean) => void) {
    this.#context = context
    this.#look = look
  }

  follow(): void {
    this.#context.follow(this.#context.resource('resourcequotas'), {
      onReset: () => this.#quotas.clear(),
      onSynced: () => this.update(),
      onPut: (seen, previous) => {
        const quota = seen.read<ResourceQuota>()
        this.#quotas.set(seen.key, new Set(countedBy(quota)))
        if (!isCurrent(quota)) this.#look(seen.key, true)
        else if (previous === undefined) this.#look(seen.key, false)
        this.update()
      },
      onDelete: ({ key }) => {
        this.#quotas.delete(key)
        this.#look(key, true)
        this.update()
      },
    })
  }

  /** Follows the resources that are counted and served now, and no others. */
  update(): void {
    const wanted = new Set([...this.#quotas.values()].flatMap((ids) => [...ids]))
    for (const [id, { resource, stop }] of this.#followed) {
      if (wanted.has(id) && isDeepStrictEqual(this.#context.resources.find(id), resource)) continue
      stop()
      this.#followed.delete(id)
    }
    for (const id of wanted) if (!this.#followed.has(id)) this.#followResource(id)
  }

  #followResource(id: string): void {
    const resource = this.#context.resources.find(id)
    if (resource === undefined) return
    const changed = ({ namespace }: SeenObject): void => {
      const prefix = `${namespace}/`
      for (const [key, ids] of this.#quotas) if (key.startsWith(prefix) && ids.has(id)) this.#look(key, false)
    }
    const stop = this.#context.follow(resource, {
      // What is new was counted by admission; what changes may use less than before.
      onPut: (object, previous) => {
        if (previous !== undefined) changed(object)
      },
      onDelete: changed,
    })
    this.#followed.set(id, { resource, stop })
  }
}

function countedBy({ spec }: ResourceQuota): string[] {
  return Object.keys(spec?.hard ?? {})
    .map(resourceBehind)
    .filter((resource) => resource !== undefined)
    .map(formatGroupResource)
}
