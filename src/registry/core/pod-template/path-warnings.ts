/** Thread: any. Files of one volume that would be written one over the other. */
import type { Volume, VolumeProjection } from '../../../api/generated/kinds/core.v1.js'

export function overlappingPathWarnings(volumes: readonly Volume[]): string[] {
  return volumes.flatMap((volume) => {
    const lists = [volume.configMap?.items, volume.secret?.items, volume.downwardAPI?.items]
    const plain = lists.flatMap((items) => overlaps((items ?? []).map(({ path = '' }) => path)))
    const sources = volume.projected?.sources ?? []
    const empty = sources.filter((source) => Object.keys(source).length === 0)
    const name = JSON.stringify(volume.name ?? '')
    return [
      ...[...plain, ...overlaps(sources.flatMap(projectedPaths))].map(
        (text) => `volume ${name}: overlapping paths: ${text}`,
      ),
      ...empty.map(() => `volume ${name} (Projected) has no sources provided`),
    ]
  })
}

function projectedPaths(source: VolumeProjection): string[] {
  const items = source.configMap?.items ?? source.secret?.items ?? source.downwardAPI?.items
  if (items !== undefined) return items.map(({ path = '' }) => path)
  if (source.serviceAccountToken !== undefined) return [source.serviceAccountToken.path ?? '']
  if (source.clusterTrustBundle !== undefined) return [source.clusterTrustBundle.path ?? '']
  const { certificateChainPath = '', keyPath = '', credentialBundlePath = '' } = source.podCertificate ?? {}
  return [certificateChainPath, keyPath, credentialBundlePath].filter((path) => path !== '')
}

function overlaps(paths: readonly string[]): string[] {
  const trimmed = paths.map((path) => path.replace(/\/+$/, ''))
  return trimmed.flatMap((path, i) => {
    if (path === '') return []
    const before = trimmed.slice(0, i).filter((other) => other !== '')
    const hit = before.filter((other) => `${other}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${other}/`))
    return hit.map((other) => `${JSON.stringify(path)} with ${JSON.stringify(other)}`)
  })
}
