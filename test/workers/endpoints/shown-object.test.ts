import t from 'tap'
import { type AcceptedMediaType, PLAIN_JSON } from '#keelson/api/media-type.js'
import type { KubeObject } from '#keelson/api/object.js'
import { decodeEnvelope } from '#keelson/api/protobuf/envelope.js'
import { type ShownForm, shownObject } from '#keelson/workers/endpoints/shown-object.js'
import { EndpointFixture } from '../../support/endpoint-fixture.js'

const fixture = new EndpointFixture()
const { endpoint } = fixture.worker('GET', '/api/v1/namespaces/default/configmaps')
const object: KubeObject = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', resourceVersion: '7', creationTimestamp: '2025-12-31T23:59:30Z' },
  data: { k: 'v' },
}
const TABLE: AcceptedMediaType = { ...PLAIN_JSON, transformation: { as: 'Table', version: 'v1' } }
const METADATA: AcceptedMediaType = { ...PLAIN_JSON, transformation: { as: 'PartialObjectMetadata', version: 'v1' } }

function bytes(form: Partial<ShownForm>): Uint8Array {
  return shownObject(endpoint, object, {
    accepted: PLAIN_JSON,
    include: '',
    shape: 'whole',
    nowMs: fixture.clock.now(),
    ...form,
  })
}
const text = (form: Partial<ShownForm>): string => Buffer.from(bytes(form)).toString()
const json = (form: Partial<ShownForm>): unknown => JSON.parse(text(form))

t.test('as it is, in each form', async (t) => {
  t.same(json({}), object)
  t.match(text({ shape: 'yaml' }), /^apiVersion: v1\ndata:\n {2}k: v\n/)
  const accepted: AcceptedMediaType = { ...PLAIN_JSON, serialization: 'protobuf' }
  t.match(decodeEnvelope(bytes({ accepted })), { kind: 'ConfigMap' })
})

t.test('as a table, whole, without its columns, or as a row alone', async (t) => {
  const whole = json({ accepted: TABLE })
  t.match(whole, {
    kind: 'Table',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [{ name: 'Name' }, { name: 'Data' }, { name: 'Age' }],
    rows: [{ cells: ['a', 1, '30s'], object: { kind: 'PartialObjectMetadata' } }],
  })
  t.match(json({ accepted: TABLE, shape: 'bare' }), { kind: 'Table', columnDefinitions: null, rows: [{}] })
  t.same(json({ accepted: TABLE, shape: 'row' }), (whole as { rows: unknown[] }).rows[0])
  t.same(json({ accepted: TABLE, shape: 'row', include: 'Object' }), { cells: ['a', 1, '30s'], object })
  t.same(json({ accepted: TABLE, shape: 'row', include: 'None' }), { cells: ['a', 1, '30s'], object: null })
})

t.test('as its metadata alone', async (t) => {
  t.same(json({ accepted: METADATA }), {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: object.metadata,
  })
  const accepted: AcceptedMediaType = { ...METADATA, serialization: 'protobuf' }
  t.match(decodeEnvelope(bytes({ accepted })), { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' })
})
