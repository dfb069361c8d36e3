/**
 * Thread: any. Makes a record draft straight from an object's JSON: one pass over the bytes that visits only the keys
 * somebody asked for and builds no object. Everything else is skipped by counting brackets.
 */
import { type FieldSpec, sortedSpecs } from './field-spec.js'
import { JsonSyntaxError } from './syntax-error.js'

/** What protocol/record-draft.ts calls a RecordDraft; api knows no thread boundaries, so it is spelt out here. */
export interface ScannedRecord {
  readonly uid: string
  readonly labels: readonly string[]
  readonly fields: readonly string[]
  readonly body: Uint8Array
  readonly revisionOffset: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Deeper text is refused, here as in the decoder. */
const MAX_DEPTH = 1000

/** A key to look for below an object, with what to do when it is there. */
interface Wanted {
  readonly key: Buffer
  readonly children: Wanted[]
  /** Indexes into the found values. */
  readonly slots: number[]
  role: 'value' | 'labels' | 'resourceVersion' | 'revisionAfter'
}

interface Plan {
  readonly root: Wanted
  readonly specs: readonly FieldSpec[]
  /** Of each spec, its slots in order of preference. */
  readonly specSlots: readonly (readonly number[])[]
  readonly uidSlot: number
  readonly slotCount: number
}

/** The revision is printed after the last of these, which is where Kubernetes prints it. */
const BEFORE_REVISION = ['name', 'generateName', 'namespace', 'selfLink', 'uid']

const plans = new WeakMap<readonly FieldSpec[], Plan>()

function planOf(specs: readonly FieldSpec[]): Plan {
  let plan = plans.get(specs)
  if (plan === undefined) {
    plan = makePlan(specs)
    plans.set(specs, plan)
  }
  return plan
}

function makePlan(specs: readonly FieldSpec[]): Plan {
  const root = wanted('')
  let slotCount = 0
  const slot = (path: readonly string[]): number => {
    descend(root, path).slots.push(slotCount)
    return slotCount++
  }
  for (const name of BEFORE_REVISION) descend(root, ['metadata', name]).role = 'revisionAfter'
  descend(root, ['metadata', 'resourceVersion']).role = 'resourceVersion'
  descend(root, ['metadata', 'labels']).role = 'labels'
  const uidSlot = slot(['metadata', 'uid'])
  const inOrder = sortedSpecs(specs)
  const specSlots = inOrder.map((spec) => spec.paths.map(slot))
  return { root, specs: inOrder, specSlots, uidSlot, slotCount }
}

const wanted = (key: string): Wanted => ({ key: Buffer.from(key), children: [], slots: [], role: 'value' })

function descend(from: Wanted, path: readonly string[]): Wanted {
  let at = from
  for (const part of path) {
    let next = at.children.find((c) => c.key.toString() === part)
    if (next === undefined) {
      next = wanted(part)
      at.children.push(next)
    }
    at = next
  }
  return at
}

/** Reused from call to call; a scan never waits, so a thread needs one. */
class Scanner {
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0
  #values: string[] = []
  #labels: string[] = []
  /** Where metadata starts (after its brace), the place for the revision, and an existing revision's value. */
  #metadataStart = -1
  #insertAt = -1
  #revisionStart = -1
  #revisionEnd = -1

