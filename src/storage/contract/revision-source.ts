/** Thread: any. A short way to ask a store how far it is. */
export interface RevisionSource {
  /**
   * The store's revision, with everything that was acknowledged before the call; undefined in a promise when there was no
   * answer, and undefined at once when nobody can be asked now. Never rejects.
   */
  ask(): Promise<number | undefined> | undefined
  close(): void
}
