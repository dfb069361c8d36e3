/** Thread: any. An object encoded for shared memory: its JSON with a place for the revision, and what selectors read. */
import type { JsonObject, KubeObject } from '../object.js'
import type { StructSchema } from '../schema.js'
import { encodeText } from './encode.js'
import { type FieldSpec, fieldsOf, labelPairs } from './field-spec.js'
import { recordDraft, type ScannedRecord } from './record-scan.js'
import { planOf } from './type-plan.js'

/** Printed where the revision goes. Within a string its quotes would be escaped, so it is found where it was put. */
const MARK = '\u0000'
const PRINTED_MARK = '"resourceVersion":"\\u0000"'
const VALUE_AT = '"resourceVersion":"'.length
const ESCAPED_MARK_LENGTH = '\\u0000'.length

/** The draft of an object. A resourceVersion that it may have is no part of it; the object itself stays as it is. */
export function encodeDraft(object: KubeObject, schema: StructSchema, specs: readonly FieldSpec[]): ScannedRecord {
  const marked = { ...object, metadata: { ...object.metadata, resourceVersion: MARK } }
  const text = encodeText(marked, schema)
  // Types that are printed by key have annotations before the revision, and those may hold anything.
  if (planOf(schema).sorted) return recordDraft(Buffer.from(text), specs)
  const at = text.indexOf(PRINTED_MARK) + VALUE_AT
  const head = text.slice(0, at)
  const tail = text.slice(at + ESCAPED_MARK_LENGTH)
  const body = Buffer.from(head + tail)
  const ascii = body.length === head.length + tail.length
  return {
    uid: object.metadata?.uid ?? '',
    labels: labelPairs(object.metadata?.labels),
    fields: fieldsOf(object as JsonObject, specs),
    body,
    revisionOffset: ascii ? at : Buffer.byteLength(head),
  }
}
