/**
 * Thread: any. The first block of a PEM file. Whoever signs a request reads the file with a reader of their own: what one
 * would pass over and another take is refused here, so that nobody checks one block and signs another.
 */
export interface PemBlock {
  /** CERTIFICATE REQUEST */
  readonly type: string
  readonly bytes: Buffer
}

const BEGIN = '-----BEGIN '
/** Lines of headers may come first, each with a colon. */
const BLOCK =
  /-----BEGIN ((?:(?!-----)[^\n])*)-----[ \t\r]*\n(?:[^\n:]+:[^\n]*\n)*([A-Za-z0-9+/=\s]*)\n-----END \1-----[ \t\r]*(?:\n|$)/y
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Undefined when the first line that begins a block begins none. What stands before and after it does not matter. */
export function firstPemBlock(text: string): PemBlock | undefined {
  const start = text.indexOf(BEGIN)
  if (start < 0 || (start > 0 && text[start - 1] !== '\n')) return undefined
  BLOCK.lastIndex = start
  const [, type = '', body = ''] = BLOCK.exec(text) ?? []
  const base64 = body.replace(/\s/g, '')
  return type === '' || !BASE64.test(base64) ? undefined : { type, bytes: Buffer.from(base64, 'base64') }
}
