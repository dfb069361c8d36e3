/** Thread: any. URIs as a request line may have them: with a scheme, or a path from the root. As Go's net/url reads them. */

const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/
const CONTROL = /[^ -~\u0080-\uffff]/
const WRONG_ESCAPE = /%(?![0-9a-fA-F]{2})/
const USER_INFO = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/
const HOST = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]*$/
/** Only what is not ASCII is escaped in a host, and the percent sign itself. */
const WRONG_HOST_ESCAPE = /%(?!25|[89a-fA-F][0-9a-fA-F])/
const PORT = /^(?::\d*)?$/

export function isRequestUri(text: string): boolean {
  if (text === '' || CONTROL.test(text) || text.startsWith(':')) return false
  if (text === '*') return true
  const scheme = SCHEME.exec(text)?.[0] ?? ''
  const [rest = ''] = text.slice(scheme.length).split('?', 1)
  if (!rest.startsWith('/')) return scheme !== ''
  if (scheme === '' || !rest.startsWith('//')) return !WRONG_ESCAPE.test(rest)
  const slash = rest.indexOf('/', 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  return isAuthority(authority) && (slash < 0 || !WRONG_ESCAPE.test(rest.slice(slash)))
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@')
  const user = authority.slice(0, Math.max(0, at))
  return USER_INFO.test(user) && !WRONG_ESCAPE.test(user) && isHost(authority.slice(at + 1))
}

function isHost(host: string): boolean {
  if (!host.startsWith('[')) {
    const colon = host.lastIndexOf(':')
    const port = colon < 0 ? '' : host.slice(colon)
    return PORT.test(port) && HOST.test(host) && !WRONG_HOST_ESCAPE.test(host)
  }
  const end = host.lastIndexOf(']')
  if (end < 0 || !PORT.test(host.slice(end + 1))) return false
  const inside = host.slice(1, end)
  const zone = inside.indexOf('%25')
  const address = zone < 0 ? inside : inside.slice(0, zone)
  return HOST.test(address) && !WRONG_HOST_ESCAPE.test(address) && (zone < 0 || !WRONG_ESCAPE.test(inside))
}
