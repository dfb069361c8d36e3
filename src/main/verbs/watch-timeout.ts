/** Thread: main. How long a watch lasts. */
import type { ListOptions } from '../../api/list-options.js'
import { jitter } from '../../lib/jitter.js'
import type { ReadContext } from './read-context.js'

/** The longest time of Node's timers, nearly 25 days; after more they fire at once. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * A watch lasts as long as the client says. When the client says nothing, or 0, chance decides, so that watches do not
 * end together.
 */
export function watchTimeoutMs(
  { timeoutSeconds }: Pick<ListOptions, 'timeoutSeconds'>,
  { minRequestTimeoutSeconds, random }: Pick<ReadContext, 'minRequestTimeoutSeconds' | 'random'>,
): number {
  const given = timeoutSeconds === undefined || timeoutSeconds === 0 ? undefined : timeoutSeconds
  return Math.min((given ?? jitter(minRequestTimeoutSeconds, 1, random)) * 1000, LONGEST_MS)
}
