/**
 * Thread: any. Who makes a request: every way that is configured, in Kubernetes' order.
 *
 *   front proxy → client certificate → bearer token (header, then WebSocket protocol) → anonymous
 *
 * Credentials that are wrong do not keep others of the same request from being right; but nobody who showed wrong ones,
 * and no right ones, is taken for anonymous.
 */
import type { UserInfo } from '../../api/user-info.js'
import { type Authenticated, type Authenticator, type Credentials, InvalidCredentials } from '../interface.js'
import { aggregate, invalid, type TokenAuthenticator } from './token-authenticator.js'

export const AUTHENTICATED = 'system:authenticated'
export const UNAUTHENTICATED = 'system:unauthenticated'
export const ANONYMOUS = 'system:anonymous'

export const ANONYMOUS_USER: UserInfo = { name: ANONYMOUS, uid: '', groups: [UNAUTHENTICATED], extra: {} }

export interface RequestAuthenticatorOptions {
  readonly members: readonly Authenticator[]
  readonly nobody: Nobody | undefined
}

/** Whom a request without credentials is made by; the paths for which it may, all when it names none. */
export interface Nobody extends Authenticated {
  readonly paths?: readonly string[]
}

type Result = Authenticated | undefined

export class RequestAuthenticator implements Authenticator {
  readonly #members: readonly Authenticator[]
  #nobody: Nobody | undefined
  /** Users with their group added: the same object for the same user, so that others can remember what they found out. */
  readonly #completed = new WeakMap<Authenticated, Authenticated>()

  constructor({ members, nobody }: RequestAuthenticatorOptions) {
    this.#members = members
    this.#nobody = nobody
  }

  authenticate(credentials: Credentials): Result | Promise<Result> {
    return this.#from(0, credentials, undefined)
  }

  /** Undefined: requests without credentials are refused from now on. */
  replaceNobody(nobody: Nobody | undefined): void {
    this.#nobody = nobody
  }

  #from(start: number, credentials: Credentials, errors: InvalidCredentials[] | undefined): Result | Promise<Result> {
    let wrong = errors
    for (let i = start; i < this.#members.length; i++) {
      try {
        const found = this.#members[i]!.authenticate(credentials)
        if (found instanceof Promise) {
          return found.then(
            (later) => (later === undefined ? this.#from(i + 1, credentials, wrong) : this.#complete(later)),
            (error: unknown) => this.#from(i + 1, credentials, [...(wrong ?? []), invalid(error)]),
          )
        }
        if (found !== undefined) return this.#complete(found)
      } catch (error) {
        wrong = [...(wrong ?? []), invalid(error)]
      }
    }
    if (wrong !== undefined) throw aggregate(wrong)
    const paths = this.#nobody?.paths ?? []
    return paths.length === 0 || paths.includes(credentials.head.rawPath) ? this.#nobody : undefined
  }

  #complete(found: Authenticated): Authenticated {
    const known = this.#completed.get(found)
    if (known !== undefined) return known
    const complete = { ...found, user: withAuthenticatedGroup(found.user) }
    this.#completed.set(found, complete)
    return complete
  }
}

export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user
  return { ...user, groups: [...user.groups, AUTHENTICATED] }
}

const PROTOCOL_PREFIX = 'base64url.bearer.authorization.k8s.io.'

/** A token in the Authorization header; from browsers, which cannot set it, in the protocols of a WebSocket. */
export class BearerToken implements Authenticator {
  readonly #tokens: TokenAuthenticator

  constructor(tokens: TokenAuthenticator) {
    this.#tokens = tokens
  }

  authenticate(credentials: Credentials): Result | Promise<Result> {
    const token = bearerToken(credentials.authorization) ?? protocolToken(credentials)
    if (token === undefined) return undefined
    const found = this.#tokens.authenticateToken(token, [])
    return found instanceof Promise ? found.then(known) : known(found)
  }
}

function known(found: Result): Authenticated {
  if (found === undefined) throw new InvalidCredentials('invalid bearer token')
  return found
}

const BEARER = 'Bearer '

/** The token of a header; undefined when the header is of another kind, or has no token. */
export function bearerToken(authorization: string): string | undefined {
  if (authorization === '') return undefined
  // Nearly every header is of this form: it is looked at for each request, and needs no list of its words.
  if (authorization.startsWith(BEARER) && authorization.length > BEARER.length) {
    const rest = authorization.slice(BEARER.length)
    if (!/\s/.test(rest)) return rest
  }
  const [scheme = '', token = ''] = authorization.trim().split(' ', 2)
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}

function protocolToken(credentials: Credentials): string | undefined {
  if (credentials.header('upgrade').toLowerCase() !== 'websocket') return undefined
  const protocols = credentials
    .header('sec-websocket-protocol')
    .split(',')
    .map((protocol) => protocol.trim())
  const shown = protocols.filter((protocol) => protocol.startsWith(PROTOCOL_PREFIX))
  if (shown.length === 0) return undefined
  const encoded = shown[0]!.slice(PROTOCOL_PREFIX.length)
  if (shown.length > 1 || !/^[A-Za-z0-9_-]+$/.test(encoded))
    throw new InvalidCredentials('the WebSocket protocol holds no single bearer token')
  // The protocol that carries the token cannot be named in the answer, and a browser wants one that it asked for.
  if (protocols.length === 1) throw new InvalidCredentials('no WebSocket protocol is given beside the token')
  return Buffer.from(encoded, 'base64url').toString('utf8')
}
