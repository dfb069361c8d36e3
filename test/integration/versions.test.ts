/** One object under several versions: written in any, seen in each, listed, watched and applied, with managers in theirs. */
import t, { type Test } from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { parseGroupVersion } from '#keelson/api/group-version.js'
import type { KubeObject, ManagedFieldsEntry } from '#keelson/api/object.js'
import { decodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import { KeelsonProcess } from '../support/keelson-process.js'

const hpa = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const ANNOTATION = 'autoscaling.alpha.kubernetes.io/'
type Tree = KubeObject & { spec?: Record<string, unknown>; items?: Tree[] }

async function call(server: KeelsonProcess, method: string, path: string, body?: object, type?: string): Promise<Tree> {
  const headers = type === undefined ? {} : { 'content-type': type }
  const { status, text } = await server.request(method, path, body, headers)
  const object = JSON.parse(text) as Tree
  if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
  return object
}

/** The first events of a watch from a revision. */
async function events(server: KeelsonProcess, path: string, revision: string, count: number): Promise<Tree[]> {
  const end = new AbortController()
  const response = await fetch(`${server.url}${path}?watch=true&resourceVersion=${revision}`, { signal: end.signal })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  for (let text = ''; ; ) {
    const lines = text.split('\n').slice(0, -1)
    if (lines.length >= count) {
      end.abort()
      return lines.slice(0, count).map((line) => (JSON.parse(line) as { object: Tree }).object)
    }
    const { done, value } = await reader.read()
    if (done) throw new Error(`the watch ended after ${text}`)
    text += Buffer.from(value).toString()
  }
}

const listOf = ({ spec = {} }: Tree, field: string): unknown[] => (spec[field] ?? []) as unknown[]

const managers = (object: Tree): string[] =>
  ((object.metadata?.managedFields ?? []) as ManagedFieldsEntry[]).map(
    (entry) => `${entry.manager} ${entry.apiVersion}`,
  )

async function autoscalers(t: Test, server: KeelsonProcess): Promise<void> {
  const pods = {
    type: 'Pods',
    pods: { metric: { name: 'rate' }, target: { type: 'AverageValue', averageValue: '10' } },
  }
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }
  const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } }
  const spec = { scaleTargetRef: TARGET, minReplicas: 1, maxReplicas: 5, metrics: [pods, cpu], behavior }
  const created = await call(server, 'POST', `${hpa('v2')}?fieldManager=two`, { metadata: { name: 'a' }, spec })
  const shown = await call(server, 'GET', `${hpa('v1')}/a`)
  t.match(shown, { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 70, maxReplicas: 5 } })
  t.notOk('metrics' in (shown.spec ?? {}))
  const annotations = shown.metadata?.annotations ?? {}
  t.equal(
    annotations[`${ANNOTATION}metrics`],
    '[{"type":"Pods","pods":{"metricName":"rate","targetAverageValue":"10"}}]',
    'as Kubernetes prints it',
  )
  t.match(annotations[`${ANNOTATION}behavior`], /^\{"ScaleUp":\{"StabilizationWindowSeconds":0,"SelectPolicy":"Max"/)
  t.same(managers(shown), ['two autoscaling/v2'], 'who wrote it wrote v2')
  const changed = { ...shown, spec: { ...shown.spec, targetCPUUtilizationPercentage: 50 } }
  await call(server, 'PUT', `${hpa('v1')}/a?fieldManager=one`, changed)
  const back = await call(server, 'GET', `${hpa('v2')}/a`)
  t.same(listOf(back, 'metrics')[0], pods)
  t.match(listOf(back, 'metrics')[1], { resource: { target: { averageUtilization: 50 } } })
  t.match(back.spec?.['behavior'], { scaleDown: { stabilizationWindowSeconds: 60 } })
  t.notOk(back.metadata?.annotations, 'the annotations are not stored')
  t.same(managers(back).sort(), ['one autoscaling/v1', 'two autoscaling/v2'])
  const list = await call(server, 'GET', hpa('v1'))
  t.match(list, { apiVersion: 'autoscaling/v1', items: [{ spec: { targetCPUUtilizationPercentage: 50 } }] })
  const seen = await events(server, hpa('v1'), String(Number(created.metadata?.resourceVersion) - 1), 2)
  t.same(
    seen.map((object) => [object.apiVersion, object.spec?.['targetCPUUtilizationPercentage']]),
    [
      ['autoscaling/v1', 70],
      ['autoscaling/v1', 50],
    ],
  )
}

async function appliers(t: Test, server: KeelsonProcess): Promise<void> {
  const apply = (version: string, manager: string, spec: object): Promise<Tree> => {
    const body = {
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'b' },
      spec,
    }
    const path = `${hpa(version)}/b?fieldManager=${manager}&force=true`
    return call(server, 'PATCH', path, body, 'application/apply-patch+yaml')
  }
  await apply('v1', 'one', { scaleTargetRef: TARGET, maxReplicas: 4, minReplicas: 2 })
  const object = await apply('v2', 'two', { maxReplicas: 6 })
  t.match(object, { apiVersion: 'autoscaling/v2', spec: { minReplicas: 2, maxReplicas: 6 } })
  t.same(managers(object).sort(), ['one autoscaling/v1', 'two autoscaling/v2'])
  const [one] = (object.metadata?.managedFields ?? []).filter((entry) => entry.manager === 'one')
  t.notOk('f:maxReplicas' in ((one?.fieldsV1?.['f:spec'] ?? {}) as object), 'what two took, one has lost')
  const without = await apply('v1', 'one', { scaleTargetRef: TARGET })
  t.equal(without.spec?.['minReplicas'], 1, 'what one no longer says is gone, and defaulted')
  t.equal(without.spec?.['maxReplicas'], 6)
}

