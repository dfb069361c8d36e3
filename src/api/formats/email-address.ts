/** Thread: any. One mailbox of RFC 5322, `a@b` or `Somebody <a@b>`, as Go's net/mail reads it: comments and quotes included. */

/** What words are made of; everything beyond ASCII is. */
const ATOM = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u0080-\uffff]+/y
const QUOTED = /"(?:[^"\\\r\n]|\\[^\r\n])*"/y
const LITERAL = /\[[^[\]\\\s]*\]/y
const SPACE = /[ \t]+/y

class Scanner {
  readonly #text: string
  at = 0

  constructor(text: string) {
    this.#text = text
  }

  get done(): boolean {
    return this.at >= this.#text.length
  }

  take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at
    if (!pattern.test(this.#text)) return false
    this.at = pattern.lastIndex
    return true
  }

  takeText(text: string): boolean {
    if (!this.#text.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  /** Space and comments, which may hold comments. False when a comment has no end. */
  skip(): boolean {
    let depth = 0
    for (;;) {
      if (depth === 0 && this.take(SPACE)) continue
      const c = this.#text[this.at]
      if (depth === 0 && c !== '(') return true
      if (c === undefined) return false
      if (c === '(') depth++
      else if (c === ')') depth--
      else if (c === '\\') this.at++
      this.at++
    }
  }
}

export function isEmailAddress(text: string): boolean {
  return isPlain(new Scanner(text)) || isNamed(new Scanner(text))
}

/** a@b */
function isPlain(scanner: Scanner): boolean {
  return scanner.skip() && takesAddress(scanner) && scanner.skip() && scanner.done
}

/** Some Body <a@b> */
function isNamed(scanner: Scanner): boolean {
  if (!scanner.skip()) return false
  while (scanner.take(QUOTED) || scanner.take(ATOM) || scanner.takeText('.')) if (!scanner.skip()) return false
  const found = scanner.takeText('<') && scanner.skip() && takesAddress(scanner) && scanner.skip()
  return found && scanner.takeText('>') && scanner.skip() && scanner.done
}

function takesAddress(scanner: Scanner): boolean {
  if (!scanner.take(QUOTED) && !takesDotted(scanner)) return false
  if (!scanner.skip() || !scanner.takeText('@') || !scanner.skip()) return false
  return scanner.take(LITERAL) || takesDotted(scanner)
}

/** Words with single dots between them. */
function takesDotted(scanner: Scanner): boolean {
  do {
    if (!scanner.take(ATOM)) return false
  } while (scanner.takeText('.'))
  return true
}
