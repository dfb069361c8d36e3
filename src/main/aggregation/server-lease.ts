/**
 * Thread: main. A lease that one of several servers holds, for work that one is enough for. When it has expired is judged by when this
 * server saw it change, so that clocks of machines need not agree.
 */
import type { Lease } from '../../api/generated/kinds/coordination.v1.js'
import type { Clock } from '../../lib/clock.js'
import { type LoopbackClient, LoopbackError } from '../bootstrap/loopback-client.js'

const COLLECTION = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const LEASE_SECONDS = 15

export interface ServerLeaseOptions {
  readonly name: string
  readonly identity: string
  readonly client: LoopbackClient
  readonly clock: Clock
}

export class ServerLease {
  readonly #options: ServerLeaseOptions
  #seen = { revision: '', sinceMs: 0 }

  constructor(options: ServerLeaseOptions) {
    this.#options = options
  }

  /** Takes the lease, or holds it for longer; false when another server has it. To be called every few seconds. */
  async hold(): Promise<boolean> {
    const { client, name, identity, clock } = this.#options
    const found = (await client.get(`${COLLECTION}/${name}`)) as Lease | undefined
    if (found === undefined) {
      const created = await client.create(COLLECTION, this.#lease(undefined))
      return created !== undefined
    }
    const isOurs = found.spec?.holderIdentity === identity
    const revision = found.metadata?.resourceVersion ?? ''
    if (revision !== this.#seen.revision) this.#seen = { revision, sinceMs: clock.monotonicMs() }
    const lifeMs = (found.spec?.leaseDurationSeconds ?? LEASE_SECONDS) * 1000
    const isFree = (found.spec?.holderIdentity ?? '') === '' || clock.monotonicMs() - this.#seen.sinceMs > lifeMs
    if (!isOurs && !isFree) return false
    try {
      await client.update(`${COLLECTION}/${name}`, this.#lease(found))
      return true
    } catch (error) {
      // Another server was faster.
      if (error instanceof LoopbackError && error.status === 409) return false
      throw error
    }
  }

  /** Gives the lease up, so that another server need not wait for its end. */
  async release(): Promise<void> {
    const { client, name, identity } = this.#options
    const found = (await client.get(`${COLLECTION}/${name}`)) as Lease | undefined
    if (found?.spec?.holderIdentity !== identity) return
    await client.update(`${COLLECTION}/${name}`, { ...found, spec: { ...found.spec, holderIdentity: '' } } as Lease)
  }

  #lease(found: Lease | undefined): Lease {
    const { name, identity, clock } = this.#options
    const now = `${new Date(clock.now()).toISOString().slice(0, -1)}000Z`
    const isOurs = found?.spec?.holderIdentity === identity
    const transitions = (found?.spec?.leaseTransitions ?? 0) + (found === undefined || isOurs ? 0 : 1)
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...found?.metadata, name, namespace: 'kube-system' },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: LEASE_SECONDS,
        acquireTime: isOurs ? (found.spec?.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: transitions,
      },
    }
  }
}
