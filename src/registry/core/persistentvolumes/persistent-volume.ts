/** Thread: any. The shape of a persistent volume as far as its rules look at it. */
import type { KubeObject } from '../../../api/object.js'
import type { List } from '../../../api/validation/checks.js'
import type { NodeSelector } from '../../../api/validation/node-selectors.js'
import type { ResourceList } from '../../../api/validation/quantities.js'

/** Any volume source: its fields by name. */
export type VolumeSource = Record<string, unknown>

export interface PersistentVolumeSpec {
  capacity?: ResourceList
  accessModes?: List<string>
  persistentVolumeReclaimPolicy?: string
  storageClassName?: string
  volumeMode?: string
  volumeAttributesClassName?: string
  claimRef?: { namespace?: string; name?: string }
  nodeAffinity?: { required?: NodeSelector }
  [source: string]: unknown
}

export interface PersistentVolume extends KubeObject {
  spec?: PersistentVolumeSpec
  status?: { phase?: string; reason?: string; message?: string; lastPhaseTransitionTime?: string }
}

/** Everything in the specification that is not one of its own fields is where the data is. */
export const SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const
export type SourceName = (typeof SOURCES)[number]

export const sourceOf = (spec: PersistentVolumeSpec, name: SourceName): VolumeSource | undefined =>
  (spec[name] ?? undefined) as VolumeSource | undefined
