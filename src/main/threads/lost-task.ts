/**
 * Thread: main. Decides what becomes of a task whose thread was taken out or ended: it is run again where that is safe,
 * else answered.
 */
import { newInternalError, newTimeout, newTooManyRequests, type StatusError } from '../../api/status.js'
import type { PoolTask, PoolTaskName } from '../../protocol/main-pool.js'
import type { HandedTask } from './pool-member.js'
import { TaskCancelled } from './task-cancelled.js'

/** A task that was under way in so many lost threads is taken for the cause of their loss. */
const MAX_STRIKES = 2

/**
 * `again`: the task runs at once; `alone`: it runs after the other suspects, so that the one that loses a second thread
 * is the guilty one.
 */
export type Fate = 'again' | 'alone' | StatusError | TaskCancelled

/**
 * Tasks that change nothing, or come to the same when they are done twice. A watch is not among them: it has given its
 * port away.
 */
const REPEATABLE: ReadonlySet<PoolTaskName> = new Set<PoolTaskName>([
  'read',
  'connect',
  'document',
  'bootstrapAccess',
  'convert',
  'tableColumns',
  'repairServices',
  'holdMasterLease',
  'dropMasterLease',
])

export function fateOf(lost: HandedTask, begun: boolean): Fate {
  if (lost.caller?.gone === true) return new TaskCancelled()
  const { task, kept } = lost
  if (!begun)
    return kept ? 'again' : newTooManyRequests('the thread that was to serve the request is being replaced', 1)
  if (++lost.strikes >= MAX_STRIKES)
    return newInternalError('the request was under way in two threads that stopped answering, and was given up')
  if (kept && isRepeatable(task)) return 'alone'
  return newTimeout('the thread that served the request stopped answering; the request may have been carried out', 0)
}

function isRepeatable(task: PoolTask): boolean {
  if (REPEATABLE.has(task.type)) return true
  return task.type === 'write' && new URLSearchParams(task.input.query).getAll('dryRun').includes('All')
}

/** The task as the log names it. */
export function describeTask(task: PoolTask): Readonly<Record<string, string>> {
  const request = requestOf(task)
  if (request === undefined) return { type: task.type }
  const { verb, apiGroup, resource, subresource, namespace, name } = request.info
  return { type: task.type, verb, apiGroup, resource, subresource, namespace, name, auditId: request.auditId }
}

function requestOf(task: PoolTask) {
  if (task.type === 'write' || task.type === 'read' || task.type === 'connect') return task.input
  return task.type === 'watch' ? task.input.request : undefined
}
