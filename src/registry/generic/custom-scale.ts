/** Thread: pool. The scale subresource of a custom resource, by the paths that its definition names. */
import type { Scale } from '../../api/generated/kinds/autoscaling.v1.js'
import { ScaleHandler } from '../../api/managed-fields/scale-handler.js'
import { deepCopy, type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import { newBadRequest, newInternalError } from '../../api/status.js'
import { type ScalePaths, setReplicas, valueAt } from '../../apiextensions/subresources/scale.js'
import type { EndpointHandler } from './endpoint-handler.js'
import type { RegistryStore } from './registry-store.js'
import type { HandlerRow } from './resource-rest.js'
import { scaleTable } from './scale.js'

/** The smallest int32: what replicas that are not there are shown as to whoever updates them. */
const NOT_SET = -2147483648

interface Shown {
  readonly scale: Scale
  readonly hasReplicas: boolean
}

function shownScale(object: KubeObject, paths: ScalePaths): Shown {
  const tree = object as JsonObject
  const number = (path: string): number | bigint | undefined => {
    const value = valueAt(tree, path)
    if (value === undefined || typeof value === 'bigint' || Number.isSafeInteger(value)) return value as number
    throw new Error(`${path} accessor error: ${JSON.stringify(value)} is no int64`)
  }
  const replicas = number(paths.specReplicasPath)
  const selector = paths.labelSelectorPath === undefined ? undefined : valueAt(tree, paths.labelSelectorPath)
  if (selector !== undefined && typeof selector !== 'string')
    throw new Error(`${paths.labelSelectorPath} accessor error: ${JSON.stringify(selector)} is no string`)
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object)
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp }
  for (const key of Object.keys(metadata) as (keyof typeof metadata)[])
    if (metadata[key] === undefined) delete metadata[key]
  return {
    hasReplicas: replicas !== undefined,
    scale: {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: metadata as NonNullable<Scale['metadata']>,
      spec: { replicas: Number(replicas ?? 0) },
      status: {
        replicas: Number(number(paths.statusReplicasPath) ?? 0),
        ...(selector === undefined || selector === '' ? {} : { selector }),
      },
    },
  }
}

export function customScaleRow(paths: ScalePaths): HandlerRow {
  return { make: ({ store, apiVersion }) => customScale(store, apiVersion, paths) }
}

function customScale(store: RegistryStore, apiVersion: string, paths: ScalePaths): EndpointHandler {
  const names = paths.specReplicasPath.replace(/^\./, '').split('.')
  const managedPaths = new Map([[apiVersion, names.map((name) => `f:${name}`)]])
  const show = (object: KubeObject): Scale => shownScale(object, paths).scale
  return {
    rules: { table: scaleTable({ type: 'date' }) },
    get: async (context, name, resourceVersion) => {
      const { scale, hasReplicas } = shownScale(await store.get(context, name, resourceVersion), paths)
      if (!hasReplicas) throw newInternalError(`the spec replicas field "${paths.specReplicasPath}" does not exist`)
      return scale
    },
    update: async (context, name, info, validation) => {
      const updatedObject = async (existing: KubeObject): Promise<KubeObject> => {
        const parent = deepCopy(existing)
        const metadata = metadataOf(parent)
        const managers = new ScaleHandler(metadata.managedFields, apiVersion, managedPaths)
        const { scale: old, hasReplicas } = shownScale(parent, paths)
        if (!hasReplicas) old.spec = { replicas: NOT_SET }
        const entries = managers.toSubresource()
        if (entries !== undefined) metadataOf(old).managedFields = entries
        const wanted: Scale = await info.updatedObject(old)
        const replicas = wanted.spec?.replicas ?? 0
        if (replicas === NOT_SET)
          throw newBadRequest(`the spec replicas field "${paths.specReplicasPath}" cannot be empty`)
        setReplicas(parent as JsonObject, paths.specReplicasPath, replicas)
        const { resourceVersion = '', managedFields } = metadataOf(wanted)
        if (resourceVersion !== '') metadata.resourceVersion = resourceVersion
        const next = managers.toParent(managedFields)
        if (next === undefined) delete metadata.managedFields
        else metadata.managedFields = next
        return parent
      }
      const { object } = await store.update(
        context,
        name,
        { ...(info.preconditions === undefined ? {} : { preconditions: info.preconditions }), updatedObject },
        {
          create: (created) => validation.create(show(created)),
          update: (updated, old) => validation.update(show(updated), show(old)),
        },
      )
      return { object: show(object), created: false }
    },
  }
}
