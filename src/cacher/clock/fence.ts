/** Thread: any. The check that a linearizable read from memory has to pass first. */
export interface Fence {
  /**
   * True, at once or later, when memory holds everything that had been acknowledged to anybody before the call. False
   * when memory could not be brought there in time, and the storage is to be read. Never rejects.
   */
  pass(): true | Promise<boolean>
}
