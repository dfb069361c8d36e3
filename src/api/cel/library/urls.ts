/** Thread: any. URLs in expressions: `url('https://example.com:80/').getPort()`. */
import { isRequestUri } from '../../formats/request-uri.js'
import type { FunctionDeclaration, Library } from '../function-declaration.js'
import { BOOL, type CelType, listOf, mapOf, opaque, STRING } from '../types.js'
import { CelMap } from '../values/maps.js'
import { Boxed, CelError, type CelValue } from '../values/value.js'
import { goQuote } from './go-numbers.js'
import { type GoUrl, hostnameOf, parseUrl, portOf, queryOf, urlText } from './go-url.js'
import { declare, method, plain, WALKS_AND_COPIES } from './overload.js'

const URL_TYPE = opaque('kubernetes.URL')

class URLValue extends Boxed {
  readonly url: GoUrl

  constructor(url: GoUrl) {
    super()
    this.url = url
  }

  get type(): CelType {
    return URL_TYPE
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof URLValue ? urlText(this.url) === urlText(other.url) : new CelError('no such overload')
  }
}

function parse(text: string): CelValue {
  const url = parseUrl(text)
  if (url !== undefined) return new URLValue(url)
  return new CelError(`URL parse error during conversion from string: parse ${goQuote(text)}: invalid URI for request`)
}

const getter = (name: string, id: string, read: (url: GoUrl) => string): FunctionDeclaration =>
  declare(
    name,
    method(id, [URL_TYPE], STRING, ({ url }: URLValue) => read(url)),
  )

export const urls: Library = {
  types: [URL_TYPE],
  functions: [
    declare('url', plain('string_to_url', [STRING], URL_TYPE, parse, WALKS_AND_COPIES)),
    // Kubernetes has no cost for it: 1, however long the text is.
    declare('isURL', plain('is_url_string', [STRING], BOOL, isRequestUri)),
    getter('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
    getter('getHost', 'url_get_host', ({ host }) => host),
    getter('getHostname', 'url_get_hostname', hostnameOf),
    getter('getPort', 'url_get_port', portOf),
    getter('getEscapedPath', 'url_get_escaped_path', ({ escapedPath }) => escapedPath),
    declare(
      'getQuery',
      method('url_get_query', [URL_TYPE], mapOf(STRING, listOf(STRING)), ({ url }: URLValue) =>
        CelMap.of(queryOf(url).entries()),
      ),
    ),
  ],
}
