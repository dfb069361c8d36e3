/**
 * Thread: any. What the user of a request may do, in expressions:
 * `authorizer.group('apps').resource('deployments').check('create').allowed()`. Whoever evaluates gives `authorizerValue`.
 */
import { dnsLabelName, dnsSubdomainName } from '../../validation/names.js'
import {
  addRanges,
  exactly,
  LIST_CREATE_COST,
  type Range,
  STRING_TRAVERSAL_FACTOR,
  STRUCT_CREATE_COST,
  scaleRange,
} from '../cost/estimate.js'
import type { FunctionDeclaration, Library } from '../function-declaration.js'
import { BOOL, type CelType, opaque, STRING } from '../types.js'
import { codePointCount } from '../values/strings.js'
import { Boxed, CelError, type CelValue } from '../values/value.js'
import { type Costs, declare, method, sizeOrNone } from './overload.js'
import { trimSpace } from './strings.js'

/** Who is asked about: the user as whoever evaluates knows it, or a service account. */
export type AuthorizedUser<U> =
  | { readonly user: U }
  | { readonly serviceAccount: { readonly namespace: string; readonly name: string } }

export interface ResourceAttributes {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** As the expression says it; what cannot be read counts as none. Empty: all. */
  readonly fieldSelector: string
  readonly labelSelector: string
}

export type CheckedAttributes = { readonly path: string } | ResourceAttributes

export interface Decision {
  readonly allowed: boolean
  readonly reason: string
  readonly error?: string
}

/** Answers at once, or throws something of its caller's, which passes through the evaluation. */
export type AuthorizationCheck<U> = (who: AuthorizedUser<U>, verb: string, what: CheckedAttributes) => Decision

const name = (kind: string): CelType => opaque(`kubernetes.authorization.${kind}`)
export const AUTHORIZER = name('Authorizer')
export const RESOURCE_CHECK = name('ResourceCheck')
const PATH_CHECK = name('PathCheck')
const GROUP_CHECK = name('GroupCheck')
const DECISION = name('Decision')

/** A value that has functions and nothing else; it is equal to itself only. */
class Asked<T> extends Boxed {
  readonly type: CelType
  readonly content: T

  constructor(type: CelType, content: T) {
    super()
    this.type = type
    this.content = content
  }

  equals(other: CelValue): boolean | CelError {
    return this === other ? true : new CelError('no such overload')
  }
}

type Check = (verb: string, what: CheckedAttributes) => Decision
/** Asks as a user, or as a service account instead. */
interface Principal {
  readonly check: Check
  readonly as: (namespace: string, name: string) => Principal
}
interface Asking<T> {
  readonly check: Check
  readonly what: T
}

function principalOf<U>(who: AuthorizedUser<U>, check: AuthorizationCheck<U>): Principal {
  return {
    check: (verb, what) => check(who, verb, what),
    as: (namespace, account) => principalOf<U>({ serviceAccount: { namespace, name: account } }, check),
  }
}

/** The value of `authorizer`. */
export const authorizerValue = <U>(user: U, check: AuthorizationCheck<U>): CelValue =>
  new Asked(AUTHORIZER, principalOf({ user }, check))

/** The value of `authorizer.requestResource`: what the request itself is about. */
export const requestResourceValue = <U>(
  user: U,
  check: AuthorizationCheck<U>,
  what: Omit<ResourceAttributes, 'fieldSelector' | 'labelSelector'>,
): CelValue =>
  new Asked(RESOURCE_CHECK, {
    check: principalOf({ user }, check).check,
    what: { ...what, fieldSelector: '', labelSelector: '' },
  })

const isBlank = (text: string): boolean => trimSpace(text) === ''

function path({ content: { check } }: Asked<Principal>, to: string): CelValue {
  return isBlank(to) ? new CelError('path must not be empty') : new Asked(PATH_CHECK, { check, what: { path: to } })
}

function resource({ content: { check, what } }: Asked<Asking<string>>, plural: string): CelValue {
  if (isBlank(plural)) return new CelError('resource must not be empty')
  const all = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' }
  return new Asked(RESOURCE_CHECK, { check, what: { ...all, group: what, resource: plural } })
}

