/** Thread: pool. The scale of a workload: replicas and the selector of its pods, whatever the workload is. */

import { FieldPath } from '../../api/field-error.js'
import type { ReplicaSet } from '../../api/generated/kinds/apps.v1.js'
import type { Scale } from '../../api/generated/kinds/autoscaling.v1.js'
import type { ReplicationController } from '../../api/generated/kinds/core.v1.js'
import { type ReplicasPaths, ScaleHandler } from '../../api/managed-fields/scale-handler.js'
import { type KubeObject, type ManagedFieldsEntry, metadataOf } from '../../api/object.js'
import { newConflict, newInvalid } from '../../api/status.js'
import { nonnegative } from '../../api/validation/checks.js'
import type { EndpointHandler } from './endpoint-handler.js'
import type { RegistryStore } from './registry-store.js'
import type { HandlerRow } from './resource-rest.js'
import type { TableColumn, TableRules } from './resource-rules.js'
import { selectorText } from './selector-text.js'
import { age, NONE, tableOf, text } from './table-rules.js'

const REPLICAS = FieldPath.of('spec', 'replicas')
const AS_INTEGER = { type: 'integer' } as const

export const scaleTable = (ageColumn: Partial<TableColumn> = {}): TableRules<Scale> =>
  tableOf<Scale>(
    text('Desired', 'How many replicas are wanted.', ({ spec }) => spec?.replicas ?? 0, AS_INTEGER),
    text('Available', 'How many replicas there are.', ({ status }) => status?.replicas ?? 0, AS_INTEGER),
    age(ageColumn),
  )

/** How a scale's selector is made: replication controllers have a plain map where the others have a LabelSelector. */
const SELECTORS = {
  selector: ({ spec }: ReplicaSet) => spec?.selector,
  labels: ({ spec }: ReplicationController) => ({ matchLabels: spec?.selector ?? {} }),
} as const
type SelectorForm = keyof typeof SELECTORS

function scaleOf(object: KubeObject, form: SelectorForm): Scale {
  const { metadata = {}, spec, status }: ReplicaSet = object
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  const shown = selectorText(SELECTORS[form](object))
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: given({ name, namespace, uid, resourceVersion, creationTimestamp }),
    spec: { replicas: spec?.replicas ?? 0 },
    status: { replicas: status?.replicas ?? 0, ...(shown === NONE ? {} : { selector: shown }) },
  }
}

/** The values without those that are undefined. */
function given<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}

function setManagers(object: KubeObject, entries: ManagedFieldsEntry[] | undefined): void {
  const metadata = metadataOf(object)
  if (entries === undefined) delete metadata.managedFields
  else metadata.managedFields = entries
}

function scaleEndpoint(store: RegistryStore, apiVersion: string, form: SelectorForm): EndpointHandler {
  const paths: ReplicasPaths = new Map([[apiVersion, ['f:spec', 'f:replicas']]])
  const show = (object: KubeObject): Scale => scaleOf(object, form)
  return {
    rules: { table: scaleTable() },
    get: async (context, name, resourceVersion) => show(await store.get(context, name, resourceVersion)),
    update: async (context, name, info, validation) => {
      const { object } = await store.update(
        context,
        name,
        {
          ...(info.preconditions === undefined ? {} : { preconditions: info.preconditions }),
          updatedObject: async (existing) => {
            const parent: ReplicaSet = structuredClone(existing)
            const metadata = metadataOf(parent)
            const managers = new ScaleHandler(metadata.managedFields, apiVersion, paths)
            const old = show(parent)
            setManagers(old, managers.toSubresource())
            const scale: Scale = await info.updatedObject(old)
            const wanted = scale.spec?.replicas ?? 0
            const errors = nonnegative(wanted, REPLICAS)
            if (errors.length > 0) throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, name, errors)
            const { uid = '', resourceVersion, managedFields } = metadataOf(scale)
            if (uid !== '' && uid !== metadata.uid) {
              const { group, resource } = store.groupResource
              throw newConflict(
                { group, resource: `${resource}/scale` },
                name,
                `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
              )
            }
            parent.spec = { ...parent.spec, replicas: wanted }
            if (resourceVersion === undefined) delete metadata.resourceVersion
            else metadata.resourceVersion = resourceVersion
            setManagers(parent, managers.toParent(managedFields))
            return parent
          },
        },
        {
          create: (created) => validation.create(show(created)),
          update: (updated, old) => validation.update(show(updated), show(old)),
        },
      )
      return { object: show(object), created: false }
    },
  }
}

const row = (form: SelectorForm): HandlerRow => ({
  make: ({ store, apiVersion }) => scaleEndpoint(store, apiVersion, form),
})

/** The scale of kinds whose spec.selector is a LabelSelector. */
export const scaleRow = row('selector')
/** The scale of kinds whose spec.selector is a plain map of labels. */
export const labelsScaleRow = row('labels')
