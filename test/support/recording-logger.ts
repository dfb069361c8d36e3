import type { Logger } from '#keelson/lib/logger.js'

export interface Line {
  readonly level: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** A logger whose lines a test reads. */
export function recordingLogger(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields: { ...fields }, message })
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  }
  return { logger, lines }
}
