/** Thread: any. The objects that a pod or a volume names, and that its node therefore may read. */

/** The key of an object: `secret/namespace/name`, and so on for the other kinds. */
export type ObjectKey = string
export const objectKey = (kind: string, namespace: string, name: string): ObjectKey => `${kind}/${namespace}/${name}`

type Named = { readonly name?: string; readonly namespace?: string } | null | undefined
type Maybe<T> = T | null | undefined
type List<T> = Maybe<readonly T[]>

interface EnvSource {
  readonly secretKeyRef?: Named
  readonly configMapKeyRef?: Named
}

interface Container {
  readonly env?: List<{ readonly valueFrom?: Maybe<EnvSource> }>
  readonly envFrom?: List<{ readonly secretRef?: Named; readonly configMapRef?: Named }>
}

/** The sources of volumes that name secrets, in pods and in PersistentVolumes. */
interface SecretSources {
  readonly azureFile?: Maybe<{ readonly secretName?: string; readonly secretNamespace?: string }>
  readonly cephfs?: Maybe<{ readonly secretRef?: Named }>
  readonly cinder?: Maybe<{ readonly secretRef?: Named }>
  readonly flexVolume?: Maybe<{ readonly secretRef?: Named }>
  readonly rbd?: Maybe<{ readonly secretRef?: Named }>
  readonly scaleIO?: Maybe<{ readonly secretRef?: Named }>
  readonly iscsi?: Maybe<{ readonly secretRef?: Named }>
  readonly storageos?: Maybe<{ readonly secretRef?: Named }>
}

interface PodVolume extends SecretSources {
  readonly name?: string
  readonly secret?: Maybe<{ readonly secretName?: string }>
  readonly configMap?: Named
  readonly projected?: Maybe<{ readonly sources?: List<{ readonly secret?: Named; readonly configMap?: Named }> }>
  readonly persistentVolumeClaim?: Maybe<{ readonly claimName?: string }>
  readonly ephemeral?: unknown
  readonly csi?: Maybe<{ readonly nodePublishSecretRef?: Named }>
}

export interface RawPod {
  readonly metadata?: {
    readonly name?: string
    readonly namespace?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: Maybe<{
    readonly nodeName?: string
    readonly serviceAccountName?: string
    readonly imagePullSecrets?: List<Named>
    readonly initContainers?: List<Container>
    readonly containers?: List<Container>
    readonly ephemeralContainers?: List<Container>
    readonly volumes?: List<PodVolume>
    readonly resourceClaims?: List<{ readonly name?: string; readonly resourceClaimName?: string }>
  }>
  readonly status?: Maybe<{
    readonly resourceClaimStatuses?: List<{ readonly name?: string; readonly resourceClaimName?: string }>
    readonly extendedResourceClaimStatus?: Maybe<{ readonly resourceClaimName?: string }>
  }>
}

export interface RawVolume {
  readonly metadata?: { readonly name?: string }
  readonly spec?: Maybe<
    SecretSources & {
      readonly claimRef?: Named
      readonly csi?: Maybe<{
        readonly nodeStageSecretRef?: Named
        readonly nodePublishSecretRef?: Named
        readonly nodeExpandSecretRef?: Named
      }>
    }
  >
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

function* namedIn(sources: SecretSources): Generator<Named> {
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos } = sources
  if (azureFile?.secretName) yield { name: azureFile.secretName, namespace: azureFile.secretNamespace ?? '' }
  for (const source of [cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos]) yield source?.secretRef
}

/** A mirror pod gives its node nothing: a node could write one to itself. */
export function podReferences(pod: RawPod): Set<ObjectKey> {
  const found = new Set<ObjectKey>()
  const { metadata = {}, spec, status } = pod
  if (metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return found
  const namespace = metadata.namespace ?? ''
  const add = (kind: string, name: string | undefined): void => {
    if (name !== undefined && name !== '') found.add(objectKey(kind, namespace, name))
  }
  add('serviceaccount', spec?.serviceAccountName)
  for (const secret of spec?.imagePullSecrets ?? []) add('secret', secret?.name)
  for (const list of [spec?.initContainers, spec?.containers, spec?.ephemeralContainers])
    for (const container of list ?? []) addContainer(container, add)
  for (const volume of spec?.volumes ?? []) addVolume(volume, metadata.name ?? '', add)
  const statuses = new Map((status?.resourceClaimStatuses ?? []).map((one) => [one.name, one.resourceClaimName]))
  for (const claim of spec?.resourceClaims ?? [])
    add('resourceclaim', claim.resourceClaimName ?? statuses.get(claim.name))
  add('resourceclaim', status?.extendedResourceClaimStatus?.resourceClaimName)
  return found
}

type Add = (kind: string, name: string | undefined) => void

function addContainer({ env, envFrom }: Container, add: Add): void {
  for (const { valueFrom } of env ?? []) {
    add('secret', valueFrom?.secretKeyRef?.name)
    add('configmap', valueFrom?.configMapKeyRef?.name)
  }
  for (const { secretRef, configMapRef } of envFrom ?? []) {
    add('secret', secretRef?.name)
    add('configmap', configMapRef?.name)
  }
}

function addVolume(volume: PodVolume, podName: string, add: Add): void {
  // What a pod names is in its own namespace.
  for (const secret of namedIn(volume)) add('secret', secret?.name)
  add('secret', volume.secret?.secretName)
  add('secret', volume.csi?.nodePublishSecretRef?.name)
  add('configmap', volume.configMap?.name)
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    add('secret', secret?.name)
    add('configmap', configMap?.name)
  }
  if (volume.persistentVolumeClaim) add('persistentvolumeclaim', volume.persistentVolumeClaim.claimName)
  else if (volume.ephemeral) add('persistentvolumeclaim', `${podName}-${volume.name ?? ''}`)
}

/** The claim that a volume is bound to, and the secrets that whoever mounts it needs. */
export function volumeReferences({ spec }: RawVolume): { claim: ObjectKey; secrets: Set<ObjectKey> } | undefined {
  const claim = spec?.claimRef
  if (!claim?.name) return undefined
  const { namespace = '' } = claim
  const secrets = new Set<ObjectKey>()
  const { csi } = spec ?? {}
  const named = [...namedIn(spec ?? {}), csi?.nodeStageSecretRef, csi?.nodePublishSecretRef, csi?.nodeExpandSecretRef]
  for (const secret of named) {
    if (secret?.name) secrets.add(objectKey('secret', secret.namespace || namespace, secret.name))
  }
  return { claim: objectKey('persistentvolumeclaim', namespace, claim.name), secrets }
}
