/**
 * Thread: any but the owner. The authorizers of a thread, from plain data and the shared memory that it reads. They can be
 * replaced while requests are decided: what stays as it was keeps what it knows.
 */
import { staleFollowers } from '../../cacher/read/stale-followers.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { ClientMetrics } from '../../metrics/client-metrics.js'
import type { Recorder } from '../../metrics/recorder.js'
import type {
  AuthorizationConfig,
  AuthorizerConfig,
  WebhookAuthorizerConfig,
} from '../../protocol/authorization-config.js'
import type { Attributes, Authorizer, RuleResolver } from '../interface.js'
import { WebhookClient } from '../webhook-client.js'
import { AuthorizerChain } from './authorizer-chain.js'
import { allowedPaths, alwaysAllow, alwaysDeny, privilegedGroup } from './fixed-authorizers.js'
import { MatchConditions } from './match-conditions.js'
import { CountedAuthorizer } from './metered-authorizer.js'
import { NodeAuthorizer } from './node-authorizer.js'
import { NodeGraph } from './node-graph.js'
import { RbacAuthorizer } from './rbac-authorizer.js'
import { type CacheSource, RbacIndex } from './rbac-index.js'
import { WebhookAuthorizer } from './webhook-authorizer.js'
import { WebhookMetrics } from './webhook-metrics.js'

export interface OpenAuthorizerOptions {
  readonly config: AuthorizationConfig
  readonly cache: CacheSource
  readonly clock: Clock
  readonly random: Random
  readonly recorder: Recorder
  readonly logger: Logger
}

/** A webhook that is replaced may still be asked for so long by requests that began before. */
const CLOSING_MS = 60_000

/** One authorizer of the chain, while the configuration names it. */
interface Member {
  readonly authorizer: Authorizer & RuleResolver
  /** Whether what it decides by is in memory, or was: what was last known stays in force. */
  ready(): boolean
  close(): void
}

export class OpenedAuthorizer implements Closable {
  readonly authorizer: Authorizer & RuleResolver
  /** There whatever the authorizers are, because whoever writes roles must hold what they give. */
  readonly rbac: RbacAuthorizer
  readonly #options: Omit<OpenAuthorizerOptions, 'config'>
  readonly #index: RbacIndex
  /** By their whole configuration. */
  #members: ReadonlyMap<string, Member> = new Map()
  #chain = new AuthorizerChain([])

  constructor(options: OpenAuthorizerOptions) {
    this.#options = options
    this.#index = new RbacIndex(options.cache, this.#onStale())
    this.rbac = new RbacAuthorizer(this.#index)
    this.authorizer = {
      authorize: (attributes: Attributes) => this.#chain.authorize(attributes),
      rulesFor: (user, namespace) => this.#chain.rulesFor(user, namespace),
    }
    this.change(options.config)
  }

  ready(): boolean {
    for (const member of this.#members.values()) if (!member.ready()) return false
    return true
  }

  /** From the next request on these decide; what is under way ends with those that were there. */
  change({ authorizers, alwaysAllowPaths }: AuthorizationConfig): void {
    const { clock } = this.#options
    const before = this.#members
    const members = new Map<string, Member>()
    for (const config of authorizers) {
      const key = JSON.stringify(config)
      members.set(key, before.get(key) ?? this.#open(config))
    }
    this.#members = members
    this.#chain = new AuthorizerChain([
      privilegedGroup,
      ...(alwaysAllowPaths.length === 0 ? [] : [allowedPaths(alwaysAllowPaths)]),
      ...[...members.values()].map(({ authorizer }) => authorizer),
    ])
    for (const [key, member] of before) if (!members.has(key)) clock.after(CLOSING_MS, () => member.close())
  }

  close(): void {
    for (const member of this.#members.values()) member.close()
  }

  #open(config: AuthorizerConfig): Member {
    const { authorizer, ready = () => true, close = () => undefined } = this.#bare(config)
    return { authorizer: new CountedAuthorizer(authorizer, this.#options.recorder, config), ready, close }
  }

  #bare(config: AuthorizerConfig): Pick<Member, 'authorizer'> & Partial<Member> {
    switch (config.type) {
      case 'RBAC':
        return { authorizer: this.rbac, ready: () => this.#index.sync() }
      case 'Node': {
        const graph = new NodeGraph(this.#options.cache, this.#onStale())
        return { authorizer: new NodeAuthorizer(graph), ready: () => graph.sync() }
      }
      case 'Webhook':
        return this.#webhook(config)
      case 'AlwaysAllow':
        return { authorizer: alwaysAllow }
      case 'AlwaysDeny':
        return { authorizer: alwaysDeny }
    }
  }

  #webhook(config: WebhookAuthorizerConfig): Pick<Member, 'authorizer' | 'close'> {
    const { clock, random, recorder } = this.#options
    const client = new WebhookClient({
      kubeconfig: config.connection,
      clock,
      random,
      timeoutMs: config.timeoutMs,
      // The request waits: the time that is configured is all that it has.
      retriesLate: false,
      metrics: new ClientMetrics(recorder),
    })
    const authorizer = new WebhookAuthorizer({
      ...config,
      conditions: config.matchConditions.length === 0 ? undefined : new MatchConditions(config.matchConditions),
      metrics: new WebhookMetrics(recorder, config.name),
      client,
      clock,
    })
    return { authorizer, close: () => client.close() }
  }

  #onStale() {
    return staleFollowers(this.#options.logger, this.#options.recorder)
  }
}

export const openAuthorizer = (options: OpenAuthorizerOptions): OpenedAuthorizer => new OpenedAuthorizer(options)
