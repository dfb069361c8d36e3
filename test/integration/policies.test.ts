import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { Exposition } from '../support/exposition.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const GROUP = 'admissionregistration.k8s.io/v1'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const SECRETS = '/api/v1/namespaces/default/secrets'
const RULE = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }

async function make(server: KeelsonProcess, at: string, object: object): Promise<void> {
  const { status, text } = await server.request('POST', at, object)
  if (status !== 201) throw new Error(text)
}

async function makePolicy(server: KeelsonProcess, name: string, spec: object, binding: object = {}): Promise<void> {
  await make(server, `/apis/${GROUP}/validatingadmissionpolicies`, {
    apiVersion: GROUP,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [RULE] }, ...spec },
  })
  await make(server, `/apis/${GROUP}/validatingadmissionpolicybindings`, {
    apiVersion: GROUP,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], ...binding },
  })
}

const configMap = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
})

const create = async (server: KeelsonProcess, object: object) => {
  const { status, json, headers } = await server.request('POST', `${CONFIGMAPS}?dryRun=All`, object)
  return { status, message: (json as { message?: string }).message ?? '', warning: headers.get('warning') ?? '' }
}

t.test('parameters come, change and go, and the next request knows', async (t) => {
  const server = await KeelsonProcess.start(['--pool-threads=2'])
  t.teardown(() => server.close())
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConditions: [
      { name: 'no-params', expression: "!has(object.metadata.labels) || !('param' in object.metadata.labels)" },
    ],
    validations: [
      { expression: 'size(object.data) <= int(params.data.max)', messageExpression: "'at most ' + params.data.max" },
    ],
  }
  const paramRef = {
    selector: { matchLabels: { param: 'yes' } },
    namespace: 'default',
    parameterNotFoundAction: 'Deny',
  }
  await makePolicy(server, 'sizes', spec, { paramRef })
  const two = configMap('two', { a: '1', b: '2' })
  t.match(await create(server, two), { status: 422, message: /no params found/ })
  const param = (name: string, max: string) => configMap(name, { max }, { param: 'yes' })
  // A parameter is of the kind that the policy is for: without any yet it would refuse itself.
  await server.request(
    'PATCH',
    `/apis/${GROUP}/validatingadmissionpolicybindings/sizes`,
    { spec: { paramRef: { ...paramRef, parameterNotFoundAction: 'Allow' } } },
    { 'content-type': 'application/merge-patch+json' },
  )
  t.match(await create(server, two), { status: 201 })
  await make(server, CONFIGMAPS, param('p1', '2'))
  t.match(await create(server, two), { status: 201 })
  await make(server, CONFIGMAPS, param('p2', '1'))
  t.match(await create(server, two), { status: 422, message: /at most 1/ }, 'every parameter counts')
  await server.request('DELETE', `${CONFIGMAPS}/p2`)
  t.match(await create(server, two), { status: 201 })
})

t.test('a kind of parameters that is not served refuses everything that the policy is for', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const spec = { paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' }, validations: [{ expression: 'true' }] }
  await makePolicy(server, 'unknown', spec, { paramRef: { name: 'a', parameterNotFoundAction: 'Allow' } })
  t.match(await create(server, configMap('a')), {
    status: 422,
    message: /failed to configure policy: failed to find resource/,
  })
})

t.test('audit annotations, warnings and metrics tell of what policies found', async (t) => {
  const folder = temporaryFolder(t, 'policies')
  const [policy, log] = [path.join(folder, 'policy.yaml'), path.join(folder, 'audit.log')]
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')
  const server = await KeelsonProcess.start([`--audit-policy-file=${policy}`, `--audit-log-path=${log}`])
  t.teardown(() => server.close())
  const spec = {
    validations: [{ expression: "object.metadata.name != 'odd'", message: 'an odd name' }],
    auditAnnotations: [{ key: 'named', valueExpression: 'string(object.metadata.name)' }],
  }
  await makePolicy(server, 'noted.example.com', spec, { validationActions: ['Warn', 'Audit'] })
  const { status, warning } = await create(server, configMap('odd'))
  t.equal(status, 201)
  t.match(
    warning,
    /Validation failed for ValidatingAdmissionPolicy 'noted.example.com' with binding 'noted.example.com': an odd name/,
  )
  const annotated = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('noted.example.com/named'))
      .map((line) => (JSON.parse(line) as { annotations: Record<string, string> }).annotations)
  await until(async () => annotated().length > 0, { what: 'the audit log to have the annotation' })
  const [annotations] = annotated()
  t.equal(annotations!['noted.example.com/named'], 'odd')
  t.match(JSON.parse(annotations!['validation.policy.admission.k8s.io/validation_failure']!), [
    { message: 'an odd name', policy: 'noted.example.com', expressionIndex: 0, validationActions: ['Warn', 'Audit'] },
  ])
  const { text } = await server.request('GET', '/metrics')
  const { samples } = new Exposition(text).families.get('apiserver_validating_admission_policy_check_total')!
  t.same(new Set(samples.map(({ labels }) => labels['enforcement_action'])), new Set(['warn', 'audit']))
})

