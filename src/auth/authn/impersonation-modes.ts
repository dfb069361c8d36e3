/** Thread: any. The ways to be allowed to act as somebody: which questions each asks. */
import type { StatusError } from '../../api/status.js'
import type { UserInfo } from '../../api/user-info.js'
import { isDns1123Subdomain } from '../../api/validation/names.js'
import { newForbiddenRequest } from '../forbidden.js'
import type { Attributes } from '../interface.js'
import { NODE_NAME, serviceAccountGroups, splitServiceAccountUsername } from './service-account.js'

const NODE_PREFIX = 'system:node:'
const NODES_GROUP = 'system:nodes'
const MASTERS_GROUP = 'system:masters'
const AUTHENTICATION_GROUP = 'authentication.k8s.io'
/** From so many values on, one question for all of them comes before those for each. */
const MANY = 4

/** Questions that must all be answered with yes; one yes to `all` answers them, too. */
interface Step {
  readonly all?: Attributes | undefined
  readonly each: readonly Attributes[]
}

export interface ModeChecks {
  readonly steps: readonly Step[]
  /** A refusal that stands whatever the answers are; it is told after them. */
  readonly refusal: StatusError | undefined
  /** The groups of the user, when their name alone decides them. */
  readonly groups: readonly string[] | undefined
}

export interface ImpersonationMode {
  readonly constraint: string
  /** The questions of the mode; undefined when the mode is not for this user. */
  checks(wanted: UserInfo, request: Attributes): ModeChecks | undefined
}

type Applies = (wanted: UserInfo, requestor: UserInfo) => boolean

const nodeName = (username: string): string | undefined => {
  if (!username.startsWith(NODE_PREFIX)) return undefined
  const name = username.slice(NODE_PREFIX.length)
  return isDns1123Subdomain(name).length === 0 ? name : undefined
}

const nameOnly = ({ uid, groups, extra }: UserInfo): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0

/** Whether the requestor is a service account whose token is bound to the node, directly or through its pod. */
const isNodeOf = (wanted: UserInfo, requestor: UserInfo): boolean => {
  const node = nodeName(wanted.name)
  const [own, ...others] = requestor.extra[NODE_NAME] ?? []
  return (
    node !== undefined &&
    own === node &&
    others.length === 0 &&
    splitServiceAccountUsername(requestor.name) !== undefined
  )
}

/** The node is the requestor's own, so neither its name nor the token's particulars matter. */
function associatedNode(): ImpersonationMode {
  const inner = constrained('associated-node', (wanted, requestor) => nameOnly(wanted) && isNodeOf(wanted, requestor))
  const anyNode = (attributes: Attributes): Attributes => ({
    ...attributes,
    user: {
      ...attributes.user,
      extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(attributes.user.extra).sort() },
    },
    name: attributes.verb === inner.constraint ? '*' : attributes.name,
  })
  return {
    constraint: inner.constraint,
    checks: (wanted, request) => {
      const checks = inner.checks(wanted, request)
      if (checks === undefined) return undefined
      return { ...checks, steps: checks.steps.map(({ each }) => ({ each: each.map(anyNode) })) }
    },
  }
}

function constrained(mode: string, applies: Applies): ImpersonationMode {
  const verb = `impersonate:${mode}`
  return {
    constraint: verb,
    checks: (wanted, request) => {
      if (!applies(wanted, request.user)) return undefined
      const on = { ...request, verb: `impersonate-on:${mode}:${request.verb}` }
      const checks = userChecks(wanted, request.user, verb, true)
      return { ...checks, steps: [{ each: [on] }, ...checks.steps] }
    },
  }
}

function userChecks(wanted: UserInfo, requestor: UserInfo, verb: string, strict: boolean): ModeChecks {
  const ask = (apiGroup: string, resource: string, name: string, more: Partial<Attributes> = {}): Attributes => ({
    user: requestor,
    verb,
    isResourceRequest: true,
    namespace: '',
    apiGroup,
    apiVersion: 'v1',
    resource,
    subresource: '',
    name,
    path: '',
    ...more,
  })
  const userGroup = strict ? AUTHENTICATION_GROUP : ''
  const account = splitServiceAccountUsername(wanted.name)
  const node = strict ? nodeName(wanted.name) : undefined
  const steps: Step[] = []
  let groups: readonly string[] | undefined
  if (account !== undefined) {
    steps.push({ each: [ask(userGroup, 'serviceaccounts', account.name, { namespace: account.namespace })] })
    if (wanted.groups.length === 0) groups = serviceAccountGroups(account.namespace)
  } else if (node !== undefined) {
    steps.push({ each: [ask(userGroup, 'nodes', node)] })
    groups = [NODES_GROUP]
  } else steps.push({ each: [ask(userGroup, 'users', wanted.name)] })
  if (wanted.uid !== '') steps.push({ each: [ask(AUTHENTICATION_GROUP, 'uids', wanted.uid)] })
  const groupRefusal = strict ? refusedGroups(wanted.groups, (name) => ask(userGroup, 'groups', name)) : undefined
  if (groupRefusal !== undefined) return { steps, refusal: groupRefusal, groups }
  steps.push({
    all: strict && wanted.groups.length >= MANY ? ask(userGroup, 'groups', '*') : undefined,
    each: wanted.groups.map((name) => ask(userGroup, 'groups', name)),
  })
  const why = strict ? refusedExtra(wanted.extra) : undefined
  if (why !== undefined)
    return { steps, refusal: newForbiddenRequest(ask(AUTHENTICATION_GROUP, 'userextras', ''), why), groups }
  const extras = Object.entries(wanted.extra).flatMap(([subresource, values]) =>
    values.map((value) => ask(AUTHENTICATION_GROUP, 'userextras', value, { subresource })),
  )
  const everyExtra = ask(AUTHENTICATION_GROUP, 'userextras', '*', { subresource: '*' })
  steps.push({ all: strict && extras.length >= MANY ? everyExtra : undefined, each: extras })
  return { steps, refusal: undefined, groups }
}

function refusedGroups(groups: readonly string[], ask: (name: string) => Attributes): StatusError | undefined {
  if (groups.includes('')) return newForbiddenRequest(ask(''), 'impersonating the empty string group is not allowed')
  if (groups.includes(MASTERS_GROUP))
    return newForbiddenRequest(ask(MASTERS_GROUP), 'impersonating the system:masters group is not allowed')
  return undefined
}

function refusedExtra(extra: UserInfo['extra']): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    if (!isDomainPrefixed(key)) return `impersonating an invalid key in extra is not allowed: ${JSON.stringify(key)}`
    if (key !== key.toLowerCase())
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
  return undefined
}

function isDomainPrefixed(key: string): boolean {
  const slash = key.indexOf('/')
  return (
    slash > 0 &&
    isDns1123Subdomain(key.slice(0, slash)).length === 0 &&
    /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(key.slice(slash + 1))
  )
}

/** The modes in the order in which they are tried. */
export const MODES: readonly ImpersonationMode[] = [
  associatedNode(),
  constrained('arbitrary-node', (wanted) => nameOnly(wanted) && nodeName(wanted.name) !== undefined),
  constrained('serviceaccount', (wanted) => nameOnly(wanted) && splitServiceAccountUsername(wanted.name) !== undefined),
  constrained(
    'user-info',
    ({ name }) => nodeName(name) === undefined && splitServiceAccountUsername(name) === undefined,
  ),
  { constraint: '', checks: (wanted, request) => userChecks(wanted, request.user, 'impersonate', false) },
]
