/** Thread: any but the owner. The authorizers of a thread, from plain data and the shared memory that it reads. */
import { staleFollowers } from '../../cacher/read/stale-followers.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { ClientMetrics } from '../../metrics/client-metrics.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { AuthorizationConfig, AuthorizationMode } from '../../protocol/authorization-config.js'
import type { Authorizer, RuleResolver } from '../interface.js'
import { readKubeconfig, withPath } from '../kubeconfig.js'
import { WebhookClient } from '../webhook-client.js'
import { AuthorizerChain } from './authorizer-chain.js'
import { allowedPaths, alwaysAllow, alwaysDeny, privilegedGroup } from './fixed-authorizers.js'
import { CountedAuthorizer } from './metered-authorizer.js'
import { NodeAuthorizer } from './node-authorizer.js'
import { NodeGraph } from './node-graph.js'
import { RbacAuthorizer } from './rbac-authorizer.js'
import { type CacheSource, RbacIndex } from './rbac-index.js'
import { WebhookAuthorizer } from './webhook-authorizer.js'

export interface OpenAuthorizerOptions {
  readonly config: AuthorizationConfig
  readonly cache: CacheSource
  readonly clock: Clock
  readonly random: Random
  readonly recorder: Recorder
  readonly logger: Logger
}

export interface OpenedAuthorizer extends Closable {
  readonly authorizer: Authorizer & RuleResolver
  /** There whatever the modes are, because whoever writes roles must hold what they give. */
  readonly rbac: RbacAuthorizer
  /** True when everything that decisions rest on is in memory, or was: what was last known stays in force. */
  ready(): boolean
}

export function openAuthorizer(options: OpenAuthorizerOptions): OpenedAuthorizer {
  const { config, cache, clock, random, recorder, logger } = options
  const onStale = staleFollowers(logger, recorder)
  const index = new RbacIndex(cache, onStale)
  const rbac = new RbacAuthorizer(index)
  const closables: Closable[] = []
  const checks: (() => boolean)[] = []
  const open = (mode: AuthorizationMode): Authorizer & RuleResolver => {
    switch (mode) {
      case 'RBAC':
        checks.push(() => index.sync())
        return rbac
      case 'Node': {
        const graph = new NodeGraph(cache, onStale)
        checks.push(() => graph.sync())
        return new NodeAuthorizer(graph)
      }
      case 'Webhook': {
        const client = new WebhookClient({
          kubeconfig: withPath(readKubeconfig(config.webhook.configFile), config.webhook.path),
          clock,
          random,
          metrics: new ClientMetrics(recorder),
        })
        closables.push(client)
        return new WebhookAuthorizer({ ...config.webhook, client, clock })
      }
      case 'AlwaysAllow':
        return alwaysAllow
      case 'AlwaysDeny':
        return alwaysDeny
    }
  }
  return {
    authorizer: new AuthorizerChain([
      privilegedGroup,
      ...(config.alwaysAllowPaths.length === 0 ? [] : [allowedPaths(config.alwaysAllowPaths)]),
      ...config.modes.map((mode) => new CountedAuthorizer(open(mode), recorder, mode)),
    ]),
    rbac,
    ready: () => checks.every((check) => check()),
    close: () => {
      for (const closable of closables) void closable.close()
    },
  }
}
