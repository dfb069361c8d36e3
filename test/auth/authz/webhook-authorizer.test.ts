import t from 'tap'
import type { JsonObject } from '#keelson/api/object.js'
import { AuthorizerChain } from '#keelson/auth/authz/authorizer-chain.js'
import { alwaysAllow, alwaysDeny, privilegedGroup } from '#keelson/auth/authz/fixed-authorizers.js'
import { MatchConditions } from '#keelson/auth/authz/match-conditions.js'
import { WebhookAuthorizer } from '#keelson/auth/authz/webhook-authorizer.js'
import { WebhookMetrics } from '#keelson/auth/authz/webhook-metrics.js'
import type { Attributes, Verdict } from '#keelson/auth/interface.js'
import { WebhookError } from '#keelson/auth/webhook-client.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { FakeClock } from '../../support/fake-clock.js'

const attributes = (what: Partial<Attributes> = {}): Attributes => ({
  user: { name: 'ann', uid: 'u1', groups: ['g'], extra: { scope: ['x'] } },
  verb: 'list',
  isResourceRequest: true,
  namespace: 'a',
  apiGroup: 'apps',
  apiVersion: 'v1',
  resource: 'deployments',
  subresource: '',
  name: '',
  path: '',
  ...what,
})

function setUp(
  answer: (spec: JsonObject) => JsonObject,
  version: 'v1' | 'v1beta1' = 'v1',
  more: { readonly failurePolicy?: 'Deny'; readonly conditions?: MatchConditions } = {},
) {
  const asked: JsonObject[] = []
  const clock = new FakeClock()
  const authorizer = new WebhookAuthorizer({
    client: {
      review: async (object) => {
        asked.push(object)
        return { status: answer(object['spec'] as JsonObject) }
      },
    },
    version,
    authorizedTtlMs: 1000,
    unauthorizedTtlMs: 100,
    failurePolicy: 'NoOpinion',
    conditions: undefined,
    metrics: new WebhookMetrics(noRecorder(), 'test'),
    clock,
    ...more,
  })
  return { authorizer, asked, clock }
}

t.test('what is asked', async (t) => {
  const { authorizer, asked } = setUp(() => ({ allowed: true }))
  await authorizer.authorize(
    attributes({ fieldSelector: 'metadata.name=x,spec.y!=z', labelSelector: 'app in (a,b),!old' }),
  )
  t.same(asked[0], {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      resourceAttributes: {
        namespace: 'a',
        verb: 'list',
        group: 'apps',
        version: 'v1',
        resource: 'deployments',
        fieldSelector: {
          requirements: [
            { key: 'metadata.name', operator: 'In', values: ['x'] },
            { key: 'spec.y', operator: 'NotIn', values: ['z'] },
          ],
        },
        labelSelector: {
          requirements: [
            { key: 'app', operator: 'In', values: ['a', 'b'] },
            { key: 'old', operator: 'DoesNotExist' },
          ],
        },
      },
      user: 'ann',
      groups: ['g'],
      extra: { scope: ['x'] },
      uid: 'u1',
    },
  })
  const beta = setUp(() => ({ allowed: true }), 'v1beta1')
  await beta.authorizer.authorize(attributes({ isResourceRequest: false, path: '/x', verb: 'get' }))
  t.match(beta.asked[0], {
    apiVersion: 'authorization.k8s.io/v1beta1',
    spec: { nonResourceAttributes: { path: '/x', verb: 'get' }, group: ['g'] },
  })
})

t.test('what is answered, and for how long it is kept', async (t) => {
  let status: JsonObject = { allowed: true, reason: 'so' }
  const { authorizer, asked, clock } = setUp(() => status)
  t.match(await authorizer.authorize(attributes()), { decision: 'allow', reason: 'so' })
  status = { allowed: false }
  t.match(authorizer.authorize(attributes()), { decision: 'allow' }, 'at once, from what is kept')
  await authorizer.authorize(attributes({ name: 'other' }))
  t.equal(asked.length, 2, 'another question is another question')
  await clock.advance(1001)
  t.match(await authorizer.authorize(attributes()), { decision: 'no-opinion' })
  await clock.advance(50)
  t.match(authorizer.authorize(attributes()), { decision: 'no-opinion' })
  await clock.advance(51)
  status = { allowed: false, denied: true, reason: 'never' }
  t.match(await authorizer.authorize(attributes()), { decision: 'deny', reason: 'never' })
  status = { allowed: true, denied: true }
  t.match(await authorizer.authorize(attributes({ name: 'odd' })), { decision: 'deny', error: /both allow and deny/ })
})

t.test('one that cannot be asked has no opinion, and says why', async (t) => {
  const { authorizer } = setUp(() => {
    throw new WebhookError('no answer', true)
  })
  t.match(await authorizer.authorize(attributes()), { decision: 'no-opinion', error: 'no answer' })
  t.match(authorizer.rulesFor({ name: 'x', uid: '', groups: [], extra: {} }), { incomplete: true })
})

