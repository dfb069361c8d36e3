import t from 'tap'
import type { Attributes, Verdict } from '#keelson/auth/interface.js'
import { authorizeVerb } from '#keelson/workers/endpoints/authorize-verb.js'
import { WorkerRequest } from '#keelson/workers/endpoints/request.js'
import { EndpointFixture, refusal, SOMEBODY } from '../../support/endpoint-fixture.js'

function asking(verdict: Verdict) {
  const fixture = new EndpointFixture()
  const asked: Attributes[] = []
  const authorizer = {
    authorize: async (attributes: Attributes) => {
      asked.push(attributes)
      return verdict
    },
  }
  const { request, endpoint } = fixture.worker('PUT', '/apis/apps/v1/namespaces/default/deployments/d/scale')
  const worker = new WorkerRequest(request, endpoint, {
    admission: fixture.admission,
    authorizer,
    clock: fixture.clock,
  })
  return { asked, answer: authorizeVerb(worker, 'create') }
}

t.test('the same object is asked about, with the other verb', async (t) => {
  const { asked, answer } = asking({ decision: 'allow', reason: '' })
  await answer
  t.match(asked, [
    {
      user: SOMEBODY,
      verb: 'create',
      isResourceRequest: true,
      namespace: 'default',
      apiGroup: 'apps',
      apiVersion: 'v1',
      resource: 'deployments',
      subresource: 'scale',
      name: 'd',
    },
  ])
})

t.test('anything but yes is no; who cannot decide is told from who says no', async (t) => {
  t.match(await refusal(asking({ decision: 'deny', reason: 'not today' }).answer), { code: 403, message: /not today/ })
  t.match(await refusal(asking({ decision: 'no-opinion', reason: '' }).answer), { code: 403 })
  const broken = asking({ decision: 'no-opinion', reason: '', error: 'the webhook is away' })
  t.match(await refusal(broken.answer), { code: 500, message: /the webhook is away/ })
})
