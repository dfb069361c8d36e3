/** Thread: main. The roles that every server has: brought into storage before it serves. */
import type { Logger } from '../../lib/logger.js'
import type { PoolRunner } from '../threads/pool.js'

export async function bootstrapAccess(pool: PoolRunner, logger: Logger): Promise<void> {
  const report = await pool.run('bootstrapAccess', {})
  if (report.created > 0 || report.updated > 0)
    logger.info({ created: report.created, updated: report.updated }, 'default roles and bindings written')
  if (report.protected.length > 0)
    logger.warn({ objects: report.protected }, 'roles or bindings lack defaults and are protected from updates')
  if (report.failed.length > 0) logger.error({ objects: report.failed }, 'could not write default roles or bindings')
}
