/** Thread: any. What KMS providers tell of their data keys. */
export interface KeyCounter {
  generated(durationMs: number): void
  failed(): void
  /** Counts a data key that was not known, so that the plugin was asked. */
  missed(): void
}

const nothing = (): void => undefined
export const noKeyCounter: KeyCounter = { generated: nothing, failed: nothing, missed: nothing }
