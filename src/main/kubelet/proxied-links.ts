/**
 * Thread: main. Changes the links that a proxied server gives, in Location and in pages, so that they lead through this
 * server again. Pages are read as Latin-1, so that every byte comes out as it went in, whatever the page's encoding;
 * tags and links are ASCII. Only the values of attributes change. Comments, scripts and styles are left alone.
 */

import { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { lookupTable } from '../../lib/lookup-table.js'

/** Which attributes of which elements hold links. */
const LINKS: Readonly<Record<string, readonly string[]>> = lookupTable({
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
})
/** Elements whose content is text, up to their own end. */
const TEXT_ELEMENTS: ReadonlySet<string> = new Set([
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
  'iframe',
  'noframes',
])
/** A tag or a comment that has not ended after so many characters is passed on as it is. */
const MAX_HELD = 64 * 1024

const SPACES = ' \t\n\r\f'
const URL_PARTS = /^(?:[a-z][a-z\d+.-]*:)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is
/** An attribute, or what stands between two; a name without a value is not looked at again from within. */
const ATTRIBUTE = /([^\s"'<>/=]+)(?:(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+))?|[\s"'<>/=]+/gy

export interface LinkScope {
  /** The path of the proxy: /api/v1/namespaces/default/services/web/proxy. */
  readonly prefix: string
  /** The hosts of the proxied server, and of this one as the client calls it: host or host:port. */
  readonly hosts: readonly string[]
  /** The host of this server as the client calls it: links to it keep their host. */
  readonly ownHost: string
}

/** The link through the proxy. Relative links, and those to other hosts, stay as they are. */
export function proxiedLink(link: string, { prefix, hosts, ownHost }: LinkScope): string {
  const [, host, path = '', rest = ''] = URL_PARTS.exec(link) ?? []
  if (!path.startsWith('/') || (host !== undefined && host !== '' && !hosts.includes(host))) return link
  const start = host === ownHost && host !== '' ? link.slice(0, link.length - path.length - rest.length) : ''
  return `${start}${path.startsWith(prefix) ? path : prefix + path}${rest}`
}

/**
 * The streams that the bytes of a page go through; undefined for an encoding that is not understood, whose links stay.
 */
export function pageStreams(contentEncoding: string, scope: LinkScope): Transform[] | undefined {
  const links = new LinkStream(scope)
  switch (contentEncoding) {
    case '':
      return [links]
    case 'gzip':
      return [zlib.createGunzip(), links, zlib.createGzip()]
    case 'deflate':
      return [zlib.createInflateRaw(), links, zlib.createDeflateRaw()]
    default:
      return undefined
  }
}

class LinkStream extends Transform {
  readonly #page: PageLinks

  constructor(scope: LinkScope) {
    super()
    this.#page = new PageLinks((link) => proxiedLink(link, scope))
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error: null, data: Buffer) => void): void {
    done(null, Buffer.from(this.#page.push(chunk.toString('latin1')), 'latin1'))
  }

  override _flush(done: (error: null, data: Buffer) => void): void {
    done(null, Buffer.from(this.#page.end(), 'latin1'))
  }
}

/**
 *          '<'            a letter, / ! ?            '>'
 *   text ───────► open ───────────────────► tag ───────────► text
 *     ▲             │ '<!--'                                   ▲
 *     └─ no markup ─┴─────────► comment ───────── '-->' ───────┘
 *
 * Every character is looked at once, however the page is cut into chunks.
 */
export class PageLinks {
  readonly #rewrite: (link: string) => string
  #state: 'text' | 'open' | 'tag' | 'comment' = 'text'
  /** The text from the last `<` on, when what began there has not ended. */
  #held = ''
  /** The element whose text is being read; '' for none. */
  #textOf = ''
  /** Within a tag: the quote that is open, and whether a value may begin here. */
  #quote = ''
  #afterEquals = false
  /** Within a comment: its last two characters. */
  #tail = ''

  constructor(rewrite: (link: string) => string) {
    this.#rewrite = rewrite
  }

  push(text: string): string {
    let out = ''
    let at = 0
    while (at < text.length) {
      if (this.#state === 'text') {
        const open = text.indexOf('<', at)
        if (open === -1) return out + text.slice(at)
        out += text.slice(at, open)
        this.#state = 'open'
        this.#held = '<'
        at = open + 1
      } else if (this.#state === 'open') {
        const c = text[at]!
        const next = this.#opened(this.#held + c)
        if (next === 'text') {
          // This character may begin something; the characters that were held begin nothing.
          out += this.end()
          continue
        }
        this.#state = next
        // The character may end the tag already, as in `<!>`.
        if (next === 'tag') continue
        this.#held += c
        at++
      } else {
        const end = this.#state === 'tag' ? this.#endOfTag(text, at) : this.#endOfComment(text, at)
        this.#held += text.slice(at, end === -1 ? text.length : end)
        at = end === -1 ? text.length : end
        if (end !== -1) {
          const held = this.end()
          out += this.#tag(held)
        } else if (this.#held.length > MAX_HELD) out += this.end()
      }
    }
    return out
  }

  end(): string {
    const rest = this.#held
    this.#held = ''
    this.#state = 'text'
    this.#quote = ''
    this.#afterEquals = false
    this.#tail = ''
    return rest
  }

  /** What the characters from a `<` on begin; 'open' when more of them are needed to tell. */
  #opened(seen: string): 'text' | 'open' | 'tag' | 'comment' {
    if (this.#textOf !== '') {
      const closing = `</${this.#textOf}`
      if (seen.toLowerCase() === closing) return 'tag'
      return closing.startsWith(seen.toLowerCase()) ? 'open' : 'text'
    }
    if (seen === '<!--') return 'comment'
    if ('<!--'.startsWith(seen)) return 'open'
    return /[a-z/!?]/i.test(seen[1]!) ? 'tag' : 'text'
  }

  /** The place after the tag's end; -1 when it is not there yet. */
  #endOfTag(text: string, from: number): number {
    for (let i = from; i < text.length; i++) {
      const c = text[i]!
      if (this.#quote !== '') {
        if (c === this.#quote) this.#quote = ''
      } else if (c === '>') return i + 1
      // A quote has a meaning only where a value begins.
      else if ((c === '"' || c === "'") && this.#afterEquals) {
        this.#quote = c
        this.#afterEquals = false
      } else this.#afterEquals = c === '=' || (this.#afterEquals && SPACES.includes(c))
    }
    return -1
  }

  #endOfComment(text: string, from: number): number {
    const rest = this.#tail + text.slice(from)
    const end = rest.indexOf('-->')
    if (end !== -1) return from + end + 3 - this.#tail.length
    this.#tail = rest.slice(-2)
    return -1
  }

  #tag(tag: string): string {
    const [start, name = ''] = /^<([a-z][a-z\d]*)/i.exec(tag) ?? []
    if (start === undefined) {
      if (this.#textOf !== '' && tag.length > 1) this.#textOf = ''
      return tag
    }
    const element = name.toLowerCase()
    if (TEXT_ELEMENTS.has(element)) this.#textOf = element
    const names = LINKS[element]
    if (names === undefined) return tag
    const attributes = tag
      .slice(start.length)
      .replace(ATTRIBUTE, (whole, key?: string, equals?: string, value?: string) => {
        if (key === undefined || value === undefined || !names.includes(key.toLowerCase())) return whole
        const quote = value.startsWith('"') || value.startsWith("'") ? value[0]! : ''
        return `${key}${equals}${quote}${this.#rewrite(quote === '' ? value : value.slice(1, -1))}${quote}`
      })
    return start + attributes
  }
}
