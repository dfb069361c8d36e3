const ROUNDS = 5000

/** Microseconds of this thread's CPU a call, the best of three. */
export function cpuTime(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < ROUNDS; i++) work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / ROUNDS)
  }
  return best
}
