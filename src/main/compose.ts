/** Thread: main. Builds the server in order and closes it in reverse. Each step is a file in composition/. */
import { type Closable, Lifecycle } from '../lib/lifecycle.js'
import { keepAPIServices } from './composition/api-services.js'
import { startControllers } from './composition/controllers.js'
import { installDefinitions } from './composition/definitions.js'
import { startFrontEnds } from './composition/front-end-threads.js'
import { type ComposeOptions, openProcessParts } from './composition/process-parts.js'
import { startStorageThreads } from './composition/storage-threads.js'
import { bootstrapObjects, type CurrentTrust, keepCredentials, serveDefinitions } from './composition/upkeep.js'
import { limitHeaders } from './http/uws/header-limit.js'
import type { ResourceRegistrar } from './threads/resource-registrar.js'

export interface Server extends Closable {
  readonly url: string
  /** Resources that are not built in: they come, change and go while the server runs. */
  readonly resources: ResourceRegistrar
  /** The path of the admin's kubeconfig; '' when there is none. */
  readonly kubeconfig: string
  close(): Promise<void>
}

export async function compose(options: ComposeOptions): Promise<Server> {
  const lifecycle = new Lifecycle()
  limitHeaders()
  try {
    return await build(lifecycle, options)
  } catch (error) {
    await lifecycle.close()
    throw error
  }
}

async function build(lifecycle: Lifecycle, options: ComposeOptions): Promise<Server> {
  const parts = await openProcessParts(options, lifecycle)
  const { config, credentials } = parts
  const storage = await startStorageThreads(parts)
  const { port, state } = await startFrontEnds(parts, storage)
  const trust: CurrentTrust = { clients: credentials.authentication }
  await bootstrapObjects(parts, storage, port, trust)
  await serveDefinitions(parts, storage)
  await installDefinitions(parts, storage, options.definitions ?? [])
  const kubeconfig = keepCredentials(parts, storage, port, trust)
  const relay = await keepAPIServices(parts, storage)
  state.ready = true
  startControllers(parts, storage, relay)
  return {
    url: `${credentials.tls === undefined ? 'http' : 'https'}://${config.host}:${port}`,
    kubeconfig,
    resources: storage.resources,
    close: () => lifecycle.close(),
  }
}
