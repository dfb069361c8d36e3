/** Thread: any. What a linearizable read from memory has to ask first. */
export interface Fence {
  /**
   * True (at once) or a promise of true: memory holds everything that had been acknowledged to anybody before the call.
   * False: it could not be brought there in time; read the storage. Never rejects.
   */
  pass(): true | Promise<boolean>
}
