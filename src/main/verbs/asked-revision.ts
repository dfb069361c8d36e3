/** Thread: main. The resourceVersion that a client sends: a 64-bit number, or the reason why it is none. */

const DECIMAL = /^\d+$/
const MAX = (1n << 64n) - 1n

/** What is wrong with it, in Kubernetes' words; undefined when nothing is. */
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