t.test('the failure policy says what it means that it cannot be asked', async (t) => {
  const failing = (): JsonObject => {
    throw new WebhookError('no answer', true)
  }
  const { authorizer } = setUp(failing, 'v1', { failurePolicy: 'Deny' })
  t.match(await authorizer.authorize(attributes()), { decision: 'deny', error: 'no answer' })
  const conditions = new MatchConditions(["request.resourceAttributes.verb == 'list'", "request.extra['x'][0] == 'y'"])
  const undecided = setUp(() => ({ allowed: true }), 'v1', { failurePolicy: 'Deny', conditions })
  t.match(undecided.authorizer.authorize(attributes()), { decision: 'deny', error: /match condition .*no such key: x/ })
  t.match(undecided.authorizer.authorize(attributes({ verb: 'get' })), { decision: 'no-opinion', reason: '' })
  const open = setUp(() => ({ allowed: true }), 'v1', { conditions })
  t.match(open.authorizer.authorize(attributes()), { decision: 'no-opinion', error: /no such key/ })
  t.same([...undecided.asked, ...open.asked], [], 'nobody was asked')
})

t.test('match conditions see the whole question', async (t) => {
  const decide = (expression: string, what: Partial<Attributes> = {}) =>
    new MatchConditions([expression]).decide(attributes(what))
  const yes = [
    "request.resourceAttributes.namespace == 'a' && request.resourceAttributes.name == ''",
    "request.resourceAttributes.group == 'apps' && request.resourceAttributes.subresource == ''",
    "!has(request.nonResourceAttributes) && request.uid == 'u1' && request.groups.all(g, g != 'x')",
    "request.extra == {'scope': ['x']}",
    '!has(request.resourceAttributes.labelSelector)',
  ]
  for (const expression of yes) t.equal(decide(expression), 'matches', expression)
  const selected = "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'app' && 'a' in r.values)"
  t.equal(decide(selected, { labelSelector: 'app in (a,b)' }), 'matches')
  t.equal(decide('has(request.resourceAttributes)', { isResourceRequest: false, path: '/x' }), 'excluded')
  t.equal(decide("request.nonResourceAttributes.path == '/x'", { isResourceRequest: false, path: '/x' }), 'matches')
  const groups = Array.from({ length: 2000 }, (_, i) => `group-${i}`)
  const user = { name: 'u', uid: '', groups, extra: {} }
  const dear = 'request.groups.all(a, request.groups.all(b, a + b != a))'
  t.match(decide(dear, { user }), { error: /cost limit exceeded/ })
  const many = new MatchConditions(Array.from({ length: 64 }, (_, i) => `${i} < 0 || ${dear}`))
  t.match(many.decide(attributes({ user })), { error: /cost too much together/ }, 'they have one budget')
})

t.test('in order: the first that allows or denies decides, and what comes later is asked later', async (t) => {
  const user = (groups: string[]) => attributes({ user: { name: 'u', uid: '', groups, extra: {} } })
  const fixed = (verdict: Verdict | Promise<Verdict>) => ({ authorize: () => verdict, rulesFor: alwaysDeny.rulesFor })
  const decision = async (...chain: ConstructorParameters<typeof AuthorizerChain>[0]) =>
    await new AuthorizerChain(chain).authorize(user(['g']))
  const no = { decision: 'no-opinion', reason: 'not mine' } as const
  const deny = { decision: 'deny', reason: 'stop' } as const
  t.match(await decision(), { decision: 'no-opinion' }, 'nobody: no')
  t.match(await decision(fixed(no), alwaysAllow), { decision: 'allow' })
  t.match(await decision(fixed(deny), alwaysAllow), { decision: 'deny' })
  t.match(await decision(fixed(Promise.resolve(no)), fixed(deny), alwaysAllow), { decision: 'deny' })
  t.match(await decision(fixed(Promise.resolve(deny)), alwaysAllow), { decision: 'deny' })
  t.match(await decision(alwaysDeny, fixed(no)), {
    decision: 'no-opinion',
    reason: 'Everything is forbidden.\nnot mine',
  })
  const masters = new AuthorizerChain([privilegedGroup, fixed(deny)])
  t.match(masters.authorize(user(['system:masters'])), { decision: 'allow' }, 'the privileged group comes first')
  t.match(masters.authorize(user([])), { decision: 'deny' })
  const failing = { decision: 'no-opinion', reason: '', error: 'broken' } as const
  t.match(await decision(fixed(failing), fixed(no)), { decision: 'no-opinion', error: 'broken' })
})

t.test('an answer whose fields are of other types is a failure, not an opinion that nobody has', async (t) => {
  for (const status of [{ denied: 'true' }, { allowed: 'true' }, { allowed: 1 }, ['allowed'], 'allowed']) {
    const { authorizer, asked } = setUp(() => status as JsonObject, 'v1', { failurePolicy: 'Deny' })
    t.match(await authorizer.authorize(attributes()), { decision: 'deny' }, JSON.stringify(status))
    await authorizer.authorize(attributes())
    t.equal(asked.length, 2, 'a failure is not remembered')
  }
  const { authorizer } = setUp(() => ({ allowed: null, denied: null }), 'v1', { failurePolicy: 'Deny' })
  t.match(await authorizer.authorize(attributes()), { decision: 'no-opinion' })
})
