/** Thread: any. What KMS providers tell of their data keys. */
export interface KeyCounter {
  generated(durationMs: number): void
  failed(): void
  /** A data key was not known, and the plugin asked. */
  missed(): void
}

const nothing = (): void => undefined
export const noKeyCounter: KeyCounter = { generated: nothing, failed: nothing, missed: nothing }
