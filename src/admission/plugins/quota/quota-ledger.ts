/**
 * Thread: pool. The used amounts of quotas, kept in their status by compare-and-swap: every process and thread that writes
 * sees what the others took. What waits for one quota in this thread is settled in one write.
 *
 *   charge ──fits──▶ taken ──the write failed──▶ released
 *      └─does not──▶ recount: as used as the status says? refused
 *                             less is there ──quiet for a while, then counted again──▶ status mended, charged once more
 *
 * No controller need be there that counts: a quota whose status does not match its spec is counted here, when the
 * first request meets it, and deletions give back what they free. Only an object that goes without a deletion (an event that
 * expires, a process that dies between the two writes) leaves too much behind, and that is mended before anybody is refused.
 * A recount cannot see what others have taken and not stored yet; it counts only if the quota stood still around it.
 */
import type { ResourceQuota, ResourceQuotaStatus } from '../../../api/generated/kinds/core.v1.js'
import type { GroupResource, GroupVersionResource } from '../../../api/group-version.js'
import type { Quantity } from '../../../api/quantity.js'
import { assert } from '../../../lib/assert.js'
import type { Clock } from '../../../lib/clock.js'
import type { AdmissionObjects } from '../../objects.js'
import { RESOURCE_QUOTAS } from '../../objects.js'
import { addUsage, isCurrent, showUsage, type Usage, usageOf, ZERO } from './quota.js'
import { matchesScopes } from './scopes.js'
import { resourceBehind, usageOfObject } from './usage.js'

/**
 * `change` makes the new status of the stored one; it is called again when another writer was faster. Undefined:
 * nothing is written.
 */
export interface QuotaStatusStore {
  update(
    namespace: string,
    name: string,
    change: (quota: ResourceQuota) => Promise<ResourceQuotaStatus | undefined>,
  ): Promise<void>
}

export interface QuotaLedgerOptions {
  readonly objects: AdmissionObjects
  readonly store: QuotaStatusStore
  readonly clock: Clock
  /** The version in which a resource is served; undefined when it is not served. */
  readonly served: (resource: GroupResource) => GroupVersionResource | undefined
}

interface Charge {
  readonly delta: Usage
  /** Called with the reason of the refusal; '' when the amounts were taken. */
  readonly settle: (refusal: string) => void
  readonly fail: (error: unknown) => void
}

/** For so long nobody may have written the quota before a recount counts: what was taken is stored by then. */
const QUIET_MS = 1_000
/** For so long refusals rest on a recount that found nothing amiss. */
const TRUST_MS = 250

class Entry {
  readonly waiting: Charge[] = []
  busy = false
  /** The monotonic time of the last recount that agreed with the status. */
  agreedAt = Number.NEGATIVE_INFINITY
}

export class QuotaLedger {
  readonly #options: QuotaLedgerOptions
  readonly #entries = new Map<string, Entry>()

  constructor(options: QuotaLedgerOptions) {
    this.#options = options
  }