t.test('policies that cost as much as they may do not keep a thread from others', async (t) => {
  const server = await KeelsonProcess.start(['--pool-threads=1'])
  t.teardown(() => server.close())
  const list = JSON.stringify(Array.from({ length: 60 }, (_, i) => i))
  const dear = `${list}.all(a, ${list}.all(b, ${list}.all(c, a + b + c >= 0)))`
  for (let i = 0; i < 12; i++) await makePolicy(server, `dear${i}`, { validations: [{ expression: dear }] })
  const order: string[] = []
  const slow = create(server, configMap('slow')).then(({ status }) => order.push(`slow ${status}`))
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 's' } }
  const quick = server
    .request('POST', `${SECRETS}?dryRun=All`, secret)
    .then(({ status }) => order.push(`quick ${status}`))
  await Promise.all([slow, quick])
  t.equal(order[0], 'quick 201', 'who comes later and has nothing to do with policies is answered first')
})

t.test('parameters as many and as large as users make them do not keep a thread from others', async (t) => {
  const server = await KeelsonProcess.start(['--pool-threads=1'])
  t.teardown(() => server.close())
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [{ expression: "params.data.k0 != ''" }],
  }
  const paramRef = { selector: { matchLabels: { param: 'yes' } }, parameterNotFoundAction: 'Allow' }
  const large = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`k${i}`, '"\n'.repeat(25_000)]))
  for (let i = 0; i < 60; i++) await make(server, CONFIGMAPS, configMap(`p${i}`, large, { param: 'yes' }))
  await makePolicy(server, 'many', spec, { paramRef })
  let isOver = false
  const slow = create(server, configMap('slow')).then(({ status }) => {
    isOver = true
    return status
  })
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 's' } }
  // One after the other, so that each needs a turn of its own.
  let quick = 0
  while (!isOver) {
    t.equal((await server.request('POST', `${SECRETS}?dryRun=All`, secret)).status, 201)
    quick++
  }
  t.equal(await slow, 201)
  t.ok(quick > 3, `${quick} others had their turn meanwhile`)
})

t.test('nobody lets a policy read what they may not read themselves', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const rbac = 'rbac.authorization.k8s.io'
  const bob = { 'impersonate-user': 'bob' }
  await make(server, `/apis/${rbac}/v1/clusterroles`, {
    metadata: { name: 'policies' },
    rules: [
      { apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ],
  })
  await make(server, `/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'policies' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'policies' },
    subjects: [{ kind: 'User', name: 'bob', apiGroup: rbac }],
  })
  const policy = (kind: string): object => ({
    metadata: { name: kind.toLowerCase() },
    spec: {
      paramKind: { apiVersion: 'v1', kind },
      matchConstraints: { resourceRules: [RULE] },
      validations: [{ expression: 'true' }],
    },
  })
  const binding = (name: string, paramRef: object): object => ({
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } },
  })
  const write = async (resource: string, object: object, headers: Record<string, string>) => {
    const { status, json } = await server.request('POST', `/apis/${GROUP}/${resource}`, object, headers)
    return { status, causes: (json as { details?: { causes?: object[] } }).details?.causes ?? [] }
  }
  const policies = 'validatingadmissionpolicies'
  const bindings = 'validatingadmissionpolicybindings'
  const refused = (field: string) => ({ status: 422, causes: [{ reason: 'FieldValueForbidden', field }] })
  t.match(await write(policies, policy('Secret'), bob), refused('spec.paramKind'))
  t.match(await write(policies, policy('ConfigMap'), bob), { status: 201 })
  t.match(await write(policies, policy('Secret'), {}), { status: 201 }, 'the privileged group may')
  t.match(await write(bindings, binding('secret', { name: 'a', namespace: 'default' }), bob), refused('spec.paramRef'))
  t.match(
    await write(bindings, binding('nowhere', { name: 'a' }), bob),
    refused('spec.paramRef'),
    'of an unknown policy',
  )
  t.match(
    await write(bindings, binding('configmap', { selector: {}, namespace: 'default' }), bob),
    refused('spec.paramRef'),
  )
  t.match(await write(bindings, binding('configmap', { name: 'a', namespace: 'default' }), bob), { status: 201 })
})
