/** Thread: pool. Of several classes that are marked as the default, the one that counts. */
import { type KubeObject, metadataOf } from '../../api/object.js'

/** The newest default class; of those made in the same second, the first by name. */
export function newestDefault<K extends KubeObject>(
  classes: readonly K[],
  annotation: string,
  ...older: string[]
): K | undefined {
  return classes
    .filter((one) => [annotation, ...older].some((key) => metadataOf(one).annotations?.[key] === 'true'))
    .sort((a, b) => {
      const [x, y] = [metadataOf(a), metadataOf(b)]
      const byAge = Date.parse(y.creationTimestamp ?? '') - Date.parse(x.creationTimestamp ?? '')
      return byAge !== 0 && !Number.isNaN(byAge) ? byAge : (x.name ?? '') < (y.name ?? '') ? -1 : 1
    })[0]
}