  scan(bytes: Uint8Array, plan: Plan): ScannedRecord {
    this.#begin(bytes, plan)
    this.#skipSpace()
    const start = this.#at
    if (this.#bytes[start] !== OPEN_BRACE) this.#fail('an object was expected')
    this.#object(plan.root, 0)
    const stop = this.#at
    this.#skipSpace()
    if (this.#at !== this.#end) this.#fail('text follows the object')
    const fields: string[] = []
    for (let i = 0; i < plan.specs.length; i++) fields.push(plan.specs[i]!.name, this.#chosen(plan, i))
    return {
      uid: this.#values[plan.uidSlot]!,
      labels: sortPairs(this.#labels),
      fields,
      ...this.#body(start, stop),
    }
  }

  #begin(bytes: Uint8Array, plan: Plan): void {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = 0
    this.#end = bytes.byteLength
    this.#labels = []
    this.#metadataStart = this.#insertAt = this.#revisionStart = this.#revisionEnd = -1
    this.#values = new Array<string>(plan.slotCount).fill('')
  }

  #chosen(plan: Plan, index: number): string {
    for (const slot of plan.specSlots[index]!) {
      const value = this.#values[slot]!
      if (value !== '') return value
    }
    return plan.specs[index]!.default ?? ''
  }

  /** The object with an empty revision in it: the bytes as they are when there is one, else a copy. */
  #body(start: number, stop: number): { body: Uint8Array; revisionOffset: number } {
    const bytes = this.#bytes
    if (this.#revisionStart >= 0) {
      const empty = this.#revisionEnd - this.#revisionStart === 2 && bytes[this.#revisionStart] === QUOTE
      if (empty) return { body: bytes.subarray(start, stop), revisionOffset: this.#revisionStart + 1 - start }
      return splice(bytes, start, stop, this.#revisionStart, this.#revisionEnd, '""', 1)
    }
    if (this.#insertAt >= 0)
      return splice(bytes, start, stop, this.#insertAt, this.#insertAt, ',"resourceVersion":""', 20)
    if (this.#metadataStart >= 0) {
      const text = this.#isEmptyAt(this.#metadataStart) ? '"resourceVersion":""' : '"resourceVersion":"",'
      return splice(bytes, start, stop, this.#metadataStart, this.#metadataStart, text, 19)
    }
    const text = `"metadata":{"resourceVersion":""}${this.#isEmptyAt(start + 1) ? '' : ','}`
    return splice(bytes, start, stop, start + 1, start + 1, text, 31)
  }

  #isEmptyAt(at: number): boolean {
    this.#at = at
    this.#skipSpace()
    return this.#bytes[this.#at] === CLOSE_BRACE
  }

  #object(node: Wanted, depth: number): void {
    if (depth > MAX_DEPTH) this.#fail('nested too deeply')
    this.#at++
    this.#skipSpace()
    if (this.#bytes[this.#at] === CLOSE_BRACE) {
      this.#at++
      return
    }
    for (;;) {
      this.#skipSpace()
      const child = this.#key(node)
      if (child === undefined) this.#skipValue()
      else this.#member(child, depth)
      this.#skipSpace()
      const c = this.#bytes[this.#at]
      this.#at++
      if (c === CLOSE_BRACE) return
      if (c !== COMMA) this.#failAt('a comma or the end of an object was expected', this.#at - 1)
    }
  }

  #member(child: Wanted, depth: number): void {
    const start = this.#at
    const first = this.#bytes[start]
    if (child.role === 'labels' && first === OPEN_BRACE) this.#readLabels()
    else if (first === OPEN_BRACE && child.children.length > 0) {
      if (depth === 0 && child.role === 'value' && child.key.length === 8 && child.children.some(isRevision))
        this.#metadataStart = start + 1
      this.#object(child, depth + 1)
    } else if (child.slots.length > 0 && first !== OPEN_BRACE && first !== OPEN_BRACKET) {
      const text = this.#scalar()
      for (const slot of child.slots) this.#values[slot] = text
    } else this.#skipValue()
    if (child.role === 'resourceVersion') {
      this.#revisionStart = start
      this.#revisionEnd = this.#at
    } else if (child.role === 'revisionAfter') this.#insertAt = this.#at
  }

  /** Reads a key and its colon; the child that wants it, if one does. */
  #key(node: Wanted): Wanted | undefined {
    const bytes = this.#bytes
    if (bytes[this.#at] !== QUOTE) this.#fail('a key was expected')
    const start = this.#at + 1
    const escaped = this.#skipString()
    const stop = this.#at - 1
    this.#skipSpace()
    if (bytes[this.#at] !== COLON) this.#fail('a colon was expected')
    this.#at++
    this.#skipSpace()
    const { children } = node
    const text = escaped ? Buffer.from(this.#text(start, stop, true)) : undefined
    for (let i = 0; i < children.length; i++) {
      const { key } = children[i]!
      if (text !== undefined) {
        if (text.equals(key)) return children[i]
      } else if (key.length === stop - start && sameBytes(bytes, start, key)) return children[i]
    }
    return undefined
  }

  #readLabels(): void {
    this.#labels = []
    this.#at++
    this.#skipSpace()
    if (this.#bytes[this.#at] === CLOSE_BRACE) {
      this.#at++
      return
    }
    for (;;) {
      this.#skipSpace()
      if (this.#bytes[this.#at] !== QUOTE) this.#fail('a key was expected')
      const name = this.#scalar()
      this.#skipSpace()
      if (this.#bytes[this.#at] !== COLON) this.#fail('a colon was expected')
      this.#at++
      this.#skipSpace()
      this.#labels.push(name, this.#scalar())
      this.#skipSpace()
      const c = this.#bytes[this.#at]
      this.#at++
      if (c === CLOSE_BRACE) return
      if (c !== COMMA) this.#failAt('a comma or the end of an object was expected', this.#at - 1)
    }
  }

  /** A string's text, or the literal as it is written; nothing for null. */
  #scalar(): string {
    const start = this.#at
    if (this.#bytes[start] === QUOTE) {
      const escaped = this.#skipString()
      return this.#text(start + 1, this.#at - 1, escaped)
    }
    this.#skipValue()
    const literal = this.#bytes.toString('latin1', start, this.#at)
    return literal === 'null' ? '' : literal
  }

  #text(start: number, stop: number, escaped: boolean): string {
    const raw = this.#bytes.toString('utf8', start, stop)
    if (!escaped) return raw
    try {
      return JSON.parse(`"${raw}"`) as string
    } catch (cause) {
      throw new JsonSyntaxError(`a string cannot be read: ${String(cause)}`, start)
    }
  }

  /** From the opening quote to after the closing one; whether there was an escape. */
  #skipString(): boolean {
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#at + 1
    let escaped = false
    for (;;) {
      if (at >= end) this.#fail('a string does not end')
      const c = bytes[at]!
      if (c === QUOTE) break
      if (c === BACKSLASH) {
        escaped = true
        at++
      }
      at++
    }
    this.#at = at + 1
    return escaped
  }

  /** Over one value of any kind. Within containers only strings and brackets are looked at. */
  #skipValue(): void {
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#at
    let depth = 0
    for (;;) {
      if (at >= end) this.#fail('the text ends within a value')
      const c = bytes[at]!
      if (c === QUOTE) {
        at++
        for (;;) {
          const s = bytes[at]!
          if (s === QUOTE) break
          if (s === BACKSLASH) at++
          if (++at >= end) this.#fail('a string does not end')
        }
        at++
        if (depth === 0) break
      } else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        if (++depth > MAX_DEPTH) this.#failAt('nested too deeply', at)
        at++
      } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
        at++
        if (--depth === 0) break
        if (depth < 0) this.#failAt('a value was expected', at - 1)
      } else if (depth > 0) at++
      else {
        at = this.#skipLiteral(at)
        break
      }
    }
    this.#at = at
  }

  #skipLiteral(start: number): number {
    let at = start
    while (at < this.#end && isLiteral(this.#bytes[at]!)) at++
    if (at === start) this.#failAt('a value was expected', at)
    return at
  }

  #skipSpace(): void {
    const bytes = this.#bytes
    let at = this.#at
    while (at < this.#end && isSpace(bytes[at]!)) at++
    this.#at = at
  }

  #fail(message: string): never {
    this.#failAt(message, this.#at)
  }

  #failAt(message: string, offset: number): never {
    throw new JsonSyntaxError(message, offset)
  }
}

const isRevision = (node: Wanted): boolean => node.role === 'resourceVersion'
const isSpace = (c: number): boolean => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09
/** true, false, null and numbers. */
const isLiteral = (c: number): boolean =>
  (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || c === 0x2d || c === 0x2b || c === 0x2e || c === 0x45

function sameBytes(bytes: Buffer, start: number, key: Buffer): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[start + i] !== key[i]) return false
  return true
}

