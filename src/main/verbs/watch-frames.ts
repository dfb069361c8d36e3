/** Thread: main. Watch events as bytes: one JSON document a line, or protobuf messages with their length before them. */
import type { JsonObject } from '../../api/object.js'
import { encodeBuiltin } from '../../api/protobuf/builtin.js'
import { watchFrame } from '../../api/protobuf/envelope.js'
import type { Status } from '../../api/status.js'
import type { RecordView } from '../../cacher/memory/shared-memory.js'
import type { EventType } from '../../cacher/read/visible-event.js'
import type { StreamFiller } from '../http/response-stream.js'
import type { ConversionItem } from './converter.js'

export type FrameType = EventType | 'BOOKMARK' | 'ERROR'

/** How the events of a watch follow each other. */
export interface WatchFraming {
  readonly contentType: string
  /** Brings the head on its way while there is no event: clients wait for it. */
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
  bytes.set(object, head.byteLength)
  bytes.set(TAIL, head.byteLength + object.byteLength)
  return bytes
}

export const JSON_FRAMING: WatchFraming = {
  contentType: 'application/json',
  // Not a new line: some clients take an empty line for a broken event.
  filler: { bytes: Buffer.from(' '), place: 'between' },
  frame,
  error: (status) => frame('ERROR', Buffer.from(JSON.stringify(status))),
}

export const PROTOBUF_FRAMING: WatchFraming = {
  contentType: 'application/vnd.kubernetes.protobuf;stream=watch',
  // The highest of the four bytes of a length: 0 for every frame under 16 MiB.
  filler: { bytes: Buffer.from([0]), place: 'ahead' },
  frame: watchFrame,
  error: (status) => watchFrame('ERROR', encodeBuiltin(status as unknown as JsonObject)),
}

/** The object of an event as its watchers see it: one that only left their sight carries the revision at which it did. */
export const visibleBody = (record: RecordView, revision: number): Uint8Array =>
  record.modRevision === revision ? record.body() : withRevision(record, revision)

/** The same for conversion, copied: named by the object, its revision, and whether it is the state before. */
export function eventItem(record: RecordView, revision: number): ConversionItem {
  const id = `${record.key}@${revision}${record.modRevision === revision ? '' : '-'}`
  return { id, body: Buffer.from(visibleBody(record, revision)) }
}

/** An object of a state. */
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
  bytes.set(body.subarray(0, at))
  bytes.set(digits, at)
  bytes.set(body.subarray(at + oldLength), at + digits.byteLength)
  return bytes
}
