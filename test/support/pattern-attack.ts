/**
 * Texts made to hurt a regular expression, out of its own pieces: something that matches up to one of its quantifiers, that
 * quantifier's body over and over, and an end that fails. The reader knows as much of the syntax as src uses.
 */
import { createContext, Script } from 'node:vm'
import type { Random } from './fuzz.js'

type Node =
  | { kind: 'characters'; choices: string }
  | { kind: 'group'; branches: Node[][]; repeats: boolean; optional: boolean }
  | { kind: 'empty' }

/** Of a class that leaves some out, one of these is in it. */
const COMMON = 'a0-.:/ =,"\'\\\n<>[]!*Z_~é'
const CLASSES: ReadonlyMap<string, string> = new Map([
  ['d', '07'],
  ['w', 'a0_'],
  ['s', ' \n'],
  ['S', 'a-'],
  ['D', 'a-'],
  ['W', ' -'],
  ['b', ''],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['f', '\f'],
])

class Reader {
  #at = 0
  readonly #source: string

  constructor(source: string) {
    this.#source = source
  }

  branches(): Node[][] {
    const branches: Node[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#take('|')) branches.push([])
      else branches.at(-1)!.push(this.#quantified(this.#atom()))
    }
    return branches
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #atom(): Node {
    const c = this.#source[this.#at++]!
    if (c === '(') {
      const looks = ['?=', '?!', '?<=', '?<!'].some((mark) => this.#take(mark))
      if (!looks) this.#take('?:')
      const branches = this.branches()
      this.#take(')')
      return looks ? { kind: 'empty' } : { kind: 'group', branches, repeats: false, optional: false }
    }
    if (c === '^' || c === '$') return { kind: 'empty' }
    if (c === '[') return this.#class()
    if (c === '.') return { kind: 'characters', choices: 'a.-' }
    return { kind: 'characters', choices: c === '\\' ? this.#escape() : c }
  }

  #escape(): string {
    const c = this.#source[this.#at++]!
    if (c === 'u' || c === 'x') {
      const length = c === 'u' ? 4 : 2
      this.#at += length
      return String.fromCharCode(Number.parseInt(this.#source.slice(this.#at - length, this.#at), 16))
    }
    if (c === 'p' || c === 'P') {
      this.#at = this.#source.indexOf('}', this.#at) + 1
      return 'a'
    }
    return CLASSES.get(c) ?? (/\d/.test(c) ? 'a' : c)
  }

  #class(): Node {
    const negated = this.#take('^')
    let members = ''
    while (this.#source[this.#at] !== ']') {
      const c = this.#source[this.#at++]!
      members += c === '\\' ? this.#escape() : c
      // Of a range its two ends do.
      if (this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']') this.#at++
    }
    this.#at++
    const choices = negated ? [...COMMON].filter((c) => !members.includes(c)).join('') : members
    return { kind: 'characters', choices }
  }

  #quantified(node: Node): Node {
    const [, text, most] = /^(\*|\+|\?|\{\d+(?:,(\d*))?\})?\??/.exec(this.#source.slice(this.#at)) ?? []
    if (text === undefined) return node
    this.#at += text.length
    this.#take('?')
    const repeats = text === '*' || text === '+' || most === ''
    const optional = text === '*' || text === '?' || text.startsWith('{0')
    const times = /^\{(\d+)/.exec(text)?.[1]
    const body = times === undefined ? [node] : new Array<Node>(Math.max(1, Number(times))).fill(node)
    return { kind: 'group', branches: [body], repeats, optional }
  }
}

function sample(nodes: readonly Node[], random: Random): string {
  return nodes
    .map((node) => {
      if (node.kind === 'empty') return ''
      if (node.kind === 'characters') return random.pick([...node.choices, '']) || (node.choices[0] ?? '')
      return node.optional && random.chance(30) ? '' : sample(random.pick(node.branches), random)
    })
    .join('')
}

/** Ways to a quantifier that repeats: what comes before it, and its body. */
function pumps(nodes: readonly Node[], random: Random, before = ''): { before: string; body: string }[] {
  const found: { before: string; body: string }[] = []
  let prefix = before
  for (const [i, node] of nodes.entries()) {
    if (node.kind === 'group') {
      if (node.repeats)
        for (let n = 0; n < 3; n++) found.push({ before: prefix, body: sample(random.pick(node.branches), random) })
      for (const branch of node.branches) found.push(...pumps(branch, random, prefix))
    }
    prefix += sample(nodes.slice(i, i + 1), random)
  }
  return found
}

const TAILS = ['', '!', '\u0000', '\n']

export function attacksOn(source: string, random: Random): ((length: number) => string)[] {
  const branches = new Reader(source).branches()
  const ways = branches.flatMap((branch) => [...pumps(branch, random), { before: '', body: sample(branch, random) }])
  // The beginning over and over hurts what looks for its end from each of them.
  const starts = ways.map(({ before }) => ({ before: '', body: before }))
  const distinct = new Map(
    [...ways, ...starts].filter(({ body }) => body !== '').map((way) => [JSON.stringify(way), way]),
  )
  return [...distinct.values()].flatMap(({ before, body }) =>
    TAILS.map((tail) => (length: number) => before + body.repeat(Math.ceil(length / body.length)) + tail),
  )
}

const context = createContext({ run: () => undefined })
const script = new Script('run()')
/** Far more than a linear expression needs for the longest text on a machine that is busy. */
const HANG_MS = 2_000

/**
 * Milliseconds of processor time of one run over the whole text, or infinity when it does not come to its end. A run that the clock
 * ended while the machine had no processor for it says nothing, and is made again.
 */
export function timeOf(pattern: RegExp, text: string): number {
  for (;;) {
    const { tookMs, ended } = runOnce(pattern, text)
    if (ended) return tookMs
    if (tookMs > HANG_MS / 2) return Number.POSITIVE_INFINITY
  }
}

function runOnce(pattern: RegExp, text: string): { readonly tookMs: number; readonly ended: boolean } {
  context['run'] = () => (pattern.global ? text.replace(pattern, '').length : pattern.exec(text)?.length)
  pattern.lastIndex = 0
  const before = process.cpuUsage()
  let ended = true
  try {
    script.runInContext(context, { timeout: HANG_MS })
  } catch (error) {
    // A stack that is full is no hang; whoever runs the expression on so long a text gets the error.
    ended = error instanceof RangeError
  }
  const { user, system } = process.cpuUsage(before)
  return { tookMs: (user + system) / 1e3, ended }
}

const SIZES = [32, 1_000, 60_000]
/** Below it the clock and the collector are what is measured; 60,000 characters in so little are no square of anything. */
const NOTICED_MS = 6
const TRIES = 6

/** Whether twice the text takes three times as long, time after time. */
export function isSlow(pattern: RegExp, attack: (length: number) => string): boolean {
  for (const [i, size] of SIZES.entries()) {
    const text = attack(size)
    const time = timeOf(pattern, text)
    if (time === Number.POSITIVE_INFINITY) return true
    if (time < NOTICED_MS || i === 0) continue
    const half = attack(size / 2)
    let slow = 0
    while (slow < TRIES && timeOf(pattern, text) >= 3 * timeOf(pattern, half)) slow++
    if (slow === TRIES) return true
  }
  return false
}
