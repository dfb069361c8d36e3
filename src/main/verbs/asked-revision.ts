/**
 * Thread: main. Reads the resourceVersion that a client sends: a 64-bit number, or else an error in Kubernetes' words.
 */
import { newBadRequest, newUnknown } from '../../api/status.js'

const DECIMAL = /^\d+$/
const MAX = (1n << 64n) - 1n

/** What is wrong with a resourceVersion, in Kubernetes' words; undefined when nothing is. */
export function revisionProblem(text: string): string | undefined {
  const why = DECIMAL.test(text)
    ? text.length < 20 || BigInt(text) <= MAX
      ? ''
      : 'value out of range'
    : 'invalid syntax'
  if (why === '') return undefined
  const quoted = JSON.stringify(text)
  return `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`
}

/** The number of a resourceVersion of GET or LIST, 0 for ''. Throws the 400 that a client is told. */
export function askedRevision(text: string): number {
  if (text === '') return 0
  const problem = revisionProblem(text)
  if (problem !== undefined) throw newBadRequest(`invalid resource version: ${problem}`)
  return Number(text)
}

/** The number of a resourceVersion of a watch, which Kubernetes refuses in another way. */
export function watchedRevision(text: string): number {
  if (text === '') return 0
  const problem = revisionProblem(text)
  if (problem !== undefined) throw newUnknown(problem)
  return Number(text)
}
