/** Whether work grows with its size or faster: twice as much may take up to three times as long. */

const TRIES = 12
/** Below it the clock and the collector are what is measured. */
const NOTICED_MS = 8

/** The processor time of the work: what others do on the machine meanwhile does not count. */
function timeOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e3
}

/** `prepare` makes the input, which is not measured. */
export function isLinear<T>(size: number, prepare: (size: number) => T, work: (input: T) => unknown): boolean {
  const whole = prepare(2 * size)
  const half = prepare(size)
  // The least of several tries is nearest to what the work itself takes.
  let [one, two] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let i = 0; i < TRIES; i++) {
    one = Math.min(
      one,
      timeOf(() => work(half)),
    )
    two = Math.min(
      two,
      timeOf(() => work(whole)),
    )
    if (two < NOTICED_MS || two < 3 * one) return true
  }
  return false
}
