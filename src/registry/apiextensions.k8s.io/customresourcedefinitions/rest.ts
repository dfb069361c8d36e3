/**
 * Thread: pool. The deletion of a definition: the first request marks it and adds a finalizer, which goes when all of its objects
 * have gone (workers/pool-worker/definition-keeper.ts).
 */
import type { CustomResourceDefinition } from '../../../api/generated/kinds/apiextensions.v1.js'
import { metadataOf } from '../../../api/object.js'
import { newConflict } from '../../../api/status.js'
import { formatTime } from '../../../api/time.js'
import { setCondition } from '../../../apiextensions/definitions/conditions.js'
import type { EndpointHandler } from '../../generic/endpoint-handler.js'
import type { RegistryStore } from '../../generic/registry-store.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import { translated } from '../../generic/storage-status.js'
import type { Preconditions } from '../../generic/strategy.js'
import { webhookWarningHooks } from '../../generic/webhook-warnings.js'

const FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

const isEnding = (object: CustomResourceDefinition): boolean => (metadataOf(object).deletionTimestamp ?? null) !== null

function deletion(store: RegistryStore): NonNullable<EndpointHandler['delete']> {
  return async (context, name, options, validation) => {
    const existing: CustomResourceDefinition = await store.get(context, name, '')
    const preconditions = checked(store, existing, name, options?.preconditions ?? {})
    if (isEnding(existing)) return store.delete(context, name, { ...options, preconditions }, validation)
    const mark = async (current: CustomResourceDefinition): Promise<{ object: CustomResourceDefinition }> => {
      await validation?.(current)
      markAsEnding(current, context.now())
      return { object: current }
    }
    if (context.dryRun) return { result: (await mark(existing)).object, deleted: false }
    const result = await translated(store.groupResource, name, () =>
      store.storage.guaranteedUpdate(store.key('', name), mark, { preconditions }),
    )
    return { result, deleted: false }
  }
}

function markAsEnding(definition: CustomResourceDefinition, now: number): void {
  const metadata = metadataOf(definition)
  if (!isEnding(definition)) metadata.deletionTimestamp = formatTime(now)
  const finalizers = metadata.finalizers ?? []
  if (!finalizers.includes(FINALIZER)) metadata.finalizers = [...finalizers, FINALIZER]
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon'
  setCondition(
    definition,
    { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending', message },
    formatTime(now),
  )
}

function checked(
  store: RegistryStore,
  existing: CustomResourceDefinition,
  name: string,
  { uid, resourceVersion }: Preconditions,
): Preconditions {
  const { uid: own = '', resourceVersion: version = '' } = metadataOf(existing)
  const refuse = (field: string, given: string, found: string): never => {
    throw newConflict(
      store.groupResource,
      name,
      `precondition failed: ${field} in precondition: ${given}, ${field} in object meta: ${found}`,
    )
  }
  if (uid !== undefined && uid !== own) refuse('UID', uid, own)
  if (resourceVersion !== undefined && resourceVersion !== version) refuse('ResourceVersion', resourceVersion, version)
  return { uid: own, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
}

export const customResourceDefinitionREST: ResourceREST<CustomResourceDefinition> = {
  hooks: (dependencies) =>
    webhookWarningHooks(dependencies, ({ spec }) => {
      const { clientConfig } = spec?.conversion?.webhook ?? {}
      return clientConfig ? [['conversion', clientConfig] as const] : []
    }),
  resource: { make: ({ store }) => ({ delete: deletion(store) }) },
}
