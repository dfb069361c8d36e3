import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { decodeEnvelope } from '#keelson/api/protobuf/envelope.js'
import { isStatusError, successStatus } from '#keelson/api/status.js'
import { parseYaml } from '#keelson/api/yaml/yaml.js'
import {
  acceptedOf,
  encodeList,
  encodeResponse,
  encodeStatus,
  isStatus,
} from '#keelson/workers/endpoints/encode-response.js'
import { answered, EndpointFixture } from '../../support/endpoint-fixture.js'

const fixture = new EndpointFixture()
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const as = (kind: string, more = '') => `application/json;as=${kind};v=v1;g=meta.k8s.io${more}`
const object: KubeObject = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', resourceVersion: '7', creationTimestamp: '2025-12-31T23:59:00Z' },
  data: { k: 'v' },
}
const worker = (accept = '', query = '', path = CONFIGMAPS) => fixture.worker('GET', `${path}${query}`, { accept })
const list = { items: [object], resourceVersion: 9, continueToken: '', remainingItemCount: undefined }

function code(run: () => unknown): number {
  try {
    run()
  } catch (error) {
    if (isStatusError(error)) return error.code
    throw error
  }
  return 0
}

t.test('an object is shown as JSON, YAML or protobuf', async (t) => {
  const json = answered(encodeResponse(worker(), 201, object))
  t.match(json, { status: 201, contentType: 'application/json' })
  t.same(json.object, object)
  const yaml = encodeResponse(worker('application/yaml'), 200, object)
  t.equal(yaml.contentType, 'application/yaml')
  t.same(parseYaml(Buffer.from(yaml.body).toString()).value, object)
  const protobuf = encodeResponse(worker(PROTOBUF), 200, object)
  t.equal(protobuf.contentType, PROTOBUF)
  t.match(decodeEnvelope(protobuf.body), { kind: 'ConfigMap', apiVersion: 'v1' })
})

t.test('JSON ends in a line, and is indented for who asks for it', async (t) => {
  const text = (query: string) => Buffer.from(encodeResponse(worker('', query), 200, object).body).toString()
  t.match(text(''), /^[^\n]*\}\n$/)
  t.equal(text('?pretty=true'), `${JSON.stringify(JSON.parse(text('')), undefined, 2)}\n`)
  t.equal(text('?pretty=1'), text('?pretty=true'))
  t.equal(text('?pretty=false'), text(''))
})

t.test('indenting touches no number and no text', async (t) => {
  const odd = {
    ...object,
    data: { 'a"{': '\\"},[', empty: '' },
    metadata: { name: 'a', labels: {}, generation: 2n ** 60n },
  }
  const pretty = Buffer.from(encodeResponse(worker('', '?pretty=true'), 200, odd).body).toString()
  t.match(pretty, /"generation": 1152921504606846976/)
  t.match((JSON.parse(pretty) as KubeObject)['data'], { 'a"{': '\\"},[' })
})

t.test('what nobody can make is not acceptable', async (t) => {
  t.equal(
    code(() => acceptedOf(worker('text/html'))),
    406,
  )
  t.equal(
    code(() => encodeResponse(worker(as('PartialObjectMetadataList')), 200, object)),
    406,
  )
  t.equal(
    code(() => encodeList(worker(as('PartialObjectMetadata')), list)),
    406,
  )
})

t.test('an object as a row carries as much of itself as was asked for', async (t) => {
  const row = (query: string) =>
    (answered(encodeResponse(worker(as('Table'), query), 200, object)).object['rows'] as { object?: KubeObject }[])[0]
  const table = answered(encodeResponse(worker(as('Table')), 200, object)).object
  t.match(table, { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '7' } })
  t.match(row(''), { object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } })
  t.same(row('?includeObject=Object')?.object, object)
  t.equal(row('?includeObject=None')?.object, null)
  t.equal(
    code(() => row('?includeObject=Some')),
    400,
  )
})

t.test('the metadata alone', async (t) => {
  const shown = answered(encodeResponse(worker(as('PartialObjectMetadata')), 200, object)).object
  t.same(shown, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata })
})

t.test('a list names its kind once, and says how it goes on', async (t) => {
  const shown = answered(encodeList(worker(), { ...list, continueToken: 'next', remainingItemCount: 3 })).object
  t.same(shown.metadata, { resourceVersion: '9', continue: 'next', remainingItemCount: 3 })
  t.equal(shown.kind, 'ConfigMapList')
  const [item] = shown['items'] as KubeObject[]
  t.notOk(Object.hasOwn(item!, 'kind'))
  t.same(answered(encodeList(worker(), list)).object.metadata, { resourceVersion: '9' })
  t.same(answered(encodeList(worker('', '?pretty=true'), list)).object['items'], [item])
  const nothing = answered(encodeList(worker(), { ...list, items: [] })).object
  t.same(nothing['items'], [])
})

t.test('a list in the other forms', async (t) => {
  const protobuf = encodeList(worker(PROTOBUF), list)
  t.match(decodeEnvelope(protobuf.body), { kind: 'ConfigMapList', apiVersion: 'v1' })
  const yaml = parseYaml(Buffer.from(encodeList(worker('application/yaml'), list).body).toString()).value
  t.match(yaml, { kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] })
  t.match(answered(encodeList(worker(as('PartialObjectMetadataList')), list)).object, {
    kind: 'PartialObjectMetadataList',
    items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }],
  })
  t.match(answered(encodeList(worker(as('Table')), list)).object, { kind: 'Table', rows: [{}] })
})

t.test('another version is shown as itself', async (t) => {
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
  const hub: KubeObject = {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    metadata: { name: 'h' },
    spec: {
      maxReplicas: 2,
      scaleTargetRef: { kind: 'X', name: 'x' },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  }
  t.match(answered(encodeResponse(worker('', '', path), 200, hub)).object, {
    apiVersion: 'autoscaling/v1',
    spec: { targetCPUUtilizationPercentage: 50 },
  })
})

t.test('a Status is told from an object that is only called so', async (t) => {
  const done = successStatus({ name: 'a', kind: 'configmaps' })
  t.equal(isStatus(done), true)
  t.equal(isStatus({ kind: 'Status', apiVersion: 'example.com/v1' }), false)
  t.match(answered(encodeStatus(worker(), 200, done)).object, { kind: 'Status', status: 'Success' })
})

t.test('warnings go with the answer', async (t) => {
  const warned = worker()
  warned.addWarning('mind the gap')
  t.same(encodeResponse(warned, 200, object).warnings, ['mind the gap'])
})
