/** Thread: any. The shape of a persistent volume as far as its rules look at it. */
import type { PersistentVolumeSpec } from '../../../api/generated/kinds/core.v1.js'

/** Any volume source: its fields by name. */
export type VolumeSource = Record<string, unknown>

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
