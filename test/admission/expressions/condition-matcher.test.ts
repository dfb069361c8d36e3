import t from 'tap'
import { ConditionMatcher } from '#keelson/admission/expressions/condition-matcher.js'
import { withAuthorizations } from '#keelson/admission/expressions/expression-authorizer.js'
import { systemClock } from '#keelson/lib/clock.js'
import { inputOf } from './fixture.js'

const matcher = (...expressions: string[]) =>
  new ConditionMatcher(
    expressions.map((expression, i) => ({ name: `c${i}`, expression })),
    systemClock,
  )

t.test('all conditions must be true', async (t) => {
  const input = inputOf({ object: { metadata: { name: 'a' }, data: { k: 'v' } } })
  t.match(matcher('object.data.k == "v"', 'request.operation == "CREATE"').decide(input), { matches: true, failed: 0 })
  t.match(matcher('object.data.k == "v"', 'false').decide(input), { matches: false, error: undefined })
})

t.test('a condition that is false wins over one that fails, before or after it', async (t) => {
  const input = inputOf({ object: {} })
  for (const conditions of [
    ['object.absent == 1', 'false'],
    ['false', 'object.absent == 1'],
  ])
    t.match(matcher(...conditions).decide(input), { matches: false, error: undefined })
  t.match(matcher('true', 'object.absent == 1').decide(input), {
    matches: false,
    error: /no such key: absent/,
    failed: 1,
  })
})

t.test('a condition that does not compile fails, and does not match silently', async (t) => {
  t.match(matcher('object.').decide(inputOf({})), { matches: false, error: /compilation/, failed: 1 })
  t.match(matcher('object').decide(inputOf({})), { matches: false, error: /must evaluate to bool but got dyn/ })
})

t.test('conditions that cost too much together fail together', async (t) => {
  const many = Array.from({ length: 100 }, (_, i) => i)
  const dear = 'object.list.all(a, object.list.all(b, object.list.all(c, a + b + c >= 0)))'
  const result = matcher(dear, dear, dear, dear, dear, dear).decide(inputOf({ object: { list: many } }))
  t.match(result, { matches: false, error: /cost/ })
})

t.test('an authorizer that answers later is waited for, and asked once for the same', async (t) => {
  const asked: string[] = []
  const authorize = async ({ verb, resource, name }: { verb: string; resource: string; name: string }) => {
    asked.push(`${verb} ${resource} ${name}`)
    return { decision: verb === 'get' ? 'allow' : 'no-opinion', reason: '' } as const
  }
  const check = "authorizer.group('').resource('secrets').name('s')"
  const conditions = matcher(
    `${check}.check('get').allowed() && !${check}.check('delete').allowed()`,
    `${check}.check('get').allowed()`,
    "!authorizer.requestResource.check('approve').allowed()",
  )
  const input = inputOf({ authorizer: { authorize } })
  t.match(await withAuthorizations(() => conditions.decide(input)), { matches: true })
  t.same(asked, ['get secrets s', 'delete secrets s', 'approve configmaps x'])
})
