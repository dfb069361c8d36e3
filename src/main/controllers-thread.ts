/** Thread: controllers. The thread's entry: opens the controllers, answers main, ends when asked. */
import { parentPort, type Transferable, workerData } from 'node:worker_threads'
import { openAuthorizer } from '../auth/authz/open-authorizer.js'
import { CacheClient } from '../cacher/read/cache-client.js'
import { ControllerManager } from '../controllers/controller-manager.js'
import { ControlledResources } from '../controllers/framework/controlled-resource.js'
import { assert } from '../lib/assert.js'
import { systemClock } from '../lib/clock.js'
import { ThreadProbe } from '../metrics/thread-probe.js'
import { threadRecorder } from '../metrics/thread-recorder.js'
import type { ControllersCalls, ControllersMainCalls, ControllersStart } from '../protocol/main-controllers.js'
import type { CallMessage } from '../protocol/main-front-end.js'
import { PortLogger } from '../workers/owner/port-logger.js'
import { Served } from '../workers/scheme/served.js'
import { ThreadInspector } from '../workers/thread-inspector.js'
import type { Config } from './flags/config.js'
import { PortCalls } from './threads/port-calls.js'
import { RelayedPool } from './threads/relayed-pool.js'

assert(parentPort !== null, 'the controllers run in a thread of their own')
const port = parentPort
const { config, settings, ownerPort, definitions, access } = workerData as ControllersStart<Config>
const tell = (message: CallMessage, transfer: Transferable[] = []): void => port.postMessage(message, transfer)
const recorder = threadRecorder((line, transfer) => port.postMessage(line, transfer))
const probe = new ThreadProbe('controllers', recorder, systemClock)
new ThreadInspector('controllers', systemClock).open(tell)
const logger = new PortLogger((level, fields, message) => tell({ type: 'log', level, fields, message }))
/** Who creates definitions mostly creates several. */
const RESOURCES_TOLD_MS = 50
const served = new Served(config)
for (const definition of definitions) served.apply({ type: 'set', definition })
const resources = new ControlledResources(
  () => served.resources(),
  (tell) => void systemClock.after(RESOURCES_TOLD_MS, tell),
)
const cache = await CacheClient.attach(ownerPort)
const views = (resource: string) => cache.resource(resource)
const opened = openAuthorizer({
  config: access.authorization ?? config.authorization,
  cache: views,
  clock: systemClock,
  random: Math.random,
  recorder,
  logger,
})
const calls: PortCalls<ControllersMainCalls, ControllersCalls> = new PortCalls<ControllersMainCalls, ControllersCalls>({
  port: { postMessage: tell },
  handlers: {
    change: (change) => {
      if (change.type === 'access') {
        if (change.authorization !== undefined) opened.change(change.authorization)
        return undefined
      }
      served.apply(change)
      resources.changed()
      return undefined
    },
    health: () => manager.health(),
    close: async () => {
      await manager.stop()
      probe.stop()
      cache.detach()
      // The port is closed after the reply: without one to listen to the thread ends by itself.
      setImmediate(() => port.close())
      return undefined
    },
  },
})
const manager = new ControllerManager({
  settings,
  resources,
  views,
  pool: new RelayedPool(calls),
  remotes: { resources: () => calls.call('remoteResources', {}), send: (call) => calls.call('remote', call) },
  authorizer: opened.authorizer,
  clock: systemClock,
  logger,
  recorder,
})
port.on('message', (message: CallMessage) => calls.take(message))
probe.start()
manager.start()
tell({ type: 'started' })
