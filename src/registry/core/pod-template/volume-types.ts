/** Thread: any. The shape of volumes as far as their rules look at it. */
import type { LabelSelectorObject } from '../../../api/label-selector-object.js'
import type { ObjectMeta } from '../../../api/object.js'

export type ResourceList = Record<string, string>

export interface ObjectFieldSelector {
  apiVersion?: string
  fieldPath?: string
}

export interface ResourceFieldSelector {
  containerName?: string
  resource?: string
  divisor?: string
}

export interface KeyToPath {
  key?: string
  path?: string
  mode?: number
}

export interface DownwardAPIVolumeFile {
  path?: string
  fieldRef?: ObjectFieldSelector
  resourceFieldRef?: ResourceFieldSelector
  mode?: number
}

export interface ProjectionSource {
  secret?: { name?: string; items?: KeyToPath[] }
  configMap?: { name?: string; items?: KeyToPath[] }
  downwardAPI?: { items?: DownwardAPIVolumeFile[] }
  serviceAccountToken?: { audience?: string; expirationSeconds?: number; path?: string }
  clusterTrustBundle?: { name?: string; signerName?: string; labelSelector?: LabelSelectorObject; path?: string }
  podCertificate?: {
    signerName?: string
    keyType?: string
    maxExpirationSeconds?: number
    credentialBundlePath?: string
    keyPath?: string
    certificateChainPath?: string
  }
}

export interface PersistentVolumeClaimSpec {
  accessModes?: string[]
  selector?: LabelSelectorObject
  resources?: { requests?: ResourceList; limits?: ResourceList }
  storageClassName?: string
  volumeMode?: string
  volumeAttributesClassName?: string
  dataSource?: DataSource
  dataSourceRef?: DataSource & { namespace?: string }
}

export interface DataSource {
  apiGroup?: string | null
  kind?: string
  name?: string
}

export interface VolumeSource {
  emptyDir?: { medium?: string; sizeLimit?: string }
  hostPath?: { path?: string; type?: string }
  gitRepo?: { repository?: string; directory?: string }
  gcePersistentDisk?: { pdName?: string; partition?: number }
  awsElasticBlockStore?: { volumeID?: string; partition?: number }
  secret?: { secretName?: string; defaultMode?: number; items?: KeyToPath[] }
  nfs?: { server?: string; path?: string }
  iscsi?: {
    targetPortal?: string
    iqn?: string
    lun?: number
    chapAuthDiscovery?: boolean
    chapAuthSession?: boolean
    secretRef?: { name?: string }
    initiatorName?: string
    iscsiInterface?: string
  }
  glusterfs?: { endpoints?: string; path?: string }
  flocker?: { datasetName?: string; datasetUUID?: string }
  persistentVolumeClaim?: { claimName?: string }
  rbd?: { monitors?: string[] | null; image?: string; pool?: string; user?: string; keyring?: string }
  cinder?: { volumeID?: string; secretRef?: { name?: string } }
  cephfs?: { monitors?: string[] | null }
  quobyte?: { registry?: string; tenant?: string; volume?: string }
  downwardAPI?: { defaultMode?: number; items?: DownwardAPIVolumeFile[] }
  fc?: { targetWWNs?: string[]; wwids?: string[]; lun?: number }
  flexVolume?: { driver?: string; options?: Record<string, string> }
  configMap?: { name?: string; defaultMode?: number; items?: KeyToPath[] }
  azureFile?: { secretName?: string; shareName?: string }
  vsphereVolume?: { volumePath?: string }
  photonPersistentDisk?: { pdID?: string }
  portworxVolume?: { volumeID?: string }
  azureDisk?: {
    diskName?: string
    diskURI?: string
    cachingMode?: string
    kind?: string
    fsType?: string
    readOnly?: boolean
  }
  storageos?: { volumeName?: string; volumeNamespace?: string; secretRef?: { name?: string } }
  projected?: { defaultMode?: number; sources?: ProjectionSource[] | null }
  scaleIO?: { gateway?: string; system?: string; volumeName?: string; storageMode?: string; fsType?: string }
  csi?: { driver?: string; nodePublishSecretRef?: { name?: string } }
  ephemeral?: { volumeClaimTemplate?: { metadata?: ObjectMeta; spec?: PersistentVolumeClaimSpec } }
  image?: { reference?: string; pullPolicy?: string }
}

export interface Volume extends VolumeSource {
  name?: string
}
