/** Thread: main. The step that starts the controllers, after the server is ready: nobody waits for them. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ControllerRelay } from '../aggregation/controller-relay.js'
import { ControllersWorker } from '../threads/controllers-worker.js'
import type { ProcessParts } from './process-parts.js'
import type { StorageThreads } from './storage-threads.js'

export function startControllers(parts: ProcessParts, storage: StorageThreads, relay: ControllerRelay): void {
  const { config, credentialSource, clock, logger, metrics, threads, lifecycle } = parts
  if (config.controllers.enabled.length === 0) return
  const { owner, pool, resources } = storage
  const worker = new ControllersWorker({
    config,
    settings: {
      ...config.controllers,
      // The embedded engine has one server at a time: whoever left a lease there was this server in an earlier life.
      identity: config.etcdOptions.dataDir === '' ? `${hostname()}_${randomUUID()}` : 'keelson-embedded',
      rootCa: credentialSource.serverAuthority(),
    },
    attach: () => owner.attach(),
    definitions: () => resources.definitions(),
    pool,
    relay,
    clock,
    logger,
    onMetrics: (port) => metrics.addThread(port),
    onInspection: threads.add,
  })
  lifecycle.own('controllers', worker)
  parts.controllersHealth.connect(() => worker.health())
  resources.tell(worker)
  worker.start()
}
