/** Thread: any. Files of one volume that would be written one over the other. */
import type { Volume, VolumeProjection } from '../../../api/generated/kinds/core.v1.js'
import { trimEndOf } from '../../../lib/trim-end.js'

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

/**
 * Each path with the nearest one above or equal to it. Sorted by their steps, what lies below a path follows it, so one walk with
 * a stack of the paths that are still open finds them all; a pod may name tens of thousands.
 */
function overlaps(paths: readonly string[]): string[] {
  const trimmed = paths.map((path) => trimEndOf(path, '/')).filter((path) => path !== '')
  const keys = trimmed.map((path, i) => ({ path, i, key: `${path.replaceAll('/', '\0')}\0` }))
  keys.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.i - b.i))
  const open: typeof keys = []
  const found: { i: number; text: string }[] = []
  for (const entry of keys) {
    while (open.length > 0 && !entry.key.startsWith(open.at(-1)!.key)) open.pop()
    const above = open.at(-1)
    if (above !== undefined) {
      const [later, earlier] = entry.i > above.i ? [entry, above] : [above, entry]
      found.push({ i: later.i, text: `${JSON.stringify(later.path)} with ${JSON.stringify(earlier.path)}` })
    }
    open.push(entry)
  }
  return found.sort((a, b) => a.i - b.i).map(({ text }) => text)
}
