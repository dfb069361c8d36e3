import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { authorizationConfiguration } from '#keelson/auth/authz/authorization-configuration.js'
import { ConfigurationErrors } from '#keelson/auth/configuration-object.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const HEAD = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' }
const folder = temporaryFolder(t, 'authorization')
const kubeConfigFile = path.join(folder, 'webhook.kubeconfig')
writeFileSync(kubeConfigFile, 'clusters: [{name: hook, cluster: {server: "https://hook.example"}}]')
const webhook = {
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'Deny',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
}
const RBAC = { type: 'RBAC', name: 'rbac' }
const hook = (more: object = {}) => ({ type: 'Webhook', name: 'hook', webhook: { ...webhook, ...more } })

const read = (...authorizers: object[]) => authorizationConfiguration(JSON.stringify({ ...HEAD, authorizers }))

function errorsOf(...authorizers: object[]): readonly string[] {
  try {
    read(...authorizers)
    return []
  } catch (error) {
    if (error instanceof ConfigurationErrors) return error.lines
    throw error
  }
}

t.test('what a file says is plain data, in order', async (t) => {
  const conditions = {
    matchConditionSubjectAccessReviewVersion: 'v1',
    matchConditions: [{ expression: 'has(request.resourceAttributes)' }],
  }
  const more = hook({ ...conditions, authorizedTTL: '1m', cacheUnauthorizedRequests: false })
  t.match(read({ type: 'Node', name: 'node' }, hook(), RBAC, { ...more, name: 'other' }), {
    authorizers: [
      { type: 'Node', name: 'node' },
      {
        type: 'Webhook',
        name: 'hook',
        connection: { server: 'https://hook.example' },
        version: 'v1',
        timeoutMs: 3000,
        authorizedTtlMs: 300_000,
        unauthorizedTtlMs: 30_000,
        failurePolicy: 'Deny',
        matchConditions: [],
      },
      { type: 'RBAC' },
      { authorizedTtlMs: 60_000, unauthorizedTtlMs: 0, matchConditions: ['has(request.resourceAttributes)'] },
    ],
  })
})

t.test('everything that is wrong is told with its path', async (t) => {
  const file = (name: string) => hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: name } })
  const condition = (expression: string) =>
    hook({ matchConditionSubjectAccessReviewVersion: 'v1', matchConditions: [{ expression }] })
  const at = 'authorizers\\[0\\].webhook'
  const wrong: [string, object[], string[]][] = [
    ['nobody', [], ['^authorizers: Required value: at least one']],
    ['no type', [{ name: 'a' }], ['^authorizers\\[0\\].type: Required value']],
    [
      'an unknown type',
      [{ type: 'ABAC', name: 'a' }],
      ['^authorizers\\[0\\].type: Unsupported value: "ABAC": supported'],
    ],
    ['a type twice', [RBAC, { ...RBAC, name: 'b' }], ['^authorizers\\[1\\].type: Duplicate value']],
    ['a name twice', [hook(), hook()], ['^authorizers\\[1\\].name: Duplicate value: "hook"']],
    ['a bad name', [{ ...RBAC, name: 'A b' }], ['authorizer name is invalid']],
    ['no name', [{ type: 'RBAC' }], ['^authorizers\\[0\\].name: Required value']],
    ['no webhook', [{ type: 'Webhook', name: 'a' }], [`^${at}: Required value: required when type=Webhook`]],
    ['a webhook of another', [{ ...RBAC, webhook }], [`^${at}: Invalid value: may only be specified`]],
    ['no timeout', [hook({ timeout: undefined })], [`^${at}.timeout: Required value`]],
    ['a long timeout', [hook({ timeout: '31s' })], [`^${at}.timeout: .*must be > 0s and <= 30s`]],
    ['no duration', [hook({ authorizedTTL: 'x' })], [`^${at}.authorizedTTL: .*must be a duration`]],
    ['time that goes back', [hook({ unauthorizedTTL: '-1s' })], [`^${at}.unauthorizedTTL: .*must be > 0s`]],
    ['a version', [hook({ subjectAccessReviewVersion: 'v2' })], [`^${at}.subjectAccessReviewVersion: Unsupported`]],
    ['no policy', [hook({ failurePolicy: '' })], [`^${at}.failurePolicy: Required value`]],
    ['a policy', [hook({ failurePolicy: 'Fail' })], [`^${at}.failurePolicy: Unsupported value: "Fail"`]],
    ['no connection', [hook({ connectionInfo: {} })], [`^${at}.connectionInfo.type: Required value`]],
    ['a relative path', [file('x')], ['must be an absolute path']],
    ['no file', [file(path.join(folder, 'none'))], [`^${at}.connectionInfo.kubeConfigFile: Invalid value: .*ENOENT`]],
    ['no path', [file('')], [`^${at}.connectionInfo.kubeConfigFile: Required value`]],
    ['no pod', [hook({ connectionInfo: { type: 'InClusterConfig' } })], ['this server is no pod of a cluster']],
    [
      'conditions without version',
      [hook({ matchConditions: [{ expression: 'true' }] })],
      ['required if match conditions'],
    ],
    ['a condition', [condition('request.x')], [`^${at}.matchConditions\\[0\\].expression: .*undefined field 'x'`]],
    ['no yes or no', [condition('request.user')], ['must evaluate to bool']],
    ['no expression', [condition(' ')], [`^${at}.matchConditions\\[0\\].expression: Required value`]],
    ['an unknown field', [hook({ x: 1 })], [`unknown field "${at}.x"`]],
  ]
  for (const [what, authorizers, expected] of wrong)
    t.match(
      errorsOf(...authorizers),
      expected.map((pattern) => new RegExp(pattern)),
      what,
    )
})
