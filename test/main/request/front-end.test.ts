import t from 'tap'
import type { Attributes } from '#keelson/auth/interface.js'
import type { ObservedRequest, RequestOutcome } from '#keelson/main/request/request-observer.js'
import { ALICE, deciding, frontEnd } from './front-end-fixture.js'

t.test('what answers at once keeps a request in its turn', async (t) => {
  const asked: Attributes[] = []
  const { send, ran } = frontEnd({ authorizer: deciding('allow', '', asked) })
  t.equal(send({ rawPath: '/x' }).body, 'ok')
  t.same(ran, ['x'])
  t.match(asked, [{ user: ALICE, verb: 'get', path: '/x', isResourceRequest: false }])
})

t.test('observers learn who asked for what and how it ended', async (t) => {
  const seen: [ObservedRequest, RequestOutcome | undefined][] = []
  const observer = {
    onRequest: (request: ObservedRequest) => void seen.push([request, undefined]),
    onFinished: (request: ObservedRequest, outcome: RequestOutcome) => void seen.push([request, outcome]),
  }
  const { send } = frontEnd({ observer, authorizer: deciding('allow') })
  send({ rawPath: '/x' })
  send({ rawPath: '/api/v1/namespaces/n/pods', query: 'dryRun=All', method: 'POST' })
  const [first, finished, second] = seen
  t.equal(first?.[0], finished?.[0], 'one object')
  t.match(finished?.[0], { user: ALICE, scope: '', verdict: { decision: 'allow' } })
  t.match(finished?.[1], { status: 200, bytes: 2, durationMs: 0 })
  t.match(second?.[0], { scope: 'resource', dryRun: true, info: { verb: 'create' } })
})
