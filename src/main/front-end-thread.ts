/** Thread: a front end's own. The thread's entry: opens a front end, answers main, ends when asked. */
import { parentPort, type Transferable, threadId, workerData } from 'node:worker_threads'
import { assert } from '../lib/assert.js'
import { systemClock } from '../lib/clock.js'
import { ThreadProbe } from '../metrics/thread-probe.js'
import { threadRecorder } from '../metrics/thread-recorder.js'
import { toErrorRecord } from '../protocol/error-record.js'
import type { CallMessage, FrontEndCalls, FrontEndStart, MainCalls } from '../protocol/main-front-end.js'
import { PortLogger } from '../workers/owner/port-logger.js'
import { Served } from '../workers/scheme/served.js'
import { ThreadInspector } from '../workers/thread-inspector.js'
import { FrontEndAssembly } from './composition/front-end-assembly.js'
import type { Config } from './flags/config.js'
import type { EngineChoice } from './http/http-engine.js'
import { FrontEndState } from './threads/front-end-state.js'
import { PortCalls } from './threads/port-calls.js'
import { RelayedPool } from './threads/relayed-pool.js'

assert(parentPort !== null, 'a front end that is no thread is assembled by main')
const port = parentPort
const { config, engine, credentials, ownerPort, auditPort, state, definitions, startedMs } =
  workerData as FrontEndStart<Config, EngineChoice>
const tell = (message: CallMessage, transfer: Transferable[] = []): void => port.postMessage(message, transfer)
const recorder = threadRecorder((line, transfer) => port.postMessage(line, transfer))
const probe = new ThreadProbe(`front-end-${threadId}`, recorder, systemClock)
new ThreadInspector(`front-end-${threadId}`, systemClock).open(tell)
const logger = new PortLogger((level, fields, message) => tell({ type: 'log', level, fields, message }))

let assembly: FrontEndAssembly | undefined
const calls: PortCalls<MainCalls, FrontEndCalls> = new PortCalls<MainCalls, FrontEndCalls>({
  port: { postMessage: tell },
  handlers: {
    listen: async ({ port: wanted, isTaken }) => ({ port: await opened().listen(wanted, isTaken) }),
    change: (change) => {
      opened().change(change)
      return undefined
    },
    renewCredentials: (renewed) => {
      opened().renewCredentials(renewed)
      return undefined
    },
    stopListening: () => {
      opened().stopListening()
      return undefined
    },
    settle: async () => {
      await opened().settle()
      return undefined
    },
    drain: async () => {
      await opened().drain()
      return undefined
    },
    close: async () => {
      probe.stop()
      await opened().close()
      // The port is closed after the reply: without one to listen to the thread ends by itself.
      setImmediate(() => port.close())
      return undefined
    },
  },
})
port.on('message', (message: CallMessage) => calls.take(message))

function opened(): FrontEndAssembly {
  assert(assembly !== undefined, 'main calls after `started`')
  return assembly
}

try {
  const served = new Served(config)
  for (const definition of definitions) served.apply({ type: 'set', definition })
  assembly = await FrontEndAssembly.open({
    config,
    engine,
    credentials,
    served,
    ownerPort,
    auditPort,
    pool: new RelayedPool(calls),
    line: {
      startedMs,
      health: (probe) => calls.call('health', { probe }),
      poolAnswers: () => calls.call('poolAnswers', {}),
      controllerProblems: () => calls.call('controllerProblems', {}),
      metrics: () => calls.call('metrics', {}),
      threads: () => calls.call('threads', {}),
      visit: async (thread) => (await calls.call('visit', { thread })).port,
      cacheCosts: () => calls.call('cacheCosts', {}),
      traceWrites: (seconds) => calls.call('traceWrites', { seconds }),
    },
    state: new FrontEndState(state),
    logger,
    recorder,
  })
  probe.start()
  tell({ type: 'started' })
} catch (error) {
  tell({ type: 'failed', error: toErrorRecord(error) })
  port.close()
}
