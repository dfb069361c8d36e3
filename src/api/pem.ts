/**
 * Thread: any. The blocks of a PEM file. Whoever signs a request reads the file with a reader of their own: what one
 * would pass over and another take is refused here, so that nobody checks one block and signs another.
 */
export interface PemBlock {
  /** CERTIFICATE REQUEST */
  readonly type: string
  readonly bytes: Buffer
}

const BEGIN = '-----BEGIN '
const DASHES = '-----'
const END = '-----END '
const BLANKS = /^[ \t\r]*$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Undefined when the first line that begins a block begins none. What stands before and after it does not matter. */
export function firstPemBlock(text: string): PemBlock | undefined {
  const start = text.indexOf(BEGIN)
  if (start < 0 || (start > 0 && text[start - 1] !== '\n')) return undefined
  const first = lineAt(text, start + BEGIN.length)
  const dashes = first.indexOf(DASHES)
  if (dashes <= 0 || !BLANKS.test(first.slice(dashes + DASHES.length))) return undefined
  const type = first.slice(0, dashes)
  const begin = afterHeaders(text, start + BEGIN.length + first.length + 1)
  // Base64 has no dash: the first one begins the last line.
  const end = text.indexOf('-', begin)
  const last = `${END}${type}${DASHES}`
  if (end <= begin || text[end - 1] !== '\n' || !text.startsWith(last, end)) return undefined
  if (!BLANKS.test(lineAt(text, end + last.length))) return undefined
  const base64 = text.slice(begin, end).replace(/\s/g, '')
  return BASE64.test(base64) ? { type, bytes: Buffer.from(base64, 'base64') } : undefined
}

/** The rest of the line, without its end. */
function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.slice(start) : text.slice(start, end)
}

/** Where the body begins: lines of headers may come before it, each with a colon behind its name. */
function afterHeaders(text: string, start: number): number {
  let at = start
  for (;;) {
    const line = lineAt(text, at)
    if (line.indexOf(':') <= 0 || at + line.length >= text.length) return at
    at += line.length + 1
  }
}

export interface PemText {
  /** CERTIFICATE */
  readonly label: string
  /** From the line that begins the block to the one that ends it, both included. */
  readonly text: string
}

/** Every block whose beginning and next end bear one label. Each position of the text is looked at a bounded number of times. */
export function pemBlocks(text: string): PemText[] {
  const blocks: PemText[] = []
  let end = -1
  for (let begin = text.indexOf(BEGIN); begin >= 0; ) {
    const label = labelAt(text, begin + BEGIN.length)
    let next = begin + BEGIN.length
    if (label !== undefined) {
      next += label.length + DASHES.length
      if (end < next) end = text.indexOf(END, next)
      if (end < 0) break
      const after = end + END.length + label.length + DASHES.length
      if (text.startsWith(`${label}${DASHES}`, end + END.length)) {
        blocks.push({ label, text: text.slice(begin, after) })
        next = after
      }
    }
    begin = text.indexOf(BEGIN, next)
  }
  return blocks
}

/** The longest label that anybody uses is a third of it. */
const MAX_LABEL = 100

function labelAt(text: string, start: number): string | undefined {
  const near = text.slice(start, start + MAX_LABEL + DASHES.length)
  const length = near.indexOf(DASHES)
  return length <= 0 || near.slice(0, length).includes('\n') ? undefined : near.slice(0, length)
}

export const certificateBlocks = (text: string): string[] =>
  pemBlocks(text)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ text: block }) => block)
