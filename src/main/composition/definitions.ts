/** Thread: main. Definitions that are there when the server is ready, because whoever started it named them. */
import type { CustomResourceDefinition } from '../../api/generated/kinds/apiextensions.v1.js'
import { formatGroupResource } from '../../api/group-version.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import { LoopbackClient } from '../bootstrap/loopback-client.js'
import { ServerRequests } from '../bootstrap/server-requests.js'
import type { ProcessParts } from './process-parts.js'
import type { StorageThreads } from './storage-threads.js'

const COLLECTION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const MANAGER = 'keelson-crds'
const LOOK_AGAIN_MS = 5

/** Applies the definitions and resolves when all of them are served. Throws for one that is refused or whose names are taken. */
export async function installDefinitions(
  { clock }: Pick<ProcessParts, 'clock'>,
  { pool, resources }: Pick<StorageThreads, 'pool' | 'resources'>,
  definitions: readonly KubeObject[],
): Promise<void> {
  const client = new LoopbackClient(new ServerRequests(pool, clock))
  const isServed = ({ metadata }: KubeObject, before: string | undefined): boolean => {
    const { name, uid, resourceVersion } = metadata ?? {}
    const found = resources.definitions().find((one) => formatGroupResource(one) === name && one.uid === uid)
    return found !== undefined && (resourceVersion === before || found.revision >= Number(resourceVersion))
  }
  const install = async (definition: KubeObject): Promise<void> => {
    const path = `${COLLECTION}/${metadataOf(definition).name ?? ''}`
    const before = (await client.get(path))?.metadata?.resourceVersion
    const applied = await client.apply(path, definition, MANAGER)
    while (!isServed(applied, before)) {
      refuseConflict(await client.get(path))
      await new Promise<void>((resolve) => void clock.after(LOOK_AGAIN_MS, resolve))
    }
  }
  await Promise.all(definitions.map(install))
  await resources.settled()
}

/** Names that another definition has are never served. */
function refuseConflict(definition: CustomResourceDefinition | undefined): void {
  const condition = definition?.status?.conditions?.find(({ type }) => type === 'NamesAccepted')
  if (condition?.status === 'False')
    throw new Error(`${definition?.metadata?.name ?? ''} cannot be served: ${condition.message ?? condition.reason}`)
}
