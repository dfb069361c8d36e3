/** Thread: main. How V8 collects garbage in all threads of the process; set before any is started. */
import { setFlagsFromString } from 'node:v8'

/**
 * Up to so many cores, a thread collects its young objects alone. V8's helpers wake up for each of some thirty collections a second and
 * thread, and take the cores from the threads that work: on two cores a creation cost 7 to 9 % more processor with them (ADR 41).
 */
const FEW_CORES = 4

export function setCollector(cores: number): void {
  if (cores <= FEW_CORES) setFlagsFromString('--no-parallel-scavenge')
}
