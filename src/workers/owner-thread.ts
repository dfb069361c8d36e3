/** Thread: owner. The thread's entry: opens the owner it is told to, answers calls, ends when asked. */
import { MessageChannel, parentPort, workerData } from 'node:worker_threads'
import { assert } from '../lib/assert.js'
import { systemClock } from '../lib/clock.js'
import { ThreadProbe } from '../metrics/thread-probe.js'
import { threadRecorder } from '../metrics/thread-recorder.js'
import { toErrorRecord } from '../protocol/error-record.js'
import type { OwnerConfig, OwnerControlCall, OwnerControlHandlers, OwnerToMain } from '../protocol/main-owner.js'
import { Owner } from './owner/owner.js'
import type { OwnerResourceModule } from './owner/owner-resources.js'
import { PortLogger } from './owner/port-logger.js'
import { ThreadInspector } from './thread-inspector.js'

assert(parentPort !== null, 'the owner runs in a thread of its own')
const port = parentPort
const config = workerData as OwnerConfig
const tell = (message: OwnerToMain): void => port.postMessage(message)
const recorder = threadRecorder((line, transfer) => port.postMessage(line, transfer))
new ThreadInspector('owner', systemClock).open((line, transfer) => port.postMessage(line, transfer))
const probe = new ThreadProbe('owner', recorder, systemClock)
const logger = new PortLogger((level, fields, message) => tell({ type: 'log', level, fields, message }))

// While the owner waits for a storage, nothing else keeps the thread alive.
port.ref()
try {
  const { openOwnerResources } = (await import(config.resourceModule)) as OwnerResourceModule
  const resources = await openOwnerResources(config.resourceModuleOptions, recorder)
  const owner = new Owner({
    config,
    resources,
    clock: systemClock,
    logger,
    onEvent: (event) => tell({ type: 'event', event }),
    recorder,
  })
  await owner.start()
  probe.start()
  const { port1, port2 } = new MessageChannel()
  owner.attach(port1)
  await resources.attached?.(port2)
  const handlers: OwnerControlHandlers = {
    attach: async (input) => {
      owner.attach(input.port)
      return undefined
    },
    addResource: async (resource) => {
      await owner.addResource(resource)
      return undefined
    },
    removeResource: async ({ resource }) => {
      owner.removeResource(resource)
      return undefined
    },
    health: ({ probe }) => owner.health(probe),
    memory: async () => owner.memory(),
    costs: async () => owner.costs(),
    stop: async () => {
      probe.stop()
      await owner.stop()
      await resources.close?.()
      return undefined
    },
  }
  port.on('message', (call: OwnerControlCall) => void answer(handlers, call))
  tell({ type: 'started' })
} catch (error) {
  tell({ type: 'failed', error: toErrorRecord(error) })
  port.close()
}

async function answer<C extends OwnerControlCall>(handlers: OwnerControlHandlers, call: C): Promise<void> {
  const { id, method, input } = call
  try {
    // The method map pairs each input with its handler; the union of calls does not show that to the compiler.
    const handle = handlers[method] as (input: C['input']) => Promise<never>
    tell({ type: 'reply', id, result: await handle(input) })
  } catch (error) {
    tell({ type: 'error', id, error: toErrorRecord(error) })
  }
  // Without a port to listen to the thread ends by itself.
  if (method === 'stop') port.close()
}
