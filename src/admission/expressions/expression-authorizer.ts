/**
 * Thread: pool. `authorizer` in expressions. Authorizers mostly read shared memory and answer at once. One that must ask somebody
 * else gives a promise: then the evaluation is given up by throwing PendingAuthorization, and done again when the answer is there
 * (expressions have no effects). An answer is kept as long as the request, whoever asks for it again.
 */
import {
  type AuthorizedUser,
  authorizerValue,
  type CheckedAttributes,
  type Decision,
  requestResourceValue,
} from '../../api/cel/library/authorizer.js'
import type { CelValue } from '../../api/cel/values/value.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Attributes, Authorizer, Verdict } from '../../auth/interface.js'
import type { AdmissionAttributes } from '../chain.js'

/** Thrown through an evaluation that needs an answer that is not there yet. */
class PendingAuthorization extends Error {
  override readonly name = 'PendingAuthorization'
  readonly answer: Promise<unknown>

  constructor(answer: Promise<unknown>) {
    super('an authorization is under way')
    this.answer = answer
  }
}

/** Runs an evaluation as often as it takes until every authorization that it asks for is known. */
export async function withAuthorizations<R>(evaluate: () => R): Promise<R> {
  for (;;) {
    try {
      return evaluate()
    } catch (error) {
      if (!(error instanceof PendingAuthorization)) throw error
      await error.answer
    }
  }
}

export class ExpressionAuthorizer {
  readonly #authorizer: Authorizer | undefined
  readonly #attributes: AdmissionAttributes
  readonly #known = new Map<string, Decision>()
  #value: CelValue | undefined
  #requestResource: CelValue | undefined

  constructor(authorizer: Authorizer | undefined, attributes: AdmissionAttributes) {
    this.#authorizer = authorizer
    this.#attributes = attributes
  }

  /** The value of `authorizer`. */
  get value(): CelValue {
    this.#value ??= authorizerValue(this.#attributes.user, this.#check)
    return this.#value
  }

  /** The value of `authorizer.requestResource`. */
  get requestResource(): CelValue {
    const { user, resource, subresource, namespace, name } = this.#attributes
    const { group, resource: plural } = resource
    const asked = { group, resource: plural, subresource, namespace, name }
    this.#requestResource ??= requestResourceValue(user, this.#check, asked)
    return this.#requestResource
  }

  readonly #check = (who: AuthorizedUser<UserInfo>, verb: string, what: CheckedAttributes): Decision => {
    const key = JSON.stringify(['user' in who ? null : who.serviceAccount, verb, what])
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#authorizer === undefined) return { allowed: false, reason: '', error: 'there is no authorizer' }
    const user = 'user' in who ? who.user : serviceAccountUser(who.serviceAccount)
    const verdict = this.#authorizer.authorize(questionOf(user, verb, what))
    if (!(verdict instanceof Promise)) return this.#keep(key, verdict)
    throw new PendingAuthorization(
      verdict.then(
        (answer) => this.#keep(key, answer),
        (error: unknown) => this.#keep(key, { decision: 'no-opinion', reason: '', error: String(error) }),
      ),
    )
  }

  #keep(key: string, { decision, reason, error }: Verdict): Decision {
    const kept = { allowed: decision === 'allow', reason, ...(error === undefined ? {} : { error }) }
    this.#known.set(key, kept)
    return kept
  }
}

const serviceAccountUser = ({ namespace, name }: { namespace: string; name: string }): UserInfo => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  uid: '',
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  extra: {},
})

function questionOf(user: UserInfo, verb: string, what: CheckedAttributes): Attributes {
  const nothing = { namespace: '', apiGroup: '', apiVersion: '', resource: '', subresource: '', name: '', path: '' }
  if ('path' in what) return { ...nothing, user, verb, isResourceRequest: false, path: what.path }
  const { group: apiGroup, resource, subresource, namespace, name, fieldSelector, labelSelector } = what
  return {
    ...nothing,
    user,
    verb,
    isResourceRequest: true,
    apiGroup,
    apiVersion: '*',
    resource,
    subresource,
    namespace,
    name,
    ...(fieldSelector === '' ? {} : { fieldSelector }),
    ...(labelSelector === '' ? {} : { labelSelector }),
  }
}
