/**
 * Thread: main. Refuses request heads that two servers may understand in two ways (request smuggling), as Go's server
 * does.
 */
import type { RequestHead } from './request-head.js'

/**
 * The reason for which a request is refused with 400 before anything else is done with it; undefined when its head is
 * sound.
 */
export function headProblem(head: RequestHead): string | undefined {
  // A header that was sent twice comes joined by a comma, which no valid value of these two headers contains.
  if (head.header('host').includes(',')) return 'too many Host headers'
  const encoding = head.header('transfer-encoding')
  if (encoding !== '' && encoding.toLowerCase() !== 'chunked') return 'unsupported transfer encoding'
  return undefined
}
