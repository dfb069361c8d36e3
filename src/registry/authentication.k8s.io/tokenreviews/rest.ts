/** Thread: pool. Whose a token is. */
import type { TokenReview, TokenReviewStatus } from '../../../api/generated/kinds/authentication.v1.js'
import type { KubeObject } from '../../../api/object.js'
import { newBadRequest, newInternalError } from '../../../api/status.js'
import { withAuthenticatedGroup } from '../../../auth/authn/request-authenticator.js'
import { type Authenticated, InvalidCredentials } from '../../../auth/interface.js'
import type { EndpointHandler, NamedCreate } from '../../generic/endpoint-handler.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import type { RESTDependencies } from '../../generic/rest-dependencies.js'
import { shownUser } from '../shown-user.js'

type TokenReviewsOptions = Pick<RESTDependencies, 'tokens' | 'apiAudiences'>

class TokenReviews implements EndpointHandler {
  readonly recordsManagers = true
  readonly #options: TokenReviewsOptions

  constructor(options: TokenReviewsOptions) {
    this.#options = options
  }

  async create({ object, validate }: NamedCreate): Promise<KubeObject> {
    const review: TokenReview = object
    const { token = '', audiences } = review.spec ?? {}
    if (token === '') throw newBadRequest('token is required for TokenReview in authentication')
    await validate(structuredClone(object))
    const wanted = audiences ?? []
    return { ...review, status: await this.#judge(token, wanted.length === 0 ? this.#options.apiAudiences : wanted) }
  }

  async #judge(token: string, audiences: readonly string[]): Promise<TokenReviewStatus> {
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
    return { authenticated: true, user: shownUser(withAuthenticatedGroup(found.user)), audiences: [...granted] }
  }
}

export const tokenReviewREST: ResourceREST = {
  resource: { make: ({ dependencies }) => new TokenReviews(dependencies) },
}
