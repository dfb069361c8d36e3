/** Thread: any. Where a span stands in its trace, and the header that tells others (W3C Trace Context: traceparent). */

export interface TraceContext {
  /** 32 hexadecimal digits, in lower case; not all of them 0. */
  readonly traceId: string
  /** 16 of them. */
  readonly spanId: string
  /** Whether whoever began the trace records it. */
  readonly isSampled: boolean
}

export const TRACE_HEADER = 'traceparent'

const HEADER = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const SAMPLED = 1

/** Undefined for a header that is none: then the trace begins here. Versions to come may add parts at its end. */
export function parseTraceHeader(text: string): TraceContext | undefined {
  const match = HEADER.exec(text.trim())
  if (match === null) return undefined
  const [, version, traceId = '', spanId = '', flags = '', rest] = match
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 }
}

export const traceHeader = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
