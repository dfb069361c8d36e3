/** Thread: any. The shape that rooms log through; the process's entry makes the real one with pino. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(bindings: object): Logger
}

const silent = (): void => undefined

/** A logger that says nothing, for tests and for callers that have none. */
export const nullLogger: Logger = { debug: silent, info: silent, warn: silent, error: silent, child: () => nullLogger }
