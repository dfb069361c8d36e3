/** Access by files: two webhooks that authorize, configured by --authorization-config and changed while the server runs. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { AccessWebhook } from '../support/access-webhook.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const HEAD = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' }
const RELOADS = 'apiserver_authorization_config_controller_automatic_reloads_total'
const LOOK_AGAIN_MS = 100
const SECRETS = '/api/v1/namespaces/default/secrets'
const MAPS = '/api/v1/namespaces/default/configmaps'
const REVIEW = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

t.test('two webhooks with match conditions, replaced while the server runs', async (t) => {
  const folder = temporaryFolder(t, 'authorization')
  const [guard, friend] = await Promise.all([
    AccessWebhook.start(folder, 'guard', () => ({ allowed: false, denied: true, reason: 'the guard says no' })),
    AccessWebhook.start(folder, 'friend', ({ user }) => ({ allowed: user === 'jane' })),
  ])
  t.teardown(() => Promise.all([guard.close(), friend.close()]))
  const hook = ({ kubeConfigFile }: AccessWebhook, name: string, more: object) => ({
    type: 'Webhook',
    name,
    webhook: {
      timeout: '2s',
      subjectAccessReviewVersion: 'v1',
      failurePolicy: 'NoOpinion',
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
      cacheAuthorizedRequests: false,
      cacheUnauthorizedRequests: false,
      ...more,
    },
  })
  const conditions = (...expressions: string[]) => ({
    matchConditionSubjectAccessReviewVersion: 'v1',
    matchConditions: expressions.map((expression) => ({ expression })),
  })
  const onlySecrets = conditions(
    'has(request.resourceAttributes)',
    "request.resourceAttributes.resource == 'secrets' && request.user != 'admin'",
  )
  const file = path.join(folder, 'authorization.yaml')
  const write = (...authorizers: object[]): void => writeFileSync(file, JSON.stringify({ ...HEAD, authorizers }))
  const RBAC = { type: 'RBAC', name: 'rbac' }
  const FRIEND = hook(friend, 'friend', {})
  write(hook(guard, 'guard', { ...onlySecrets, failurePolicy: 'Deny' }), FRIEND, RBAC)
  const tokens = path.join(folder, 'tokens.csv')
  writeFileSync(tokens, 'admin,admin,1,"system:masters"\njane,jane,2\njoe,joe,3\n')
  const server = await KeelsonProcess.start([`--authorization-config=${file}`, `--token-auth-file=${tokens}`])
  t.teardown(() => server.close())
  const as = (user: string, at: string, body?: object) =>
    server.request(body === undefined ? 'GET' : 'POST', at, body, { authorization: `Bearer ${user}` })
  const count = async (line: string): Promise<number> => {
    const { text } = await as('admin', '/metrics')
    return Number(
      text
        .split('\n')
        .find((one) => one.startsWith(line))
        ?.split(' ')
        .at(-1) ?? 0,
    )
  }
  const reloaded = (status: string, times: number) =>
    until(
      async () => {
        // The text of all metrics is long: asking for it all the time would slow down what is waited for.
        await sleep(LOOK_AGAIN_MS)
        return (await count(`${RELOADS}{status="${status}"`)) === times
      },
      { what: `${times} reloads with ${status}` },
    )

  t.equal((await as('jane', MAPS)).status, 200, 'the second webhook allows it')
  t.equal(guard.asked.length, 0, 'the first was not asked of it')
  t.equal((await as('joe', MAPS)).status, 403)
  const refused = await as('jane', SECRETS)
  t.equal(refused.status, 403, 'the first webhook denies it, and nobody else is asked')
  t.match(refused.json, { message: /the guard says no/ })
  const spec = { user: 'jane', resourceAttributes: { verb: 'list', resource: 'secrets', namespace: 'default' } }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const reviewed = async () => (await as('admin', REVIEW, review)).json as { status: object }
  t.match(await reviewed(), { status: { allowed: false, denied: true } }, 'threads of the pool go by the same file')
  t.ok((await count('apiserver_authorization_match_condition_exclusions_total{type="Webhook",name="guard"}')) >= 1)
  t.ok((await count('apiserver_authorization_decisions_total{type="Webhook",name="guard",decision="denied"}')) >= 2)

  guard.answer = () => undefined
  t.equal(
    (await as('jane', SECRETS)).status,
    500,
    'a guard that never answers denies, by its failure policy, and why is an error',
  )
  t.equal(await count('apiserver_authorization_webhook_evaluations_total{name="guard",result="timeout"}'), 1)

  write(hook(guard, 'guard', { ...onlySecrets, failurePolicy: 'Open' }), RBAC)
  await reloaded('failure', 1)
  t.equal((await as('jane', MAPS)).status, 200, 'a wrong file changes nothing')

  write(FRIEND, RBAC)
  await reloaded('success', 1)
  t.equal((await as('jane', SECRETS)).status, 200, 'the guard is gone')
  t.match(await reviewed(), { status: { allowed: true } }, 'in the pool too')

  write(hook(guard, 'guard', conditions("request.extra['tenant'][0] == 'x'")), RBAC)
  await reloaded('success', 2)
  const asked = guard.asked.length
  t.equal(
    (await as('jane', MAPS)).status,
    500,
    'conditions that cannot be decided leave it to roles, and jane has none',
  )
  t.equal(guard.asked.length, asked)
  t.ok(
    (await count('apiserver_authorization_match_condition_evaluation_errors_total{type="Webhook",name="guard"}')) >= 1,
  )

  write({ type: 'AlwaysAllow', name: 'all' })
  await reloaded('success', 3)
  t.equal((await as('joe', SECRETS)).status, 200)
})