async function eventObjects(t: Test, server: KeelsonProcess): Promise<void> {
  const [core, own] = ['/api/v1', '/apis/events.k8s.io/v1'].map((root) => `${root}/namespaces/default/events`) as [
    string,
    string,
  ]
  const regarding = { kind: 'Pod', namespace: 'default', name: 'p' }
  const created = await call(server, 'POST', own, {
    ...{ metadata: { name: 'e' }, regarding, note: 'it happened', reason: 'Reason', action: 'Act', type: 'Normal' },
    ...{ eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'c', reportingInstance: 'i' },
  })
  t.match(created, { apiVersion: 'events.k8s.io/v1', note: 'it happened', regarding: { name: 'p' } })
  t.match(await call(server, 'GET', `${core}/e`), {
    apiVersion: 'v1',
    message: 'it happened',
    involvedObject: { name: 'p' },
  })
  t.match(await call(server, 'GET', `${own}/e`), { apiVersion: 'events.k8s.io/v1', note: 'it happened' })
  for (const selected of [`${core}?fieldSelector=involvedObject.name%3Dp`, `${own}?fieldSelector=regarding.name%3Dp`])
    t.equal((await call(server, 'GET', selected)).items?.length, 1, selected)
  const revision = String(Number(created.metadata?.resourceVersion) - 1)
  t.match(await events(server, own, revision, 1), [{ apiVersion: 'events.k8s.io/v1', note: 'it happened' }])
  t.match(await events(server, core, revision, 1), [{ apiVersion: 'v1', message: 'it happened' }])
  const refused = await server.request('POST', own, { metadata: { name: 'f' }, regarding })
  t.equal(refused.status, 422, 'its own group is stricter')
  const old = { metadata: { name: 'g' }, involvedObject: regarding, message: 'm' }
  t.equal((await server.request('POST', core, old)).status, 201)
}

async function claims(t: Test, server: KeelsonProcess): Promise<void> {
  const path = (version: string): string => `/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims`
  const flat = { requests: [{ name: 'r', deviceClassName: 'class' }] }
  await call(server, 'POST', path('v1beta1'), { metadata: { name: 'c' }, spec: { devices: flat } })
  t.match(await call(server, 'GET', `${path('v1')}/c`), {
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'class', count: 1 } }] } },
  })
  t.match(await call(server, 'GET', `${path('v1beta1')}/c`), {
    spec: { devices: { requests: [{ name: 'r', deviceClassName: 'class', allocationMode: 'ExactCount', count: 1 }] } },
  })
  const slices = (version: string): string => `/apis/resource.k8s.io/${version}/resourceslices`
  const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
  const devices = [{ name: 'd', basic: { attributes: { kind: { string: 'x' } } } }]
  const spec = { driver: 'driver.example.com', pool, nodeName: 'n', devices }
  await call(server, 'POST', slices('v1beta1'), { metadata: { name: 's' }, spec })
  t.match(await call(server, 'GET', `${slices('v1')}/s`), {
    spec: { nodeName: 'n', devices: [{ name: 'd', attributes: { kind: { string: 'x' } } }] },
  })
  t.same((await call(server, 'GET', `${slices('v1beta1')}/s`)).spec?.['devices'], devices)
  t.equal((await server.request('GET', path('v1beta2'))).status, 404, 'what is not enabled is not there')
  const groups = await call(server, 'GET', '/apis/resource.k8s.io')
  t.match(groups, { versions: [{ version: 'v1' }, { version: 'v1beta1' }] })
}

async function inProtobuf(t: Test, server: KeelsonProcess): Promise<void> {
  const accept = 'application/vnd.kubernetes.protobuf'
  const schemas = new BuiltinSchemas()
  for (const version of ['v1', 'v2']) {
    const response = await fetch(`${server.url}${hpa(version)}/a`, { headers: { accept } })
    const { object } = decodeProtobuf(Buffer.from(await response.arrayBuffer()), (apiVersion, kind) => {
      const parsed = parseGroupVersion(apiVersion)!
      return schemas.kind(parsed.group, parsed.version, kind)
    })
    t.same(object, await call(server, 'GET', `${hpa(version)}/a`), version)
  }
}

t.test('versions of one object', async (t) => {
  const server = await KeelsonProcess.start(['--runtime-config=resource.k8s.io/v1beta1=true'])
  t.teardown(() => server.close())
  await t.test('autoscaling v1 and v2', (t) => autoscalers(t, server))
  await t.test('each applier owns fields in its version', (t) => appliers(t, server))
  await t.test('events of the core group and of their own', (t) => eventObjects(t, server))
  await t.test('a beta version that was asked for', (t) => claims(t, server))
  await t.test('and all of it in protobuf', (t) => inProtobuf(t, server))
})
