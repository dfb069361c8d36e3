/** Thread: audit. Events as lines of a file or of standard output. */
import type { AuditBackend } from './audit-backend.js'
import { eventText, type ReadEvent } from './event-text.js'
import { legacyText } from './legacy-text.js'
import type { LogFile } from './log-file.js'

export class LogBackend implements AuditBackend {
  readonly name = 'log'
  readonly #file: LogFile
  readonly #format: 'json' | 'legacy'

  constructor(file: LogFile, format: 'json' | 'legacy') {
    this.#file = file
    this.#format = format
  }

  write(events: readonly ReadEvent[]): void {
    const lines = events.map((read) => (this.#format === 'json' ? eventText(read) : legacyText(read.event)))
    if (lines.length > 0) this.#file.write(`${lines.join('\n')}\n`)
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
