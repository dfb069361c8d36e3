/** Thread: main. Writes an answer that the pool has encoded. */
import type { EncodedResponse } from '../../protocol/main-pool.js'
import { respondCompressed, wantsGzip } from './compression.js'
import type { Exchange } from './exchange.js'

export function respondEncoded(
  exchange: Exchange,
  { status, contentType, headers, warnings, body, auditAnnotations }: EncodedResponse,
): Promise<void> | undefined {
  if (auditAnnotations !== undefined) exchange.tap?.annotations?.(auditAnnotations)
  const all = [...headers]
  for (const warning of warnings) all.push('Warning', warningValue(warning))
  const head = { status, contentType, headers: all }
  if (wantsGzip(exchange, body.byteLength)) return respondCompressed(exchange, head, body)
  exchange.respond(head, body)
  return undefined
}

/** The value of a Warning header: one line of plain text. */
export function warningValue(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not reach a header
  const plain = text.replace(/[\u0000-\u001f\u007f]/g, ' ')
  return `299 - "${plain.replace(/[\\"]/g, (c) => `\\${c}`)}"`
}
