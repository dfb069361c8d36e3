/**
 * Thread: main. Links that a proxied server gives, made to lead through this server again: in Location, and in pages.
 *
 * Pages are read as Latin-1, so that every byte comes out as it went in, whatever the page's encoding; tags and links are
 * ASCII. Only the values of attributes change. What is in comments, scripts and styles is left alone.
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
/** Their content is text, up to their own end. */
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

const URL_PARTS = /^(?:[a-z][a-z\d+.-]*:)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is
const ATTRIBUTE = /([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g

export interface LinkScope {
  /** /api/v1/namespaces/default/services/web/proxy */
  readonly prefix: string
  /** Of the server that is proxied to, and of this one as the client calls it: host or host:port. */
  readonly hosts: readonly string[]
  /** This server, as the client calls it: links to it keep their host. */
  readonly ownHost: string
}

/** Relative links, and those to other hosts, stay as they are. */
export function proxiedLink(link: string, { prefix, hosts, ownHost }: LinkScope): string {
  const [, host, path = '', rest = ''] = URL_PARTS.exec(link) ?? []
  if (!path.startsWith('/') || (host !== undefined && host !== '' && !hosts.includes(host))) return link
  const start = host === ownHost && host !== '' ? link.slice(0, link.length - path.length - rest.length) : ''
  return `${start}${path.startsWith(prefix) ? path : prefix + path}${rest}`
}

/** What the bytes of a page go through; undefined: in a form that is not understood, so its links stay. */
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

export class PageLinks {
  readonly #rewrite: (link: string) => string
  /** From the last `<` on, when what began there has not ended. */
  #held = ''
  /** The element whose text we are in; '' for none. */
  #textOf = ''

  constructor(rewrite: (link: string) => string) {
    this.#rewrite = rewrite
  }

  push(text: string): string {
    const page = this.#held + text
    let out = ''
    let at = 0
    for (;;) {
      const open = page.indexOf('<', at)
      if (open === -1) break
      out += page.slice(at, open)
      const end = this.#endOfTag(page, open)
      if (end === -1) {
        this.#held = page.slice(open)
        return this.#held.length > MAX_HELD ? out + this.end() : out
      }
      out += this.#tag(page.slice(open, end))
      at = end
    }
    this.#held = ''
    return out + page.slice(at)
  }

  end(): string {
    const rest = this.#held
    this.#held = ''
    return rest
  }

  /** Behind what begins at `open`; -1: not there yet. */
  #endOfTag(page: string, open: number): number {
    if (this.#textOf !== '') {
      const closing = `</${this.#textOf}`
      const seen = page.slice(open, open + closing.length).toLowerCase()
      if (seen.length < closing.length && closing.startsWith(seen)) return -1
      if (seen !== closing) return open + 1
    }
    if (page.startsWith('<!--', open)) return after(page.indexOf('-->', open + 4), 3)
    if ('<!--'.startsWith(page.slice(open, open + 4)) && page.length < open + 4) return -1
    if (!/[a-z/!?]/i.test(page[open + 1]!)) return open + 1
    let quote = ''
    for (let i = open + 1; i < page.length; i++) {
      const c = page[i]!
      if (quote !== '') {
        if (c === quote) quote = ''
      } else if (c === '>') return i + 1
      // Quotes mean something where a value begins.
      else if ((c === '"' || c === "'") && /=\s*$/.test(page.slice(Math.max(open, i - 16), i))) quote = c
    }
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
      .replace(ATTRIBUTE, (whole, key: string, equals: string, value: string) => {
        if (!names.includes(key.toLowerCase())) return whole
        const quote = value.startsWith('"') || value.startsWith("'") ? value[0]! : ''
        return `${key}${equals}${quote}${this.#rewrite(quote === '' ? value : value.slice(1, -1))}${quote}`
      })
    return start + attributes
  }
}

const after = (at: number, length: number): number => (at === -1 ? -1 : at + length)
