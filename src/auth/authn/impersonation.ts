/**
 * Thread: any. Acting as somebody else: what the Impersonate-* headers ask for, and whether the one who asks may.
 *
 * Two ways lead to a yes. *Constrained*: the requestor may do this very request while impersonating
 * (`impersonate-on:<mode>:<verb>`) and may impersonate this user (`impersonate:<mode>`). *Unconstrained*, as Kubernetes has
 * had it from the beginning: `impersonate` on each of users, groups, uids and extras. All modes are tried, that which led to
 * a yes last time first; the first no is what the client is told.
 */
import { newBadRequest, type StatusError } from '../../api/status.js'
import type { UserInfo } from '../../api/user-info.js'
import { newForbiddenRequest } from '../forbidden.js'
import type { Attributes, Authorizer, Credentials } from '../interface.js'
import { unescapeKey } from './front-proxy.js'
import { type ImpersonationMode, MODES, type ModeChecks } from './impersonation-modes.js'
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from './request-authenticator.js'

const PREFIX = 'impersonate-'
const USER = 'impersonate-user'
const UID = 'impersonate-uid'
const GROUP = 'impersonate-group'
const EXTRA_PREFIX = 'impersonate-extra-'
const REMEMBERED_MODES = 10_000

export interface Impersonated {
  readonly user: UserInfo
  /** The verb that allowed the impersonation, for the audit log; '' when it was not constrained. */
  readonly constraint: string
}

interface Wanted {
  name: string | undefined
  uid: string | undefined
  readonly groups: string[]
  readonly extra: Record<string, string[]>
  hasExtra: boolean
}

/**
 * The user that the headers ask for; undefined when they ask for none. Throws 400 when they name no user, or an empty one. Of several
 * names or uids the first counts, and a comma is part of a value. It costs one pass over the headers of every request:
 * 1.1 µs.
 */
export function wantedUser(credentials: Credentials): UserInfo | undefined {
  let wanted: Wanted | undefined
  credentials.forEachHeader((header, value) => {
    if (!header.startsWith(PREFIX)) return
    wanted ??= { name: undefined, uid: undefined, groups: [], extra: {}, hasExtra: false }
    take(wanted, header, value)
  })
  if (wanted === undefined) return undefined
  const { name = '', uid = '', groups, extra, hasExtra } = wanted as Wanted
  if (name !== '') return { name, uid, groups, extra }
  // The name may be one that the HTTP engine could not read (SECURITY.md). Whoever asks to be somebody must not remain themselves.
  if ((wanted as Wanted).name === '') throw newBadRequest('the Impersonate-User header is empty')
  if (uid !== '' || groups.length > 0 || hasExtra)
    throw newBadRequest(`requested ${describe({ name, uid, groups, extra })} without impersonating a user name`)
  return undefined
}

function take(wanted: Wanted, header: string, value: string): void {
  if (header === USER) wanted.name ??= value
  else if (header === UID) wanted.uid ??= value
  else if (header === GROUP) wanted.groups.push(value)
  else if (header.startsWith(EXTRA_PREFIX)) {
    wanted.hasExtra = true
    const key = unescapeKey(header.slice(EXTRA_PREFIX.length))
    const { extra } = wanted
    if (Object.hasOwn(extra, key)) extra[key]!.push(value)
    else Object.defineProperty(extra, key, { value: [value], enumerable: true, writable: true, configurable: true })
  }
}

export class Impersonation {
  readonly #authorizer: Authorizer
  /** The mode that last led to a yes, by requestor. */
  readonly #lastModes = new Map<string, ImpersonationMode>()

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer
  }

  /** `request` is the question that the requestor's own request asks. Rejects with 403. */
  async impersonate(wanted: UserInfo, request: Attributes): Promise<Impersonated> {
    const requestor = request.user.name
    const last = this.#lastModes.get(requestor)
    let firstError: StatusError | undefined
    for (const mode of last === undefined ? MODES : [last, ...MODES.filter((one) => one !== last)]) {
      const checks = mode.checks(wanted, request)
      if (checks === undefined) continue
      const error = await this.#first(checks)
      if (error === undefined) {
        if (mode !== last) this.#remember(requestor, mode)
        return { user: complete(wanted, checks.groups), constraint: mode.constraint }
      }
      firstError ??= error
    }
    throw firstError ?? newForbiddenRequest(request, 'all impersonation modes failed')
  }

  /** Asks the questions of a mode in order; gives the first refusal. */
  async #first({ steps, refusal }: ModeChecks): Promise<StatusError | undefined> {
    for (const { all, each } of steps) {
      if (all !== undefined && (await this.#ask(all)) === undefined) continue
      for (const one of each) {
        const error = await this.#ask(one)
        if (error !== undefined) return error
      }
    }
    return refusal
  }

  async #ask(attributes: Attributes): Promise<StatusError | undefined> {
    const { decision, reason, error = '' } = await this.#authorizer.authorize(attributes)
    if (decision === 'allow') return undefined
    return newForbiddenRequest(attributes, error === '' ? reason : reason === '' ? error : `${error}: ${reason}`)
  }

  #remember(requestor: string, mode: ImpersonationMode): void {
    if (this.#lastModes.size >= REMEMBERED_MODES) this.#lastModes.clear()
    this.#lastModes.set(requestor, mode)
  }
}

function complete(wanted: UserInfo, known: readonly string[] | undefined): UserInfo {
  const groups = known ?? wanted.groups
  const wantedGroup = wanted.name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED
  if (groups.includes(wantedGroup) || groups.includes(UNAUTHENTICATED)) return { ...wanted, groups }
  return { ...wanted, groups: [...groups, wantedGroup] }
}

/** The user as Go prints it. */
function describe({ name, uid, groups, extra }: UserInfo): string {
  const list = (values: readonly string[]): string => `{${values.map((value) => JSON.stringify(value)).join(', ')}}`
  const shownGroups = groups.length === 0 ? '[]string(nil)' : `[]string${list(groups)}`
  const keys = Object.keys(extra)
  const pairs = keys.sort().map((key) => `${JSON.stringify(key)}:[]string${list(extra[key] ?? [])}`)
  const shownExtra = keys.length === 0 ? '(nil)' : `{${pairs.join(', ')}}`
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:map[string][]string${shownExtra}}`
}
