/** Whether work grows with its size or faster: twice as much may take up to three times as long. */

const TRIES = 6
/** Below it the clock and the collector are what is measured. */
const NOTICED_MS = 8

function timeOf(work: () => unknown): number {
  const started = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - started) / 1e6
}

/** `prepare` makes the input, which is not measured. */
export function isLinear<T>(size: number, prepare: (size: number) => T, work: (input: T) => unknown): boolean {
  const whole = prepare(2 * size)
  const half = prepare(size)
  for (let i = 0; i < TRIES; i++) {
    const [one, two] = [timeOf(() => work(half)), timeOf(() => work(whole))]
    if (two < NOTICED_MS || two < 3 * one) return true
  }
  return false
}
