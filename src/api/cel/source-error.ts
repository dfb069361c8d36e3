/** Thread: any. What is wrong with an expression, and where: in the layout in which kube-apiserver reports it. */

export interface SourceError {
  readonly message: string
  /** In UTF-16 units; -1 when it is about the whole expression. */
  readonly at: number
}

/** How many errors of one expression are told. */
const MAX_ERRORS = 100
const MAX_SNIPPET_LENGTH = 16_384
const isWide = (character: string): boolean => character.charCodeAt(0) > 0x7f

function display({ message, at }: SourceError, source: string): string {
  if (at < 0) return `ERROR: <input>:-1:0: ${message}`
  const before = source.slice(0, at)
  const start = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  const end = source.indexOf('\n', start)
  const text = source.slice(start, end < 0 ? undefined : end)
  const prefix = [...source.slice(start, at)]
  const head = `ERROR: <input>:${line}:${prefix.length + 1}: ${message}`
  if (text.length > MAX_SNIPPET_LENGTH) return head
  const dots = prefix.map((one) => (isWide(one) ? '．' : '.')).join('')
  const pointer = isWide(source.slice(at, at + 1)) ? '＾' : '^'
  return `${head}\n | ${text.replaceAll('\t', ' ')}\n | ${dots}${pointer}`
}

export function displayErrors(errors: readonly SourceError[], source: string): string {
  const sorted = errors.toSorted((a, b) => a.at - b.at)
  const shown = sorted.slice(0, MAX_ERRORS).map((error) => display(error, source))
  if (sorted.length > MAX_ERRORS) shown.push(`${sorted.length - MAX_ERRORS} more errors were truncated`)
  return shown.join('\n')
}
