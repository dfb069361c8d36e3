import t from 'tap'
import { type FieldSpec, fieldsOf, labelPairs } from '#keelson/api/json/field-spec.js'
import { recordDraft } from '#keelson/api/json/record-scan.js'
import type { JsonObject } from '#keelson/api/object.js'
import type { RecordDraft } from '#keelson/protocol/record-draft.js'
import { recordedLines, type StoredObject } from '../../support/recordings/recording.js'

const POD_FIELDS: readonly FieldSpec[] = [
  { name: 'spec.nodeName' },
  { name: 'metadata.name' },
  { name: 'metadata.namespace' },
  { name: 'status.phase' },
  { name: 'spec.hostNetwork', default: 'false' },
  { name: 'source', paths: [['source', 'component'], ['reportingComponent']] },
]
const draft = (text: string, specs = POD_FIELDS): RecordDraft => recordDraft(Buffer.from(text), specs)
const body = (d: RecordDraft): string => Buffer.from(d.body).toString()
/** The body with a revision put where the draft says. */
function revised(d: RecordDraft): JsonObject {
  const text = Buffer.from(d.body)
  return JSON.parse(
    Buffer.concat([text.subarray(0, d.revisionOffset), Buffer.from('42'), text.subarray(d.revisionOffset)]).toString(),
  ) as JsonObject
}

t.test('fields and labels come out of the text by ascending name', (t) => {
  const d = draft(
    '{"kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u-1","labels":{"b":"2","a":"1"}},"spec":{"containers":[{"name":"x","nodeName":"no"}],"nodeName":"node-1","hostNetwork":true},"status":{"phase":"Running"}}\n',
  )
  t.equal(d.uid, 'u-1')
  t.same(d.labels, ['a', '1', 'b', '2'])
  t.same(d.fields, [
    ...['metadata.name', 'a', 'metadata.namespace', 'n', 'source', '', 'spec.hostNetwork', 'true'],
    ...['spec.nodeName', 'node-1', 'status.phase', 'Running'],
  ])
  t.end()
})

t.test('the revision goes after the uid, wherever metadata is', (t) => {
  const d = draft('{"metadata":{"name":"a","uid":"u","generation":1},"kind":"X"}\n')
  t.equal(body(d), '{"metadata":{"name":"a","uid":"u","resourceVersion":"","generation":1},"kind":"X"}')
  t.match(revised(d), { metadata: { resourceVersion: '42', generation: 1 } })
  t.end()
})

t.test('an existing revision is emptied, an empty one left alone', (t) => {
  t.equal(
    body(draft('{"metadata":{"uid":"u","resourceVersion":"17","name":"a"}}')),
    '{"metadata":{"uid":"u","resourceVersion":"","name":"a"}}',
  )
  t.equal(body(draft('{"metadata":{"resourceVersion":null}}')), '{"metadata":{"resourceVersion":""}}')
  const text = '{"metadata":{"uid":"u","resourceVersion":"","name":"a"}}'
  t.equal(body(draft(text)), text)
  t.match(revised(draft(text)), { metadata: { resourceVersion: '42' } })
  t.end()
})

t.test('an object without names or without metadata gets a place for the revision', (t) => {
  for (const text of [
    '{}',
    '{"a":1}',
    '{"metadata":{}}',
    '{"metadata":{ }}',
    '{"metadata":{"labels":{"a":"b"}},"z":[]}',
  ]) {
    const d = draft(text)
    t.match(revised(d), { metadata: { resourceVersion: '42' } }, text)
    t.same({ ...revised(d), metadata: undefined }, { ...JSON.parse(text), metadata: undefined }, text)
  }
  t.end()
})

t.test('escapes, unicode and white space are understood', (t) => {
  const object = {
    metadata: { name: 'a"\\b', uid: 'ü-✓-😀', labels: { 'x/y"': 'tab\t', é: 'ö' } },
    spec: { nodeName: '}{][', hostNetwork: false },
    'a":{"b': ['"]}'],
  }
  for (const text of [JSON.stringify(object), JSON.stringify(object, null, 2), ` ${JSON.stringify(object)} \n`]) {
    const d = draft(text)
    t.equal(d.uid, object.metadata.uid)
    t.same(d.labels, labelPairs(object.metadata.labels))
    t.same(d.fields, fieldsOf(object, POD_FIELDS))
    t.match(revised(d), { ...object, metadata: { ...object.metadata, resourceVersion: '42' } })
  }
  t.equal(draft('{"meta\\u0064ata":{"\\u0075id":"u"}}').uid, 'u', 'keys may be escaped')
  t.end()
})

t.test('the first place that holds a value counts', (t) => {
  const source = (text: string) => draft(text).fields[5]
  t.equal(source('{"source":{"component":"a"},"reportingComponent":"b"}'), 'a')
  t.equal(source('{"source":{"component":""},"reportingComponent":"b"}'), 'b')
  t.equal(source('{"reportingComponent":null}'), '')
  t.end()
})

t.test('numbers are rendered as they are written, objects and lists are no values', (t) => {
  const specs: FieldSpec[] = [{ name: 'a' }, { name: 'b', default: 'none' }, { name: 'c' }]
  t.same(draft('{"a":12345678901234567890,"b":{"x":1},"c":-1}', specs).fields, [
    ...['a', '12345678901234567890', 'b', 'none', 'c', '-1'],
  ])
  t.end()
})

t.test('text that is not an object is refused, with where it went wrong', (t) => {
  for (const text of [
    '',
    '[]',
    '1',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":"',
    '{"a":"\\',
    '{"a":1}x',
    '{"metadata":{"uid":"a"',
    '{,}',
    '{"a":}',
    '{"labels" 1}',
  ])
    t.throws(() => draft(text), { name: 'JsonSyntaxError' }, text)
  t.throws(() => draft(`{"a":${'['.repeat(5000)}`), /deep/)
  t.end()
})

t.test('objects of a real server: the same as through the parsed object', (t) => {
  for (const { object } of recordedLines<StoredObject>('stored-objects.jsonl')) {
    const tree = JSON.parse(object) as JsonObject & { metadata: { uid: string; labels?: Record<string, string> } }
    const d = draft(object)
    t.equal(d.uid, tree.metadata.uid)
    t.same(d.labels, labelPairs(tree.metadata.labels))
    t.same(d.fields, fieldsOf(tree, POD_FIELDS))
    t.equal(body(d), object.trimEnd().replace(/"resourceVersion":"\d+"/, '"resourceVersion":""'))
  }
  t.end()
})
