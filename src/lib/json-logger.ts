/** Thread: any. The log as it leaves the process: a JSON object a line on standard output, levels by name, times as UTC. */
import { type Logger, pino, stdTimeFunctions } from 'pino'

export const jsonLogger = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  })
