/** Thread: main. Where a command of this program writes, and how it hears that its user has had enough. */
export interface CommandOutput {
  readonly out: (text: string) => void
  readonly error: (text: string) => void
  /** Calls back when the user interrupts the command. */
  readonly onInterrupt: (listener: () => void) => void
}