  /** Takes `delta`, all of it or nothing. Gives the reason of a refusal, or ''. */
  async charge(quota: ResourceQuota, delta: Usage): Promise<string> {
    const refusal = await this.#queue(quota, delta)
    if (refusal === '' || !(await this.#mended(quota, delta))) return refusal
    return this.#queue(quota, delta)
  }

  #queue(quota: ResourceQuota, delta: Usage): Promise<string> {
    const { namespace = '', name = '' } = quota.metadata ?? {}
    const key = `${namespace}/${name}`
    const entry = this.#entries.get(key) ?? new Entry()
    this.#entries.set(key, entry)
    return new Promise((settle, fail) => {
      entry.waiting.push({ delta, settle, fail })
      if (!entry.busy) void this.#settleAll(key, entry, namespace, name)
    })
  }

  async #settleAll(key: string, entry: Entry, namespace: string, name: string): Promise<void> {
    entry.busy = true
    while (entry.waiting.length > 0) {
      const batch = entry.waiting.splice(0)
      try {
        const refusals = await this.#write(namespace, name, batch)
        for (const [i, charge] of batch.entries()) charge.settle(refusals[i] ?? '')
      } catch (error) {
        for (const charge of batch) charge.fail(error)
      }
    }
    entry.busy = false
    if (this.#options.clock.monotonicMs() - entry.agreedAt > TRUST_MS) this.#entries.delete(key)
  }

  async #write(namespace: string, name: string, batch: readonly Charge[]): Promise<string[]> {
    let refusals: string[] = []
    await this.#options.store.update(namespace, name, async (quota) => {
      const hard = quota.spec?.hard ?? {}
      const fresh = isCurrent(quota)
      let used: Map<string, Quantity> = fresh ? usageOf(quota.status?.used ?? {}) : await this.#recount(quota)
      refusals = batch.map(({ delta }) => {
        const next = addUsage(used, delta)
        const over = exceeded(delta, next, hard)
        if (over.length === 0) used = floored(next)
        return over.length === 0 ? '' : refusalOf(quota, over, delta, used)
      })
      return fresh && refusals.every((refusal) => refusal !== '') ? undefined : { hard, used: texts(used, hard) }
    })
    return refusals
  }

  /** Counts again before somebody is refused; true when the status was wrong and is not any more. */
  async #mended(quota: ResourceQuota, delta: Usage): Promise<boolean> {
    const { objects, clock } = this.#options
    const { namespace = '', name = '' } = quota.metadata ?? {}
    const entry = this.#entries.get(`${namespace}/${name}`) ?? new Entry()
    if (clock.monotonicMs() - entry.agreedAt < TRUST_MS) return false
    const seen = await objects.getLive(RESOURCE_QUOTAS, namespace, name)
    if (seen === undefined) return true
    const fits = exceeded(delta, addUsage(await this.#recount(seen), delta), seen.spec?.hard ?? {}).length === 0
    if (!fits) {
      entry.agreedAt = clock.monotonicMs()
      this.#entries.set(`${namespace}/${name}`, entry)
      return false
    }
    await new Promise<void>((resolve) => void clock.after(QUIET_MS, resolve))
    await this.#options.store.update(namespace, name, async (now) => {
      if (now.metadata?.resourceVersion !== seen.metadata?.resourceVersion) return undefined
      const hard = now.spec?.hard ?? {}
      return { hard, used: texts(await this.#recount(now), hard) }
    })
    return true
  }

  /** Counts all objects of the namespace, in their newest state. */
  async #recount(quota: ResourceQuota): Promise<Map<string, Quantity>> {
    const hard = quota.spec?.hard ?? {}
    let used = new Map<string, Quantity>()
    const behind = new Map<string, GroupResource>()
    for (const name of Object.keys(hard)) {
      used.set(name, ZERO)
      const resource = resourceBehind(name)
      if (resource !== undefined) behind.set(`${resource.group}/${resource.resource}`, resource)
    }
    for (const resource of behind.values()) {
      const served = this.#options.served(resource)
      if (served === undefined) continue
      const { namespace = '' } = quota.metadata ?? {}
      assert(namespace !== '', 'a quota is in a namespace')
      for (const object of await this.#options.objects.listLive(served, namespace)) {
        if (!matchesScopes(quota, resource.resource, object)) continue
        used = addUsage(used, usageOfObject(resource, object))
      }
    }
    return used
  }
}

/** The amounts that exceed the quota. Only those that grow can: giving back is always allowed. */
function exceeded(delta: Usage, next: Usage, hard: Readonly<Record<string, string>>): string[] {
  const limits = usageOf(hard)
  return [...delta]
    .filter(([name, amount]) => amount.sign > 0 && limits.has(name) && next.get(name)!.compare(limits.get(name)!) > 0)
    .map(([name]) => name)
}

const floored = (usage: Usage): Map<string, Quantity> =>
  new Map([...usage].map(([name, amount]) => [name, amount.sign < 0 ? ZERO : amount]))

const texts = (usage: Usage, hard: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.keys(hard)
      .sort()
      .map((name) => [name, (usage.get(name) ?? ZERO).toString()]),
  )

function refusalOf(quota: ResourceQuota, names: readonly string[], delta: Usage, used: Usage): string {
  const hard = quota.spec?.hard ?? {}
  return [
    `exceeded quota: ${quota.metadata?.name}`,
    `requested: ${showUsage(names, (name) => String(delta.get(name)))}`,
    `used: ${showUsage(names, (name) => String(used.get(name) ?? ZERO))}`,
    `limited: ${showUsage(names, (name) => hard[name]!)}`,
  ].join(', ')
}
