import t from 'tap'
import { ConditionMetrics } from '#keelson/admission/expressions/condition-metrics.js'
import { ValidatingEvaluator } from '#keelson/admission/policies/validating-policy.js'
import type { ValidatingAdmissionPolicy } from '#keelson/api/generated/kinds/admissionregistration.v1.js'
import { systemClock } from '#keelson/lib/clock.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { type InputParts, inputOf } from '../expressions/fixture.js'

type Spec = NonNullable<ValidatingAdmissionPolicy['spec']>

const metrics = new ConditionMetrics(noRecorder(), 'policy', 'validate')
const validate = (spec: Spec, parts: InputParts = {}) =>
  new ValidatingEvaluator(
    { metadata: { name: 'p' }, spec } as ValidatingAdmissionPolicy,
    systemClock,
    metrics,
  ).validate(inputOf({ object: { metadata: { name: 'x' }, data: { k: 'v' } }, ...parts }))

t.test('a validation that holds admits, one that does not denies with its message and reason', async (t) => {
  const { decisions } = validate({
    validations: [
      { expression: "object.data.k == 'v'" },
      { expression: ' false ', reason: 'Forbidden' },
      { expression: 'false', message: ' said plainly ' },
    ],
  })
  t.match(decisions, [
    { action: 'admit' },
    { action: 'deny', message: 'failed expression: false', reason: 'Forbidden' },
    { action: 'deny', message: 'said plainly', reason: undefined },
  ])
})

t.test('messageExpression goes before message, unless it fails, is blank, too long or has lines', async (t) => {
  const message = (messageExpression: string): string =>
    validate({ validations: [{ expression: 'false', message: 'plain', messageExpression }] }).decisions[0]!.message
  t.equal(message("'k is ' + object.data.k"), 'k is v')
  t.equal(message('string(object.absent)'), 'plain')
  t.equal(message("'  '"), 'plain')
  t.equal(message("'a\\nb'"), 'plain')
  t.equal(message(`'${'x'.repeat(5200)}'`), 'plain')
})

t.test('what fails denies, or admits when failures are ignored', async (t) => {
  const validations = [{ expression: 'object.absent == 1' }, { expression: 'nothing()' }]
  const failed = { evaluation: 'error' } as const
  t.match(validate({ validations }).decisions, [
    { ...failed, action: 'deny', message: /resulted in error: no such key: absent/ },
    { ...failed, action: 'deny', message: /compilation error/ },
  ])
  const ignored = validate({ validations, failurePolicy: 'Ignore' }).decisions
  t.match(ignored, [
    { ...failed, action: 'admit' },
    { ...failed, action: 'admit' },
  ])
})

t.test('match conditions leave requests out, see no namespace, and fail as the failure policy says', async (t) => {
  const spec = (expression: string, more: object = {}): Spec => ({
    validations: [{ expression: 'false' }],
    matchConditions: [{ name: 'c', expression }],
    ...more,
  })
  t.same(validate(spec("request.name == 'y'")).decisions, [])
  t.equal(validate(spec("request.name == 'x'")).decisions.length, 1)
  const namespace = { metadata: { name: 'n' } }
  t.match(validate(spec("namespaceObject.metadata.name == 'n'"), { namespace }).decisions, [{ evaluation: 'error' }])
  t.same(validate(spec('object.absent', { failurePolicy: 'Ignore' })).decisions, [])
})

t.test('variables are evaluated when they are read, once, and may speak of those before them', async (t) => {
  let asked = 0
  const authorizer = { authorize: () => ({ decision: ++asked > 0 ? 'allow' : 'deny', reason: '' }) as const }
  const { decisions } = validate(
    {
      variables: [
        { name: 'unused', expression: "authorizer.path('/unused').check('get').allowed()" },
        { name: 'two', expression: '1 + 1' },
        { name: 'four', expression: 'variables.two * 2' },
        { name: 'broken', expression: 'object.absent.deep' },
      ],
      validations: [
        { expression: 'variables.four == 4' },
        { expression: 'variables.broken == 1' },
        { expression: 'has(object.absent) && variables.broken == 1 || variables.two == 2' },
      ],
    },
    { authorizer },
  )
  t.equal(asked, 0)
  t.match(decisions, [
    { action: 'admit' },
    { message: /composited variable "broken" fails to evaluate: no such key: absent/ },
    { action: 'admit' },
  ])
})

t.test('a variable that means itself is an error, not the end of the thread', async (t) => {
  const variables = [
    { name: 'a', expression: '1' },
    { name: 'a', expression: 'variables.a + 1' },
  ]
  t.match(validate({ variables, validations: [{ expression: 'variables.a > 0' }] }).decisions, [
    { evaluation: 'error', message: /refers to itself/ },
  ])
})

t.test('messages may not ask what the user may do, nor may variables on their behalf', async (t) => {
  const authorizer = { authorize: () => ({ decision: 'allow', reason: '' }) as const }
  const { decisions } = validate(
    {
      variables: [{ name: 'may', expression: "authorizer.path('/x').check('get').allowed()" }],
      validations: [{ expression: '!variables.may', message: 'plain', messageExpression: 'string(variables.may)' }],
    },
    { authorizer },
  )
  t.match(decisions, [{ action: 'deny', message: 'plain' }])
})

t.test('all validations of a binding share a budget; beyond it there is one error for all', async (t) => {
  const list = Array.from({ length: 90 }, (_, i) => i)
  // Each is just below what one expression may cost.
  const dear = 'object.list.all(a, object.list.all(b, object.list.all(c, true)) || true)'
  const cheap = 'object.list.all(a, object.list.all(b, a + b >= 0))'
  const many = Array.from({ length: 400 }, () => ({ expression: cheap }))
  t.match(validate({ validations: many }, { object: { list } }).decisions, [
    { action: 'deny', evaluation: 'error', message: /running out of cost budget/ },
  ])
  t.match(validate({ validations: [{ expression: dear }] }, { object: { list } }).decisions, [
    { evaluation: 'error', message: /actual cost limit exceeded/ },
  ])
})

t.test('audit annotations: texts are kept, null and blank ones are not, failures deny', async (t) => {
  const { annotations } = validate({
    auditAnnotations: [
      { key: 'a', valueExpression: "' k=' + object.data.k + ' '" },
      { key: 'b', valueExpression: 'null' },
      { key: 'c', valueExpression: "''" },
      { key: 'd', valueExpression: 'string(object.absent)' },
    ],
  })
  t.match(annotations, [
    { key: 'a', value: 'k=v' },
    { key: 'd', error: /no such key/ },
  ])
})

t.test('params are null where a binding gives none', async (t) => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const validations = [{ expression: 'params == null' }, { expression: "params.data.a == 'b'" }]
  t.match(validate({ paramKind, validations }).decisions, [{ action: 'admit' }, { evaluation: 'error' }])
  t.match(validate({ paramKind, validations }, { params: { data: { a: 'b' } } }).decisions, [
    { action: 'deny' },
    { action: 'admit' },
  ])
})
