/** Thread: any. The objects of the API that a pod refers to. */
import type { PodSpec } from '../../api/generated/kinds/core.v1.js'
import { allContainers } from './pod.js'

/** Sources of volumes with a reference to a secret inside, by the field that has it. */
const SECRET_FIELDS = ['secretRef', 'nodePublishSecretRef'] as const

export function podSecretNames(spec: PodSpec): string[] {
  const names: (string | undefined)[] = (spec.imagePullSecrets ?? []).map(({ name }) => name)
  for (const container of allContainers(spec)) {
    for (const { valueFrom } of container.env ?? []) names.push(valueFrom?.secretKeyRef?.name)
    for (const { secretRef } of container.envFrom ?? []) names.push(secretRef?.name)
  }
  for (const volume of spec.volumes ?? []) {
    names.push(volume.secret?.secretName)
    names.push(volume.azureFile?.secretName)
    for (const source of Object.values(volume)) {
      if (typeof source !== 'object' || source === null) continue
      for (const field of SECRET_FIELDS) names.push((source as Record<string, { name?: string }>)[field]?.name)
    }
    for (const { secret } of volume.projected?.sources ?? []) names.push(secret?.name)
  }
  return names.filter((name): name is string => name !== undefined && name !== '')
}

/** The first thing that a pod refers to, in words; undefined for a pod that refers to nothing. */
export function firstReference(spec: PodSpec): string | undefined {
  if ((spec.serviceAccountName ?? '') !== '') return 'serviceaccounts'
  if (podSecretNames(spec).length > 0) return 'secrets'
  const containers = allContainers(spec)
  const takesConfigMap = containers.some(
    ({ env = [], envFrom = [] }) =>
      env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined) ||
      envFrom.some(({ configMapRef }) => configMapRef !== undefined),
  )
  if (takesConfigMap) return 'configmaps'
  for (const volume of spec.volumes ?? []) {
    if (volume.configMap !== undefined) return 'configmaps'
    if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return 'persistentvolumeclaims'
    if (volume.csi !== undefined) return 'csidrivers'
    for (const source of volume.projected?.sources ?? []) {
      if (source.configMap !== undefined) return 'configmaps'
      if (source.serviceAccountToken !== undefined) return 'serviceaccounts'
      if (source.clusterTrustBundle !== undefined) return 'clustertrustbundles'
      if (source.podCertificate !== undefined) return 'podcertificates'
    }
  }
  return (spec.resourceClaims ?? []).length > 0 ? 'resourceclaims' : undefined
}
