/** Thread: main. The roles that every server has: brought into storage before it serves, aggregated ones kept filled. */
import { ruleObject } from '../../auth/authz/aggregation.js'
import { RoleAggregator } from '../../auth/authz/role-aggregator.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { WorkMetrics } from '../../metrics/work-metrics.js'
import { aggregationRequest } from '../../workers/pool/access-bootstrap.js'
import type { PoolRunner } from '../threads/pool.js'

const WRITE_TIMEOUT_MS = 30_000

export async function bootstrapAccess(pool: PoolRunner, logger: Logger): Promise<void> {
  const report = await pool.run('bootstrapAccess', {})
  if (report.created > 0 || report.updated > 0)
    logger.info({ created: report.created, updated: report.updated }, 'default roles and bindings written')
  if (report.protected.length > 0)
    logger.warn({ objects: report.protected }, 'roles or bindings lack defaults and are protected from updates')
  if (report.failed.length > 0) logger.error({ objects: report.failed }, 'could not write default roles or bindings')
}

export function roleAggregator(
  cache: CacheClient,
  pool: PoolRunner,
  clock: Clock,
  work: WorkMetrics,
  logger: Logger,
): RoleAggregator {
  return new RoleAggregator({
    cache: (resource) => cache.resource(resource),
    logger,
    write: (name, rules) =>
      work.run(async () => {
        const deadlineMs = clock.now() + WRITE_TIMEOUT_MS
        const { status, body } = await pool.run('write', aggregationRequest(name, rules.map(ruleObject), deadlineMs))
        if (status !== 200) throw new Error(`status ${status}: ${Buffer.from(body).toString()}`)
      }),
  })
}
