/** Thread: main. How long a watch lasts. */
import type { ListOptions } from '../../api/list-options.js'
import { jitter } from '../../lib/jitter.js'
import type { ReadContext } from './read-context.js'

/** The longest time that Node's timers know; they fire at once after more. Nearly 25 days. */
const LONGEST_MS = 2 ** 31 - 1

/** As long as the client says; 0 is as good as not said, and then chance decides, so that watches do not end together. */
export function watchTimeoutMs(
  { timeoutSeconds }: Pick<ListOptions, 'timeoutSeconds'>,
  { minRequestTimeoutSeconds, random }: Pick<ReadContext, 'minRequestTimeoutSeconds' | 'random'>,
): number {
  const given = timeoutSeconds === undefined || timeoutSeconds === 0 ? undefined : timeoutSeconds
  return Math.min((given ?? jitter(minRequestTimeoutSeconds, 1, random)) * 1000, LONGEST_MS)
}
