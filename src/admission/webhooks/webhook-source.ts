/**
 * Thread: pool. All webhooks of one kind of configuration as shared memory has them, in the order of their names, indexed by
 * their rules. Whoever is about to be admitted brings it up to the clock first, so a configuration is in force for every
 * request that begins after it was written.
 */
import { ArenaFollower, type FollowedView, type StaleListener } from '../../cacher/read/arena-follower.js'
import type { Clock } from '../../lib/clock.js'
import type { AdmissionKinds } from '../matching/admission-kinds.js'
import type { RuleTarget } from '../matching/request-rule.js'
import { type Candidate, RuleIndex } from '../matching/rule-index.js'
import { type Webhook, webhooksOf } from './webhook.js'

export interface WebhookSourceOptions {
  /** The arena of the configurations. */
  readonly resource: string
  readonly view: FollowedView
  readonly kinds: AdmissionKinds
  readonly clock: Clock
  readonly onStale: StaleListener
}

const NONE: readonly Candidate<Webhook>[] = []

export class WebhookSource {
  readonly #follower: ArenaFollower
  readonly #index: RuleIndex<Webhook>
  /** By key in the arena. */
  readonly #configurations = new Map<string, readonly Webhook[]>()
  #changed = false

  constructor({ resource, view, kinds, clock, onStale }: WebhookSourceOptions) {
    this.#index = new RuleIndex(kinds)
    this.#follower = new ArenaFollower(
      view,
      {
        reset: () => {
          this.#configurations.clear()
          this.#changed = true
        },
        put: (record) => {
          const raw = JSON.parse(Buffer.from(record.body()).toString()) as Parameters<typeof webhooksOf>[0]
          this.#configurations.set(record.key, webhooksOf(raw, clock))
          this.#changed = true
        },
        delete: (record) => {
          this.#configurations.delete(record.key)
          this.#changed = true
        },
      },
      (stale) => onStale(resource, stale),
    )
  }

  /** Brings the webhooks up to the clock. False when no state has ever been known. */
  sync(): boolean {
    const known = this.#follower.sync()
    if (this.#changed) {
      this.#changed = false
      const sorted = [...this.#configurations].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      this.#index.set(sorted.flatMap(([, webhooks]) => webhooks))
    }
    return known
  }

  /** The webhooks whose rules are for a request. */
  candidates(target: RuleTarget): readonly Candidate<Webhook>[] {
    return this.#index.size === 0 ? NONE : this.#index.candidates(target)
  }
}
