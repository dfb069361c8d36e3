/** Thread: any. A full garbage collection of the calling thread, for memory that V8 does not count and so never collects for. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { once } from './once.js'

/**
 * The function that V8 gives to contexts made while this flag is set. The flag is the whole process's and stays: another thread may
 * be about to make its context.
 */
const collector = once((): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})

export const collectGarbage = (): void => collector()()
