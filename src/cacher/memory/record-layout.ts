/**
 * Thread: any. Where the parts of a record (record.fbs) lie. FlatBuffers leaves the order of the parts free; ours is
 * always the same and goes forward, so that the fixed parts are read without their vtable and the key, which searches
 * compare, lies in the first cache line:
 *
 *   0   offset of the table (24)
 *   4   vtable: its size, the table's size, the places of 8 fields
 *   24  table: way to the vtable, key, mod_revision, create_revision, uid, labels, fields, body, revision_offset
 *   68  key: length, bytes, NUL        then uid, labels, fields in the same form, 4-byte aligned; body last
 */
export const RECORD_KEY = 28
export const RECORD_MOD_REVISION = 32
export const RECORD_CREATE_REVISION = 40
export const RECORD_UID = 48
export const RECORD_LABELS = 52
export const RECORD_FIELDS = 56
export const RECORD_BODY = 60
export const RECORD_REVISION_OFFSET = 64
export const RECORD_KEY_LENGTH = 68
export const RECORD_KEY_BYTES = 72

const TABLE = 24
const VTABLE = 4
const VTABLE_ENTRIES = [
  20,
  RECORD_KEY_LENGTH - TABLE,
  RECORD_KEY - TABLE,
  RECORD_MOD_REVISION - TABLE,
  RECORD_CREATE_REVISION - TABLE,
  RECORD_UID - TABLE,
  RECORD_LABELS - TABLE,
  RECORD_FIELDS - TABLE,
  RECORD_BODY - TABLE,
  RECORD_REVISION_OFFSET - TABLE,
]

/** The first 28 bytes, which are the same in every record. */
export function recordPreamble(): Buffer {
  const preamble = Buffer.alloc(RECORD_KEY)
  preamble.writeUInt32LE(TABLE, 0)
  for (const [i, entry] of VTABLE_ENTRIES.entries()) preamble.writeUInt16LE(entry, VTABLE + 2 * i)
  preamble.writeInt32LE(TABLE - VTABLE, TABLE)
  return preamble
}
