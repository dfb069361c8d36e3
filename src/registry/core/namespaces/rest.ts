/**
 * Thread: pool. A namespace goes in two steps: the first DELETE marks it as terminating, and it is gone when what empties
 * it has taken the last finalizer off its spec (through finalize). This server runs no such controller.
 */
import type { Namespace } from '../../../api/generated/kinds/core.v1.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import { newConflict } from '../../../api/status.js'
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../../api/validation/object-meta.js'
import type { EndpointHandler } from '../../generic/endpoint-handler.js'
import type { RegistryStore } from '../../generic/registry-store.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import type { DeleteOptions } from '../../generic/strategy.js'
import { formatTime } from '../../generic/system-fields.js'

const NAMESPACES = { group: '', resource: 'namespaces' }

function checkPreconditions(namespace: KubeObject, { preconditions }: DeleteOptions): void {
  const { name = '', uid, resourceVersion } = metadataOf(namespace)
  const failed = (what: string, wanted: string, found: string | undefined): never => {
    throw newConflict(
      NAMESPACES,
      name,
      `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`,
    )
  }
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) failed('UID', preconditions.uid, uid)
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion)
    failed('ResourceVersion', preconditions.resourceVersion, resourceVersion)
}

/** Whether dependents are orphaned, waited for, or neither, is kept until the second step. */
function finalizersOf(current: readonly string[], { orphanDependents, propagationPolicy }: DeleteOptions): string[] {
  const wants = (finalizer: string, orphan: boolean, policy: string): boolean => {
    if (orphanDependents !== undefined) return orphanDependents === orphan
    if (propagationPolicy !== undefined) return propagationPolicy === policy
    return current.includes(finalizer)
  }
  const others = current.filter((name) => name !== FINALIZER_ORPHAN && name !== FINALIZER_FOREGROUND)
  if (wants(FINALIZER_ORPHAN, true, 'Orphan')) others.push(FINALIZER_ORPHAN)
  if (wants(FINALIZER_FOREGROUND, false, 'Foreground')) others.push(FINALIZER_FOREGROUND)
  return others
}

function terminate(namespace: Namespace, options: DeleteOptions, nowMs: number): Namespace {
  const metadata = metadataOf(namespace)
  metadata.deletionTimestamp ??= formatTime(nowMs)
  namespace.status = { ...namespace.status, phase: 'Terminating' }
  const finalizers = finalizersOf(metadata.finalizers ?? [], options)
  if (finalizers.length > 0) metadata.finalizers = finalizers
  else delete metadata.finalizers
  return namespace
}

const endpoint = (store: RegistryStore): EndpointHandler => ({
  delete: async (context, name, options, validate) => {
    const namespace: Namespace = await store.get(context, name)
    checkPreconditions(namespace, options)
    const { uid, deletionTimestamp } = metadataOf(namespace)
    const preconditions = { ...(uid === undefined ? {} : { uid }), ...options.preconditions }
    if (deletionTimestamp === undefined) {
      const result = await store.change(
        context,
        name,
        async (existing) => {
          await validate(existing)
          return terminate(existing, options, context.now())
        },
        preconditions,
      )
      return { result, deleted: false }
    }
    if ((namespace.spec?.finalizers ?? []).length > 0) return { result: namespace, deleted: false }
    return store.delete(context, name, { ...options, preconditions }, validate)
  },
})

export const namespaceREST: ResourceREST = { resource: { make: ({ store }) => endpoint(store) } }
