/**
 * Thread: main. Watch events as bytes: one JSON document a line, or protobuf messages with their length before them.
 */
import type { JsonObject } from '../../api/object.js'
import { encodeBuiltin } from '../../api/protobuf/builtin.js'
import { watchFrame } from '../../api/protobuf/envelope.js'
import type { Status } from '../../api/status.js'
import { copyBytes } from '../../cacher/memory/shared-copier.js'
import type { RecordView } from '../../cacher/memory/shared-memory.js'
import type { EventType } from '../../cacher/read/visible-event.js'
import type { StreamFiller } from '../http/response-stream.js'
import type { ConversionItem } from './converter.js'

export type FrameType = EventType | 'BOOKMARK' | 'ERROR'

/** How the events of a watch are written one after another. */
export interface WatchFraming {
  readonly contentType: string
  /** Bytes that bring the head of the answer on its way while there is no event: clients wait for it. */
  readonly filler: StreamFiller
  frame(type: FrameType, object: Uint8Array): Uint8Array
  error(status: Status): Uint8Array
}

const HEADS: Readonly<Record<FrameType, Uint8Array>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
  ERROR: Buffer.from('{"type":"ERROR","object":'),
}
const TAIL = Buffer.from('}\n')

export function frame(type: FrameType, object: Uint8Array): Buffer {
  const head = HEADS[type]
  const bytes = Buffer.allocUnsafe(head.byteLength + object.byteLength + TAIL.byteLength)
  bytes.set(head)
  copyBytes(object, bytes, head.byteLength)
  bytes.set(TAIL, head.byteLength + object.byteLength)
  return bytes
}

export const JSON_FRAMING: WatchFraming = {
  contentType: 'application/json',
  // The filler is a space and not a new line, because some clients take an empty line for a broken event.
  filler: { bytes: Buffer.from(' '), place: 'between' },
  frame,
  error: (status) => frame('ERROR', Buffer.from(JSON.stringify(status))),
}

export const PROTOBUF_FRAMING: WatchFraming = {
  contentType: 'application/vnd.kubernetes.protobuf;stream=watch',
  // The filler is the highest of the four bytes of a frame's length, which is 0 in every frame under 16 MiB.
  filler: { bytes: Buffer.from([0]), place: 'ahead' },
  frame: watchFrame,
  error: (status) => watchFrame('ERROR', encodeBuiltin(status as unknown as JsonObject)),
}

/**
 * The body of an event as its watchers see it: an object that only left their sight carries the revision at which it
 * did.
 */
export const visibleBody = (record: RecordView, revision: number): Uint8Array =>
  record.modRevision === revision ? record.body() : withRevision(record, revision)

/**
 * The same body, copied for conversion. The item's id names the object, its revision, and (by `-`) whether the body is
 * the state before the event.
 */
export function eventItem(record: RecordView, revision: number): ConversionItem {
  const id = `${record.key}@${revision}${record.modRevision === revision ? '' : '-'}`
  return { id, body: Buffer.from(visibleBody(record, revision)) }
}

/** An object of the initial state, for conversion. */
export const recordItem = (record: RecordView): ConversionItem => ({
  id: `${record.key}@${record.modRevision}`,
  body: record.body(),
})

function withRevision(record: RecordView, revision: number): Uint8Array {
  const body = record.body()
  const digits = Buffer.from(String(revision))
  const oldLength = String(record.modRevision).length
  const at = record.revisionOffset
  const bytes = Buffer.allocUnsafe(body.byteLength - oldLength + digits.byteLength)
  copyBytes(body.subarray(0, at), bytes, 0)
  bytes.set(digits, at)
  copyBytes(body.subarray(at + oldLength), bytes, at + digits.byteLength)
  return bytes
}
