/**
 * Thread: main, or a front end's own. What brings the head of a relayed watch on its way while the other server has no event: its own
 * head comes at once, but uWebSockets.js sends none without a byte behind it, and clients wait for it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { RequestInfo } from '../../api/request-info.js'
import type { StreamFiller } from '../http/response-stream.js'
import { JSON_FRAMING, PROTOBUF_FRAMING } from '../verbs/watch-frames.js'

/** Once only: what is relayed comes in pieces that know nothing of frames, so a space may stand before the first one alone. */
const JSON_FILLER: StreamFiller = { bytes: JSON_FRAMING.filler.bytes, place: 'before' }

/** Undefined where nothing can be sent that means nothing. */
export function watchFiller(info: RequestInfo, headers: IncomingHttpHeaders): StreamFiller | undefined {
  if (info.verb !== 'watch' || (headers['content-encoding'] ?? 'identity') !== 'identity') return undefined
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  if (type.trim() === 'application/json') return JSON_FILLER
  const isFrames =
    type.trim() === 'application/vnd.kubernetes.protobuf' &&
    parameters.some((parameter) => parameter.trim() === 'stream=watch')
  return isFrames ? PROTOBUF_FRAMING.filler : undefined
}
