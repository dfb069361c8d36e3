/**
 * Thread: any. An object on its way into shared memory, made by whoever understood it: the pool worker that wrote
 * it, or the owner when the object came from elsewhere. It lacks only its revision, which the commit decides.
 */
export interface RecordDraft {
  readonly uid: string
  /** name, value, name, value, …; names in ascending order. */
  readonly labels: readonly string[]
  /** The same for the fields that selectors may name (metadata.name, spec.nodeName, …). */
  readonly fields: readonly string[]
  /** The JSON that a client gets, less the revision: `"resourceVersion":""` with nothing between the quotes. */
  readonly body: Uint8Array
  /** Where in `body` the digits of the revision go. */
  readonly revisionOffset: number
}
