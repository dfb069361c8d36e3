/** Thread: pool. What I may do in a namespace: the rules of everybody who answers questions about access. */
import type { SelfSubjectRulesReview } from '../../../api/generated/kinds/authorization.v1.js'
import type { KubeObject } from '../../../api/object.js'
import { newBadRequest } from '../../../api/status.js'
import type { RuleResolver } from '../../../auth/interface.js'
import type { EndpointHandler, NamedCreate } from '../../generic/endpoint-handler.js'
import type { ResourceREST } from '../../generic/resource-rest.js'

class RulesReviews implements EndpointHandler {
  readonly #resolver: RuleResolver

  constructor(resolver: RuleResolver) {
    this.#resolver = resolver
  }

  /** The answer is an object of its own: it repeats nothing of the question. */
  async create({ object, context, validate }: NamedCreate): Promise<KubeObject> {
    const { spec }: SelfSubjectRulesReview = object
    const { namespace = '' } = spec ?? {}
    if (namespace === '') throw newBadRequest('no namespace on request')
    await validate(structuredClone(object))
    const set = await this.#resolver.rulesFor(context.user, namespace)
    return {
      apiVersion: object.apiVersion!,
      kind: object.kind!,
      metadata: {},
      spec: {},
      status: {
        resourceRules: set.resourceRules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs: [...verbs],
          ...(apiGroups.length === 0 ? {} : { apiGroups: [...apiGroups] }),
          ...(resources.length === 0 ? {} : { resources: [...resources] }),
          ...(resourceNames.length === 0 ? {} : { resourceNames: [...resourceNames] }),
        })),
        nonResourceRules: set.nonResourceRules.map(({ verbs, nonResourceURLs }) => ({
          verbs: [...verbs],
          nonResourceURLs: [...nonResourceURLs],
        })),
        incomplete: set.incomplete,
        ...(set.error === '' ? {} : { evaluationError: set.error }),
      },
    }
  }
}

export const selfSubjectRulesReviewREST: ResourceREST = {
  resource: { make: ({ dependencies }) => new RulesReviews(dependencies.authorizer) },
}
