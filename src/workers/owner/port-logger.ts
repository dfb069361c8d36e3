/** Thread: any. The logger of a thread that has no output of its own: it posts records to whoever has one. */
import type { Logger } from '../../lib/logger.js'
import type { LogLevel } from '../../protocol/main-owner.js'

export type LogSink = (level: LogLevel, fields: object, message: string) => void

export class PortLogger implements Logger {
  readonly #sink: LogSink
  readonly #bindings: object

  constructor(sink: LogSink, bindings: object = {}) {
    this.#sink = sink
    this.#bindings = bindings
  }

  debug(fields: object, message: string): void {
    this.#log('debug', fields, message)
  }

  info(fields: object, message: string): void {
    this.#log('info', fields, message)
  }

  warn(fields: object, message: string): void {
    this.#log('warn', fields, message)
  }

  error(fields: object, message: string): void {
    this.#log('error', fields, message)
  }

  child(bindings: object): Logger {
    return new PortLogger(this.#sink, { ...this.#bindings, ...bindings })
  }

  #log(level: LogLevel, fields: object, message: string): void {
    this.#sink(level, plain({ ...this.#bindings, ...fields }), message)
  }
}

/** The fields that can be posted, with what an Error would lose on the way. */
function plain(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => {
      if (value instanceof Error) return [name, { name: value.name, message: value.message, stack: value.stack }]
      return [name, typeof value === 'object' || typeof value === 'function' ? JSON.stringify(value) : value]
    }),
  )
}