function splice(
  bytes: Buffer,
  start: number,
  stop: number,
  from: number,
  to: number,
  text: string,
  revisionAt: number,
): { body: Uint8Array; revisionOffset: number } {
  const body = Buffer.allocUnsafeSlow(from - start + text.length + stop - to)
  bytes.copy(body, 0, start, from)
  body.write(text, from - start, 'latin1')
  bytes.copy(body, from - start + text.length, to, stop)
  return { body, revisionOffset: from - start + revisionAt }
}

/** kube-apiserver prints labels in order already; others may not, and may name one twice: the last one counts. */
function sortPairs(pairs: string[]): string[] {
  for (let i = 2; i < pairs.length; i += 2) {
    if (pairs[i]! <= pairs[i - 2]!) {
      const byName = new Map<string, string>()
      for (let j = 0; j < pairs.length; j += 2) byName.set(pairs[j]!, pairs[j + 1]!)
      return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).flat()
    }
  }
  return pairs
}

const scanner = new Scanner()

/**
 * The draft of a stored object. Throws JsonSyntaxError when the text is not an object's JSON as far as it is looked at.
 * The body shares memory with `json` when nothing had to be put in.
 */
export function recordDraft(json: Uint8Array, specs: readonly FieldSpec[]): ScannedRecord {
  return scanner.scan(json, planOf(specs))
}
