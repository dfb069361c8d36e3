/**
 * Thread: controllers. The status of every ResourceQuota says what its namespace uses. Admission keeps the amounts while objects
 * come and go; this controller counts a quota when it is new or its limits change, when something that it counts went or changed,
 * and once in a while.
 *
 *   recount == status ──▶ nothing
 *   recount  > status ──▶ written at once
 *   recount  < status ──▶ written when nobody has written the quota for a while: admission takes an amount before the object is
 *                         there, so that for a moment less exists than was taken, and a count then would give it away twice
 */
import { addUsage, isCurrent, type Usage, usageOf, ZERO } from '../admission/plugins/quota/quota.js'
import { matchesScopes } from '../admission/plugins/quota/scopes.js'
import { resourceBehind, usageOfObject } from '../admission/plugins/quota/usage.js'
import type { ResourceQuota } from '../api/generated/kinds/core.v1.js'
import { formatGroupResource, type GroupResource } from '../api/group-version.js'
import { Quantity } from '../api/quantity.js'
import type { ControlledResource } from './framework/controlled-resource.js'
import type { Controller, ControllerContext } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import { placeOf } from './framework/seen-object.js'
import type { WorkQueue } from './framework/work-queue.js'
import { QuotaWatch } from './quota-watch.js'

/** So long a quota must have stood still before a count may lower it: what was taken is stored by then. */
const QUIET_MS = 1_000
/** Every quota is counted anew so often, as by kube-controller-manager. */
const RESYNC_MS = 300_000
/** Resources of which an object can use more than its own count. */
const PARTICULAR = new Set(['pods', 'services', 'persistentvolumeclaims', 'resourceclaims.resource.k8s.io'])

export const resourceQuotaController: Controller = {
  name: 'resourcequota-controller',
  account: 'resourcequota-controller',
  requires: ['resourcequotas'],
  start(context) {
    const recount = new QuotaRecount(context)
    const work: WorkQueue = context.queue({ sync: (key) => recount.run(key, work) })
    const watch = new QuotaWatch(context, (key, isNew) => (isNew ? work.add(key) : work.addAfter(key, QUIET_MS)))
    watch.follow()
    context.onStop(context.resources.onChange(() => watch.update()))
  },
}

class QuotaRecount {
  readonly #context: ControllerContext
  readonly #quotas: ControlledResource
  /** Quotas that are to be lowered: the state they were seen in, and since when. */
  readonly #seen = new Map<string, { readonly revision: string; readonly sinceMs: number }>()

  constructor(context: ControllerContext) {
    this.#context = context
    this.#quotas = context.resource('resourcequotas')
  }

  async run(key: string, work: WorkQueue): Promise<void> {
    const { objects, clock } = this.#context
    const quota = await objects.getLive<ResourceQuota>(this.#quotas, placeOf(key))
    if (quota === undefined) {
      this.#seen.delete(key)
      return
    }
    const hard = quota.spec?.hard ?? {}
    const known = usageOf(quota.status?.used ?? {})
    const counted = await this.#count(quota, hard)
    const isFresh = isCurrent(quota)
    const isRaised = isFresh && [...counted].some(([name, amount]) => amount.compare(known.get(name) ?? ZERO) > 0)
    const isLowered = [...counted].some(([name, amount]) => amount.compare(known.get(name) ?? ZERO) < 0)
    const isQuiet = isLowered && this.#isQuiet(key, quota, clock.monotonicMs())
    if (!isLowered) this.#seen.delete(key)
    if (!isFresh || isRaised || isQuiet) await this.#write(quota, hard, isQuiet ? counted : higher(counted, known))
    work.addAfter(key, isLowered && !isQuiet ? QUIET_MS : RESYNC_MS)
  }

  #isQuiet(key: string, { metadata }: ResourceQuota, nowMs: number): boolean {
    const revision = metadata?.resourceVersion ?? ''
    const seen = this.#seen.get(key)
    if (seen?.revision === revision) return nowMs - seen.sinceMs >= QUIET_MS
    this.#seen.set(key, { revision, sinceMs: nowMs })
    return false
  }

  /** Writes with the revision that was read: when somebody was faster the quota is counted again. */
  async #write(quota: ResourceQuota, hard: Readonly<Record<string, string>>, used: Usage): Promise<void> {
    const texts = Object.fromEntries([...used].map(([name, amount]) => [name, amount.toString()]))
    try {
      await this.#context.client.updateStatus(this.#quotas, { ...quota, status: { hard: { ...hard }, used: texts } })
    } catch (error) {
      if (!failedWith(error, 'NotFound')) throw error
    }
  }

  /** What the namespace uses of everything that the quota limits; live. */
  async #count(quota: ResourceQuota, hard: Readonly<Record<string, string>>): Promise<Map<string, Quantity>> {
    const behind = new Map<string, GroupResource>()
    for (const name of Object.keys(hard)) {
      const resource = resourceBehind(name)
      if (resource !== undefined) behind.set(formatGroupResource(resource), resource)
    }
    let used = new Map<string, Quantity>(Object.keys(hard).map((name) => [name, ZERO]))
    for (const [id, resource] of behind) {
      const controlled = this.#context.resources.find(id)
      if (controlled !== undefined) used = addUsage(used, await this.#countResource(quota, resource, controlled))
    }
    return new Map(Object.keys(hard).map((name) => [name, used.get(name) ?? ZERO]))
  }

  async #countResource(quota: ResourceQuota, resource: GroupResource, controlled: ControlledResource): Promise<Usage> {
    const { objects } = this.#context
    const namespace = quota.metadata?.namespace ?? ''
    const hasScopes = (quota.spec?.scopes ?? []).length > 0 || quota.spec?.scopeSelector !== undefined
    if (!PARTICULAR.has(controlled.id) && !hasScopes) {
      const one = usageOfObject(resource, {})
      const count = Quantity.ofInteger(await objects.countLive(controlled, namespace))
      return new Map([...one.keys()].map((name) => [name, count]))
    }
    let used = new Map<string, Quantity>()
    await objects.visitLive(controlled, namespace, (seen) => {
      const object = seen.read()
      if (matchesScopes(quota, resource.resource, object)) used = addUsage(used, usageOfObject(resource, object))
    })
    return used
  }
}

const higher = (counted: Usage, known: Usage): Usage =>
  new Map(
    [...counted].map(([name, amount]) => {
      const before = known.get(name) ?? ZERO
      return [name, amount.compare(before) > 0 ? amount : before]
    }),
  )
