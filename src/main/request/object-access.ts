/** Thread: main, or a front end's own. Where authentication finds the objects that credentials hang on. */
import { API_SERVER_USER } from '../../api/user-info.js'
import type { SharedObjectsOptions, SourceResource } from '../../auth/authn/object-source.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import { systemClock } from '../../lib/clock.js'
import type { Served } from '../../workers/scheme/served.js'
import type { PoolRunner } from '../threads/pool.js'
import { NO_QUERY, resolveRequestInfo } from './request-info-resolver.js'

const TIMEOUT_MS = 10_000

export function objectsOf(cache: CacheClient, served: Served, pool: PoolRunner): SharedObjectsOptions {
  const prefixes = new Map(
    served
      .resources()
      .filter(({ info }) => info.group === '' && info.version === 'v1')
      .map(({ info, keyPrefix }) => [info.resource, keyPrefix]),
  )
  return {
    cacheOf: (resource) => cache.resource(resource),
    keyPrefix: (resource) => prefixes.get(resource) ?? '',
    readStored: (resource, namespace, name) => readStored(pool, resource, namespace, name),
  }
}

/** Reads an object that memory does not hold, as a client would read it. */
async function readStored(
  pool: PoolRunner,
  resource: SourceResource,
  namespace: string,
  name: string,
): Promise<Uint8Array | undefined> {
  const within = namespace === '' ? '' : `namespaces/${encodeURIComponent(namespace)}/`
  const { status, body } = await pool.run('read', {
    info: resolveRequestInfo('GET', `/api/v1/${within}${resource}/${encodeURIComponent(name)}`, NO_QUERY),
    method: 'GET',
    query: '',
    user: API_SERVER_USER,
    accept: 'application/json',
    contentType: '',
    userAgent: 'keelson',
    body: new Uint8Array(),
    auditId: 'authentication',
    deadlineMs: systemClock.now() + TIMEOUT_MS,
  })
  if (status === 200) return body
  if (status === 404) return undefined
  throw new Error(`reading ${resource} ${namespace}/${name} failed with status ${status}`)
}
