import t, { type Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'

interface Answer {
  kind: string
  code?: number
  reason?: string
  message?: string
  details?: { kind?: string; retryAfterSeconds?: number; causes?: { reason?: string; field?: string }[] }
  metadata: {
    name: string
    uid: string
    resourceVersion: string
    generation?: number
    labels?: Record<string, string>
    annotations?: Record<string, string>
    deletionTimestamp?: string
    managedFields?: { manager: string; operation: string; subresource?: string; fieldsV1: object }[]
  }
  spec: Record<string, unknown>
  status: Record<string, unknown> & { conditions?: { type: string; status: string }[] }
  items: { metadata: { name: string }; conditions: { status: string }[] }[]
}

const NAMESPACE = '/api/v1/namespaces/default'
const PODS = `${NAMESPACE}/pods`
const MERGE = { 'content-type': 'application/merge-patch+json' }
const APPLY = { 'content-type': 'application/apply-patch+yaml' }
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const pod = (name: string, labels: Record<string, string> = {}, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

t.test('subresources', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer & { http: number }> => {
    const answer = await server.request(method, path, body, headers)
    return { ...(answer.json as Answer), http: answer.status }
  }
  const made = async (t: Test, path: string, body: unknown): Promise<Answer> => {
    const answer = await ask('POST', path, body)
    t.equal(answer.http, 201, answer.message ?? path)
    return answer
  }

  await t.test('scale is the same of every workload', async (t) => {
    const spec = { replicas: 2, selector: { matchLabels: { app: 'a' } }, template }
    const workloads: [string, string, object, string][] = [
      ['/apis/apps/v1/namespaces/default/deployments', 'Deployment', spec, 'apps/v1'],
      ['/apis/apps/v1/namespaces/default/replicasets', 'ReplicaSet', spec, 'apps/v1'],
      ['/apis/apps/v1/namespaces/default/statefulsets', 'StatefulSet', { ...spec, serviceName: 's' }, 'apps/v1'],
      [`${NAMESPACE}/replicationcontrollers`, 'ReplicationController', { ...spec, selector: { app: 'a' } }, 'v1'],
    ]
    for (const [path, kind, spec, apiVersion] of workloads) {
      const parent = await made(t, path, { apiVersion, kind, metadata: { name: 'w' }, spec })
      const scale = await ask('GET', `${path}/w/scale`)
      t.match(scale, { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 2 } }, kind)
      t.equal(scale.status['selector'], 'app=a')
      t.equal(scale.metadata.uid, parent.metadata.uid)
      const put = await ask('PUT', `${path}/w/scale`, { ...scale, spec: { replicas: 3 } })
      t.match(put, { http: 200, spec: { replicas: 3 } })
      const stale = await ask('PUT', `${path}/w/scale`, { ...scale, spec: { replicas: 4 } })
      t.match(stale, { http: 409, reason: 'Conflict' }, 'an older resourceVersion is a conflict')
      const other = { ...scale, metadata: { name: 'w', uid: 'other' }, spec: { replicas: 4 } }
      t.equal((await ask('PUT', `${path}/w/scale`, other)).http, 409, 'so is another uid')
      const elsewhere = { ...scale, metadata: { name: 'w', namespace: 'other' }, spec: { replicas: 4 } }
      t.match(await ask('PUT', `${path}/w/scale`, elsewhere), { http: 400, reason: 'BadRequest' })
      const negative = await ask('PATCH', `${path}/w/scale`, { spec: { replicas: -1 } }, MERGE)
      t.match(negative, { http: 422, details: { kind: 'Scale', causes: [{ field: 'spec.replicas' }] } })
      const dry = await ask('PATCH', `${path}/w/scale?dryRun=All`, { spec: { replicas: 9 } }, MERGE)
      t.equal(dry.spec['replicas'], 9)
      const after = await ask('GET', `${path}/w`)
      t.equal(after.spec['replicas'], 3, 'a dry run changes nothing')
      t.equal(after.metadata.generation, 2)
      t.equal((await ask('GET', `${path}/none/scale`)).http, 404)
    }
  })

  await t.test('who applies a scale owns the replicas of its parent', async (t) => {
    const path = '/apis/apps/v1/namespaces/default/deployments/w'
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w' }, spec: { replicas: 5 } }
    const conflict = await ask('PATCH', `${path}/scale?fieldManager=hpa`, scale, APPLY)
    t.match(conflict, { http: 409, reason: 'Conflict' }, 'somebody else has them')
    const forced = await ask('PATCH', `${path}/scale?fieldManager=hpa&force=true`, scale, APPLY)
    t.match(forced, { http: 200, spec: { replicas: 5 } })
    const { metadata } = await ask('GET', path)
    t.match(
      metadata.managedFields!.find(({ manager }) => manager === 'hpa'),
      { operation: 'Apply', apiVersion: 'apps/v1', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    )
    const none = { ...scale, metadata: { name: 'none' } }
    t.equal((await ask('PATCH', `${path.replace(/w$/, 'none')}/scale?fieldManager=hpa`, none, APPLY)).http, 404)
  })

  await t.test('a pod is bound once, with what the binding carries', async (t) => {
    const bound = await made(t, PODS, pod('bound'))
    const binding = (name: string, more: object = {}) => ({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, ...more },
      target: { kind: 'Node', name: 'n1' },
    })
    const bind = (name: string, body: object) => ask('POST', `${PODS}/${name}/binding`, body)
    t.equal((await bind('bound', binding('bound', { uid: 'other' }))).http, 409, 'uid is a precondition')
    t.equal((await bind('bound', binding('else'))).http, 400)
    const { resourceVersion, uid } = bound.metadata
    const good = binding('bound', { uid, resourceVersion, annotations: { a: '1' }, labels: { zone: 'z' } })
    t.match(await bind('bound', good), { http: 201, kind: 'Status', status: 'Success', code: 201 })
    const now = await ask('GET', `${PODS}/bound`)
    t.match(now, {
      metadata: { annotations: { a: '1' }, labels: { zone: 'z' }, generation: 1 },
      spec: { nodeName: 'n1' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    })
    t.match(await bind('bound', binding('bound')), { http: 409, details: { kind: 'pods/binding' } })
    await made(t, PODS, pod('gated', {}, { schedulingGates: [{ name: 'g' }] }))
    t.match(await bind('gated', binding('gated')), { http: 409, message: /schedulingGates/ })
    await made(t, PODS, pod('legacy'))
    t.equal((await ask('POST', `${NAMESPACE}/bindings`, binding('legacy'))).http, 201)
    t.equal((await ask('GET', `${PODS}/legacy`)).spec['nodeName'], 'n1')
    t.equal((await ask('GET', `${NAMESPACE}/bindings`)).http, 405)
  })

  await t.test('evictions spend the disruptions of a budget, each once', async (t) => {
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    const eviction = (name: string, more: object = {}) => ({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name },
      ...more,
    })
    const evict = (name: string, body: object = eviction(name), query = '') =>
      ask('POST', `${PODS}/${name}/eviction${query}`, body)
    const running = async (name: string, ready = 'True'): Promise<void> => {
      await made(t, PODS, pod(name, { guard: 'b' }, { nodeName: 'n1' }))
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] }
      await ask('PATCH', `${PODS}/${name}/status`, { status }, MERGE)
    }
    const allow = (disruptionsAllowed: number, more: object = {}) =>
      ask(
        'PATCH',
        `${budgets}/b/status`,
        { status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 3, desiredHealthy: 2, ...more } },
        MERGE,
      )
    await made(t, budgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b' },
      spec: { minAvailable: 1, selector: { matchLabels: { guard: 'b' } } },
    })
    for (const name of ['e1', 'e2', 'e3']) await running(name)
    const early = await evict('e1')
    t.match(early, { http: 429, details: { retryAfterSeconds: 10, causes: [{ reason: 'DisruptionBudget' }] } })
    await allow(1)
    t.equal((await evict('e1', eviction('e1'), '?dryRun=All')).http, 201)
    t.equal((await ask('GET', `${budgets}/b`)).status['disruptionsAllowed'], 1, 'a dry run spends nothing')
    const both = await Promise.all([evict('e1'), evict('e2'), evict('e3')])
    t.same(both.map(({ http }) => http).sort(), [201, 429, 429], 'one disruption, one eviction')
    const spent = await ask('GET', `${budgets}/b`)
    t.equal(spent.status['disruptionsAllowed'], 0)
    t.equal(Object.keys(spent.status['disruptedPods'] as object).length, 1)
    t.match(spent.status.conditions, [{ type: 'DisruptionAllowed', status: 'False' }])
    const gone = ['e1', 'e2', 'e3'][both.findIndex(({ http }) => http === 201)]!
    t.match(await ask('GET', `${PODS}/${gone}`), {
      metadata: { deletionTimestamp: /^2/ },
      status: { conditions: [{ type: 'Ready' }, { type: 'DisruptionTarget', status: 'True' }] },
    })
    await running('sick', 'False')
    t.equal((await evict('sick')).http, 201, 'what is not ready may go while the others are healthy')
    await allow(0, { currentHealthy: 1 })
    await running('sick2', 'False')
    t.match(await evict('sick2'), { http: 429, details: { causes: [{ reason: 'DisruptionBudget' }] } })
    await ask('PATCH', `${budgets}/b`, { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }, MERGE)
    t.equal((await evict('sick2')).http, 201, 'or always, when the budget says so')
    await made(t, PODS, pod('free'))
    for (const deleteOptions of [{ propagationPolicy: 'Sideways' }, { dryRun: ['Some'] }])
      t.equal((await evict('free', eviction('free', { deleteOptions }))).http, 422, 'options that no deletion may have')
    const wrong = eviction('free', { deleteOptions: { preconditions: { uid: 'other' } } })
    t.equal((await evict('free', wrong)).http, 409)
    const old = { ...eviction('free'), apiVersion: 'policy/v1beta1' }
    t.equal((await evict('free', old)).http, 201, 'the version before is understood')
    t.equal((await ask('GET', `${PODS}/free`)).http, 404, 'what never ran goes at once')
    t.equal((await evict('free')).http, 404)
    await made(t, budgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b2' },
      spec: { minAvailable: 1, selector: { matchLabels: { guard: 'b' } } },
    })
    await running('twice')
    t.match(await evict('twice'), { status: 'Failure', code: 500, message: /more than one/ })
  })

  await t.test('containers are added to a pod, and never changed', async (t) => {
    await made(t, PODS, pod('debugged'))
    const path = `${PODS}/debugged/ephemeralcontainers`
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
    const add = (name: string, image: string) =>
      ask('PATCH', path, { spec: { ephemeralContainers: [{ name, image }], hostNetwork: true } }, strategic)
    const added = await add('one', 'busybox')
    t.match(added, { http: 200, metadata: { generation: 2 } })
    t.equal(added.spec['hostNetwork'], undefined, 'nothing else is written')
    t.equal((await add('two', 'busybox')).http, 200)
    t.match(await add('one', 'other'), { http: 422, details: { causes: [{ field: 'spec.ephemeralContainers' }] } })
    const removed = await ask('PATCH', path, { spec: { ephemeralContainers: [] } }, MERGE)
    t.equal(removed.http, 422)
    t.equal((await ask('GET', path)).kind, 'Pod')
    await made(t, PODS, pod('whole'))
    const whole = pod('whole', {}, { ephemeralContainers: [{ name: 'one', image: 'busybox' }] })
    t.equal((await ask('PUT', `${PODS}/whole/ephemeralcontainers`, whole)).http, 200, 'without a uid')
  })

  await t.test('a resize changes cpu and memory and nothing else', async (t) => {
    const resources = (cpu: string, more: object = {}) => ({
      requests: { cpu, memory: '64Mi', ...more },
      limits: { cpu: '1', memory: '64Mi' },
    })
    await made(t, PODS, pod('sized', {}, { containers: [{ name: 'c', image: 'i', resources: resources('100m') }] }))
    const path = `${PODS}/sized/resize`
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' }
    const resize = (container: object) => ask('PATCH', path, { spec: { containers: [container] } }, strategic)
    const done = await resize({ name: 'c', image: 'ignored', resources: resources('200m') })
    t.match(done, { http: 200, metadata: { generation: 2 } })
    t.match(done.spec['containers'], [{ image: 'i', resources: { requests: { cpu: '200m' } } }])
    t.match(await resize({ name: 'c', resources: resources('200m', { 'example.com/gpu': '1' }) }), { http: 422 })
    t.match(await resize({ name: 'c', resources: { limits: { memory: null } } }), {
      http: 422,
      details: { causes: [{ field: 'spec.containers[0].resources.limits' }] },
    })
    t.match(await resize({ name: 'c', resources: resources('1') }), { http: 422 }, 'the class of the pod stays')
    t.match(await resize({ name: 'd', image: 'i' }), { http: 422 })
  })

  await t.test('a namespace goes in two steps', async (t) => {
    const path = '/api/v1/namespaces/going'
    await made(t, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } })
    t.equal((await ask('DELETE', path, { preconditions: { uid: 'other' } })).http, 409)
    const first = await ask('DELETE', path)
    t.match(first, { http: 200, kind: 'Namespace', status: { phase: 'Terminating' } })
    t.ok(first.metadata.deletionTimestamp)
    t.equal((await ask('DELETE', path)).http, 200, 'again is no error')
    const active = await ask('PUT', `${path}/status`, {
      ...first,
      metadata: { name: 'going' },
      status: { phase: 'Active' },
    })
    t.equal(active.http, 422)
    const { metadata } = await ask('GET', path)
    const odd = await ask('PUT', `${path}/finalize`, { metadata, spec: { finalizers: ['no good'] } })
    t.equal(odd.http, 422)
    const body = { kind: 'Namespace', apiVersion: 'v1', metadata, spec: { finalizers: [] } }
    t.equal((await ask('PUT', `${path}/finalize`, body)).http, 200)
    t.equal((await ask('GET', path)).http, 404, 'the last finalizer took it along')
  })

  await t.test('tokens are given to service accounts, bound to what exists', async (t) => {
    const accounts = `${NAMESPACE}/serviceaccounts`
    const account = await made(t, accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'bot' } })
    const request = (spec: object, metadata: object = {}) => ({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata,
      spec,
    })
    const token = (body: object, name = 'bot') => ask('POST', `${accounts}/${name}/token`, body)
    const given = await token(request({ expirationSeconds: 1200, audiences: ['a'] }))
    t.match(given, { http: 201, kind: 'TokenRequest', metadata: { name: 'bot', uid: account.metadata.uid } })
    const claims = JSON.parse(
      Buffer.from((given.status['token'] as string).split('.')[1]!, 'base64url').toString(),
    ) as Record<string, unknown>
    t.match(claims, { aud: ['a'], sub: 'system:serviceaccount:default:bot' })
    t.equal((claims['exp'] as number) - (claims['iat'] as number), 1200)
    t.match(await token(request({ expirationSeconds: 5 })), { http: 422 })
    t.match(await token(request({}, { uid: 'other' })), { http: 409 }, 'uid is a precondition')
    t.match(await token(request({}, { name: 'else' })), { http: 422 })
    t.match(await token(request({}), 'none'), { http: 404 })
    const bind = (kind: string, name: string, uid = '') =>
      token(request({ boundObjectRef: { kind, apiVersion: 'v1', name, uid } }))
    t.match(await bind('Secret', 'none'), { http: 404, details: { kind: 'secrets' } })
    t.match(await bind('ConfigMap', 'x'), { http: 400 })
    await made(t, PODS, pod('bots', {}, { serviceAccountName: 'bot', nodeName: 'n9' }))
    t.match(await bind('Pod', 'bots', 'other'), { http: 409 })
    const bound = await bind('Pod', 'bots')
    const own = JSON.parse(
      Buffer.from((bound.status['token'] as string).split('.')[1]!, 'base64url').toString(),
    ) as Record<string, unknown>
    t.match(own['kubernetes.io'], { pod: { name: 'bots' }, node: { name: 'n9' } })
    t.match(await bind('Pod', 'debugged'), { http: 400 }, 'a pod of another account')
  })

  await t.test('the parts of a control plane say how they are', async (t) => {
    const list = await server.request('GET', '/api/v1/componentstatuses')
    t.equal(list.status, 200)
    t.match(list.headers.get('warning'), 'deprecated')
    const { items } = list.json as Answer
    t.same(items.map(({ metadata }) => metadata.name).sort(), ['controller-manager', 'etcd-0', 'scheduler'])
    const one = (await ask('GET', '/api/v1/componentstatuses/etcd-0')) as unknown as Answer['items'][0]
    t.equal(one.conditions[0]!.status, 'True')
    t.equal((await ask('GET', '/api/v1/componentstatuses/none')).http, 404)
  })
})
