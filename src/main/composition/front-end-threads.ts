/** Thread: main. The step that starts the front ends: one in the main thread, or several in threads of their own. */
import { pause } from '../../lib/clock.js'
import type { MainCalls } from '../../protocol/main-front-end.js'
import type { ProcessLine } from '../paths/server-paths.js'
import { AuditWorker } from '../threads/audit-worker.js'
import { FrontEndState } from '../threads/front-end-state.js'
import { FrontEndWorker } from '../threads/front-end-worker.js'
import type { CallHandlers } from '../threads/port-calls.js'
import { FrontEndAssembly } from './front-end-assembly.js'
import type { ProcessParts } from './process-parts.js'
import type { StorageThreads } from './storage-threads.js'

export interface ServingFrontEnds {
  readonly port: number
  /** The memory that all front ends share; `ready` is what /readyz tells. */
  readonly state: FrontEndState
}

/** Resolves when all of them listen. */
export async function startFrontEnds(parts: ProcessParts, storage: StorageThreads): Promise<ServingFrontEnds> {
  const { config, lifecycle } = parts
  const { frontEnds } = storage
  const state = new FrontEndState()
  const audit = startAudit(parts)
  lifecycle.own('front ends', frontEnds)
  if (config.frontEnds === 1) await openHere(parts, storage, state, audit)
  else await Promise.all(Array.from({ length: config.frontEnds }, () => startThread(parts, storage, state, audit)))
  const port = await frontEnds.listen(config.host, config.port)
  lifecycle.own('requests', {
    close: async () => {
      // Whoever sends requests here is told to stop before anything changes for them.
      state.ready = false
      await pause(parts.clock, config.shutdownDelayMs)
      if (config.shutdownSendRetryAfter) {
        state.refusing = true
        await frontEnds.settle()
      }
      await frontEnds.drain()
    },
  })
  return { port, state }
}

function startAudit({ config, logger, threads, onFatal, lifecycle }: ProcessParts): AuditWorker | undefined {
  if (config.audit === undefined) return undefined
  const audit = new AuditWorker(config.audit, { logger, onInspection: threads.add, onExit: onFatal })
  return lifecycle.own('audit', audit)
}

function processLine(
  { startedMs, metrics, threads, controllersHealth }: ProcessParts,
  { owner, pool }: StorageThreads,
): ProcessLine {
  return {
    health: (probe) => owner.health(probe),
    poolAnswers: async () => pool.answering > 0,
    controllerProblems: () => controllersHealth.problems(),
    metrics: () => metrics.text(),
    startedMs,
    threads: async () => threads.names(),
    visit: async (thread) => threads.visit(thread),
    cacheCosts: () => owner.costs(),
    traceWrites: (seconds) => pool.traceWrites(seconds),
  }
}

async function openHere(
  parts: ProcessParts,
  storage: StorageThreads,
  state: FrontEndState,
  audit: AuditWorker | undefined,
): Promise<void> {
  const { config, engine, credentials, served, logger, metrics } = parts
  const { owner, pool, frontEnds } = storage
  const assembly = await FrontEndAssembly.open({
    config,
    engine,
    credentials,
    served,
    ownerPort: await owner.attach(),
    auditPort: audit?.line(),
    pool,
    line: processLine(parts, storage),
    state,
    logger,
    recorder: metrics.recorder,
  })
  frontEnds.add(assembly)
}

async function startThread(
  parts: ProcessParts,
  storage: StorageThreads,
  state: FrontEndState,
  audit: AuditWorker | undefined,
): Promise<void> {
  const { config, engine, credentials, startedMs, logger, metrics, threads, onFatal } = parts
  const { owner, resources, frontEnds } = storage
  const ownerPort = await owner.attach()
  const worker = await FrontEndWorker.start({
    config,
    engine,
    credentials,
    ownerPort,
    auditPort: audit?.line(),
    state: state.buffer,
    definitions: resources.definitions(),
    startedMs,
    handlers: mainCalls(parts, storage),
    logger,
    onMetrics: (port) => metrics.addThread(port),
    onInspection: threads.add,
    onExit: onFatal,
  })
  frontEnds.add(worker)
}

/** The calls that a front end in a thread of its own makes to the process. */
function mainCalls(parts: ProcessParts, storage: StorageThreads): CallHandlers<MainCalls> {
  const line = processLine(parts, storage)
  return {
    pool: ({ type, input }, caller) => storage.pool.run(type, input, caller),
    health: ({ probe }) => line.health(probe),
    poolAnswers: () => line.poolAnswers(),
    controllerProblems: () => line.controllerProblems(),
    metrics: () => line.metrics(),
    threads: () => line.threads(),
    visit: async ({ thread }) => ({ port: await line.visit(thread) }),
    cacheCosts: () => line.cacheCosts(),
    traceWrites: ({ seconds }) => line.traceWrites(seconds),
  }
}
