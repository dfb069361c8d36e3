/** Thread: main. Heads that two servers may understand in two ways are refused, as Go's server does. */
import type { RequestHead } from './request-head.js'

/** Why a request is refused with 400 before anybody looks at it; undefined: nothing is wrong. */
export function headProblem(head: RequestHead): string | undefined {
  // Headers that are there twice come joined by a comma, which neither of these has.
  if (head.header('host').includes(',')) return 'too many Host headers'
  const encoding = head.header('transfer-encoding')
  if (encoding !== '' && encoding.toLowerCase() !== 'chunked') return 'unsupported transfer encoding'
  return undefined
}
