/** Thread: any. An object encoded for shared memory: its JSON with a place for the revision, and what selectors read. */
import type { JsonObject, KubeObject } from '../object.js'
import type { StructSchema } from '../schema.js'
import { type CutObject, cutUntyped, encodeText } from './encode.js'
import { type FieldSpec, fieldsOf, labelPairs } from './field-spec.js'
import type { ScannedRecord } from './record-scan.js'
import { planOf } from './type-plan.js'

/** The JSON of an object, printed once for memory, for storage and for the answer: the digits of its revision go between the two. */
export interface PrintedObject {
  readonly head: string
  readonly tail: string
}

const MEMBER = '"resourceVersion":"'
/** Printed where the revision goes. Within a string its quotes would be escaped, so it is found where it was put. */
const MARK = '\u0000'
const PRINTED_MARK = `${MEMBER}\\u0000"`
const ESCAPED_MARK_LENGTH = '\\u0000'.length

/** A resourceVersion that the object may have is no part of what is printed; the object itself stays as it is. */
export function printObject(object: KubeObject, schema: StructSchema): PrintedObject {
  // Types that are printed by key have annotations before the revision, and those may hold anything: no mark is looked for.
  if (planOf(schema).sorted) return printedAround(cutUntyped(object as JsonObject, 'resourceVersion'))
  const text = encodeText({ ...object, metadata: { ...object.metadata, resourceVersion: MARK } }, schema)
  const at = text.indexOf(PRINTED_MARK) + MEMBER.length
  return { head: text.slice(0, at), tail: text.slice(at + ESCAPED_MARK_LENGTH) }
}

/** Of an object that is printed by key. */
export const printedAround = ({ before, after }: CutObject): PrintedObject => ({
  head: `${before}${before.endsWith('{') ? '' : ','}${MEMBER}`,
  tail: `"${after.startsWith('}') ? '' : ','}${after}`,
})

/** The same without a revision, as it is stored. */
export const withoutRevision = ({ before, after }: CutObject): string =>
  before.endsWith('{') || after.startsWith('}') ? before + after : `${before},${after}`

/** The draft of an object that is printed already. */
export function draftOfPrinted(
  { metadata, ...rest }: KubeObject,
  { head, tail }: PrintedObject,
  specs: readonly FieldSpec[],
): ScannedRecord {
  const body = Buffer.from(head + tail)
  const ascii = body.length === head.length + tail.length
  return {
    uid: metadata?.uid ?? '',
    labels: labelPairs(metadata?.labels),
    fields: fieldsOf({ metadata, ...rest } as JsonObject, specs),
    body,
    revisionOffset: ascii ? head.length : Buffer.byteLength(head),
  }
}

export function encodeDraft(object: KubeObject, schema: StructSchema, specs: readonly FieldSpec[]): ScannedRecord {
  return draftOfPrinted(object, printObject(object, schema), specs)
}