function serviceAccount({ content }: Asked<Principal>, namespace: string, account: string): CelValue {
  if (dnsSubdomainName(account, false).length > 0) return new CelError('Invalid service account name')
  if (dnsLabelName(namespace, false).length > 0) return new CelError('Invalid service account namespace')
  return new Asked(AUTHORIZER, content.as(namespace, account))
}

/** A check of a resource with one thing about it changed. */
const changing =
  (key: keyof ResourceAttributes) =>
  ({ content: { check, what } }: Asked<Asking<ResourceAttributes>>, value: string): CelValue =>
    new Asked(RESOURCE_CHECK, { check, what: { ...what, [key]: value } })

const attribute = (key: 'subresource' | 'namespace' | 'name'): FunctionDeclaration =>
  declare(key, method(`resourcecheck_${key}`, [RESOURCE_CHECK, STRING], RESOURCE_CHECK, changing(key)))

const decide = ({ content: { check, what } }: Asked<Asking<CheckedAttributes>>, verb: string): CelValue =>
  new Asked(DECISION, check(verb, what))

/** Two checks an expression are about what it may cost. */
const CHECK_COST = 350_000
const CHECKS: Costs = { cost: () => CHECK_COST, estimate: () => ({ cost: exactly(CHECK_COST) }) }

/** A selector is a list of requirements of at least two characters each. */
function selectorCost(length: Range): Range {
  const requirements = scaleRange(scaleRange(length, 0.5), LIST_CREATE_COST + STRUCT_CREATE_COST)
  return addRanges(addRanges(exactly(LIST_CREATE_COST), scaleRange(length, STRING_TRAVERSAL_FACTOR)), requirements)
}
const SELECTS: Costs = {
  cost: (_result: CelValue, _check: CelValue, selector: string) => selectorCost(exactly(codePointCount(selector))).max,
  estimate: (_check, selector) => ({ cost: selectorCost(sizeOrNone(selector)) }),
}

const answer = (key: string, type: CelType, read: (decision: Decision) => CelValue): FunctionDeclaration =>
  declare(
    key,
    method(`decision_${key}`, [DECISION], type, ({ content }: Asked<Decision>) => read(content)),
  )

export const authorization: Library = {
  types: [AUTHORIZER, PATH_CHECK, GROUP_CHECK, RESOURCE_CHECK, DECISION],
  functions: [
    declare('path', method('authorizer_path', [AUTHORIZER, STRING], PATH_CHECK, path)),
    declare(
      'group',
      method(
        'authorizer_group',
        [AUTHORIZER, STRING],
        GROUP_CHECK,
        ({ content: { check } }: Asked<Principal>, group: string) => new Asked(GROUP_CHECK, { check, what: group }),
      ),
    ),
    declare(
      'serviceAccount',
      method('authorizer_serviceaccount', [AUTHORIZER, STRING, STRING], AUTHORIZER, serviceAccount),
    ),
    declare('resource', method('groupcheck_resource', [GROUP_CHECK, STRING], RESOURCE_CHECK, resource)),
    attribute('subresource'),
    attribute('namespace'),
    attribute('name'),
    declare(
      'check',
      method('pathcheck_check', [PATH_CHECK, STRING], DECISION, decide, CHECKS),
      method('resourcecheck_check', [RESOURCE_CHECK, STRING], DECISION, decide, CHECKS),
    ),
    answer('errored', BOOL, ({ error }) => error !== undefined),
    answer('error', STRING, ({ error }) => error ?? ''),
    answer('allowed', BOOL, ({ allowed }) => allowed),
    answer('reason', STRING, ({ reason }) => reason),
  ],
}

export const authorizationSelectors: Library = {
  functions: (['fieldSelector', 'labelSelector'] as const).map((key) =>
    declare(
      key,
      method(`authorizer_${key.toLowerCase()}`, [RESOURCE_CHECK, STRING], RESOURCE_CHECK, changing(key), SELECTS),
    ),
  ),
}
