/** Thread: pool. What the server keeps in storage and does not serve: ranges of ports, the leases of its peers. */
import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { StoredKind } from '../../registry/stored-resource.js'
import type { Storage } from '../../storage/contract/interface.js'
import type { StorageDecorator } from '../../storage/factory/decorator.js'
import type { StorageFactory } from '../../storage/factory/factory.js'
import { encryptCheckTransformer } from '../../storage/transformers/encrypt-check.js'

interface InternalResource {
  readonly groupResource: GroupResource
  readonly prefix: string
  readonly kind: string
  readonly leased: boolean
}

/** The resources have names of their own, so that the factory finds the codec of their kind. */
export const RANGE_ALLOCATIONS: InternalResource = {
  groupResource: { group: '', resource: 'rangeallocations' },
  prefix: '/ranges',
  kind: 'RangeAllocation',
  leased: false,
}
export const MASTER_LEASES: InternalResource = {
  groupResource: { group: '', resource: 'masterleases' },
  prefix: '/masterleases',
  kind: 'Endpoints',
  leased: true,
}

export function internalKind(name: string): StoredKind | undefined {
  const found = [RANGE_ALLOCATIONS, MASTER_LEASES].find(({ groupResource }) => groupResource.resource === name)
  return found && { name, rules: {}, info: { group: '', version: 'v1', kind: found.kind } }
}

const NO_ATTRIBUTES = { get: () => undefined, has: () => false }

export function openInternalStorage(
  { groupResource, prefix, kind, leased }: InternalResource,
  storageFactory: StorageFactory,
  undecorated: StorageDecorator,
): Storage<KubeObject> {
  return undecorated({
    // They are never encrypted, whatever the configuration says of `*.*`: kube-apiserver on the same etcd reads them as
    // they are.
    config: { ...storageFactory.newConfig(groupResource), transformer: encryptCheckTransformer },
    resourcePrefix: prefix,
    keyOf: ({ metadata }) => `${prefix}/${metadata?.name ?? ''}`,
    newObject: () => ({ apiVersion: 'v1', kind }),
    getAttributes: () => ({ labels: NO_ATTRIBUTES, fields: NO_ATTRIBUTES }),
    ...(leased ? { leased } : {}),
  }).value
}
