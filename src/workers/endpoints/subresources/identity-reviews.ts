/** Thread: pool. Questions about identity: whose a token is, and who I am. */
import type { KubeObject } from '../../../api/object.js'
import { newBadRequest, newInternalError } from '../../../api/status.js'
import type { UserInfo } from '../../../api/user-info.js'
import { withAuthenticatedGroup } from '../../../auth/authn/request-authenticator.js'
import type { TokenAuthenticator } from '../../../auth/authn/token-authenticator.js'
import { type Authenticated, InvalidCredentials } from '../../../auth/interface.js'
import { formatTime } from '../../../registry/generic/system-fields.js'
import type { EndpointHandler, HandlerTable, NamedCreate } from './handler.js'

const GROUP = 'authentication.k8s.io'

export interface IdentityReviewsOptions {
  /** Made when the first token is asked about. */
  readonly tokens: () => TokenAuthenticator
  readonly apiAudiences: readonly string[]
}

export function identityReviewRows(options: IdentityReviewsOptions): HandlerTable {
  return {
    [`tokenreviews.${GROUP}`]: { make: () => new TokenReviews(options) },
    [`selfsubjectreviews.${GROUP}`]: { make: () => new SelfSubjectReviews() },
  }
}

interface TokenReview extends KubeObject {
  spec?: { token?: string; audiences?: string[] | null }
}

class TokenReviews implements EndpointHandler {
  readonly recordsManagers = true
  readonly #options: IdentityReviewsOptions

  constructor(options: IdentityReviewsOptions) {
    this.#options = options
  }

  async create({ object, validate }: NamedCreate): Promise<KubeObject> {
    const review: TokenReview = object
    const { token = '', audiences } = review.spec ?? {}
    if (token === '') throw newBadRequest('token is required for TokenReview in authentication')
    await validate(structuredClone(object))
    const wanted = audiences === undefined || audiences === null ? [] : audiences
    return { ...review, status: await this.#judge(token, wanted.length === 0 ? this.#options.apiAudiences : wanted) }
  }

  async #judge(token: string, audiences: readonly string[]): Promise<object> {
    let found: Authenticated | undefined
    try {
      found = await this.#options.tokens().authenticateToken(token, audiences)
    } catch (error) {
      if (error instanceof InvalidCredentials) return { error: error.message, user: {} }
      throw error
    }
    if (found === undefined) return { error: 'invalid bearer token', user: {} }
    const granted = found.audiences ?? []
    if (!granted.some((one) => audiences.includes(one))) throw newInternalError('error validating audiences')
    return { authenticated: true, user: shown(withAuthenticatedGroup(found.user)), audiences: [...granted] }
  }
}

class SelfSubjectReviews implements EndpointHandler {
  async create({ object, context, validate }: NamedCreate): Promise<KubeObject> {
    await validate(structuredClone(object))
    return {
      ...object,
      metadata: { creationTimestamp: formatTime(context.now()) },
      status: { userInfo: shown(context.user) },
    } as KubeObject
  }
}

function shown({ name, uid, groups, extra }: UserInfo): object {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}
