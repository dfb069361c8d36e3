/** Thread: pool. Who I am, as the server sees it. */
import type { KubeObject } from '../../../api/object.js'
import type { EndpointHandler, NamedCreate } from '../../generic/endpoint-handler.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import { formatTime } from '../../generic/system-fields.js'
import { shownUser } from '../shown-user.js'

class SelfSubjectReviews implements EndpointHandler {
  async create({ object, context, validate }: NamedCreate): Promise<KubeObject> {
    await validate(structuredClone(object))
    return {
      ...object,
      metadata: { creationTimestamp: formatTime(context.now()) },
      status: { userInfo: shownUser(context.user) },
    }
  }
}

export const selfSubjectReviewREST: ResourceREST = { resource: { make: () => new SelfSubjectReviews() } }
