/** Thread: main. What is there from the start: made through the pool like anything else, by the server itself. */
import type { UserInfo } from '../api/user-info.js'
import type { Clock } from '../lib/clock.js'
import type { Logger } from '../lib/logger.js'
import type { Pool } from './pool.js'
import { requestInfo } from './request-info.js'

const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease']
const SERVER: UserInfo = { name: 'system:apiserver', uid: '', groups: ['system:masters'], extra: {} }
const TIMEOUT_MS = 60_000

export async function createSystemNamespaces(pool: Pool, clock: Clock, logger: Logger): Promise<void> {
  await Promise.all(SYSTEM_NAMESPACES.map((name) => createNamespace(pool, clock, logger, name)))
}

async function createNamespace(pool: Pool, clock: Clock, logger: Logger, name: string): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  const { status, body } = await pool.run('write', {
    info: requestInfo('POST', '/api/v1/namespaces', new URLSearchParams()),
    method: 'POST',
    query: '',
    user: SERVER,
    accept: 'application/json',
    contentType: 'application/json',
    userAgent: 'keelson',
    body: new TextEncoder().encode(JSON.stringify(object)),
    auditId: `bootstrap-${name}`,
    deadlineMs: clock.now() + TIMEOUT_MS,
  })
  // 409: another start made it.
  if (status !== 201 && status !== 409)
    logger.warn(
      { namespace: name, status, answer: Buffer.from(body).toString() },
      'could not create a system namespace',
    )
}
