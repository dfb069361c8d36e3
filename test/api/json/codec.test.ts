import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { parseGroupVersion } from '#keelson/api/group-version.js'
import { type Decoded, decodeJson } from '#keelson/api/json/decode.js'
import { encodeText } from '#keelson/api/json/encode.js'
import { encodeDraft } from '#keelson/api/json/encode-draft.js'
import { METADATA_FIELDS } from '#keelson/api/json/field-spec.js'
import { recordDraft } from '#keelson/api/json/record-scan.js'
import type { KubeObject } from '#keelson/api/object.js'
import type { StructSchema } from '#keelson/api/schema.js'
import {
  type RoundTripObject,
  recordedLines,
  recordedSuite,
  recordedSuiteNames,
  type StoredObject,
} from '../../support/recordings/recording.js'

const schemas = new BuiltinSchemas()
const schemaOf = (object: KubeObject): StructSchema => {
  const { group, version } = parseGroupVersion(object.apiVersion!)!
  return schemas.kind(group, version, object.kind!)!
}
const decode = (kind: string, text: string, group = ''): Decoded =>
  decodeJson(Buffer.from(text), schemas.kind(group, 'v1', kind)!)
/** What comes out for what went in, less kind and apiVersion. */
const through = (kind: string, text: string, group = ''): string =>
  encodeText(decode(kind, text, group).object, schemas.kind(group, 'v1', kind)!)

t.test('lists and maps that were written empty are not printed, but known', (t) => {
  const spec = '{"podSelector":{"matchLabels":{}},"ingress":[{"from":[],"ports":null}],"egress":[]}'
  const { object, emptied } = decode('NetworkPolicy', `{"spec":${spec}}`, 'networking.k8s.io')
  t.same(object['spec'], { podSelector: {}, ingress: [{}] })
  t.same(emptied, [
    ['spec', 'podSelector', 'matchLabels'],
    ['spec', 'ingress', 0, 'from'],
    ['spec', 'egress'],
  ])
  t.end()
})

t.test('fields are printed in the order of the type, maps by key, zero values as Go prints them', (t) => {
  t.equal(
    through(
      'ConfigMap',
      '{"data":{"b":"2","a":"<&>"},"metadata":{"uid":"u","name":"n"},"apiVersion":"v1","kind":"ConfigMap"}',
    ),
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","uid":"u"},"data":{"a":"\\u003c\\u0026\\u003e","b":"2"}}',
  )
  t.equal(
    through('Pod', '{"spec":{"hostNetwork":false,"automountServiceAccountToken":false,"containers":[{"name":"c"}]}}'),
    '{"metadata":{},"spec":{"containers":[{"name":"c","resources":{}}],"automountServiceAccountToken":false},"status":{}}',
  )
  t.equal(through('Role', '{}', 'rbac.authorization.k8s.io'), '{"metadata":{},"rules":null}')
  t.equal(
    through('ConfigMap', '{"data":{"10":"a","9":"b","1":"c"}}'),
    '{"metadata":{},"data":{"1":"c","10":"a","9":"b"}}',
  )
  t.end()
})

t.test('null is nothing, and nothing is the zero value where Go has no other', (t) => {
  t.equal(through('ConfigMap', '{"metadata":null,"data":null,"immutable":null}'), '{"metadata":{}}')
  t.equal(through('ConfigMap', '{"data":{"a":null}}'), '{"metadata":{},"data":{"a":""}}')
  t.equal(
    through('Pod', '{"spec":{"containers":[null],"nodeSelector":{}}}'),
    '{"metadata":{},"spec":{"containers":[{"name":"","resources":{}}]},"status":{}}',
  )
  t.end()
})

t.test('unknown and duplicate fields are named by their path and not kept', (t) => {
  const unknown = decode(
    'Pod',
    '{"spec":{"containers":[{"name":"c","imagePullpolicy":"x","resources":{"limit":{}}}]},"specc":{"a":{}},"Metadata":{}}',
  )
  t.same(unknown.strictErrors, [
    'unknown field "spec.containers[0].imagePullpolicy"',
    'unknown field "spec.containers[0].resources.limit"',
    'unknown field "specc"',
    'unknown field "Metadata"',
  ])
  t.notOk('specc' in unknown.object)
  const twice = decode(
    'ConfigMap',
    '{"metadata":{"labels":{"a":"1","a":"2"}},"data":{"k":"1","k":"2"},"extra":{"x":1,"x":2}}',
  )
  t.same(twice.strictErrors, [
    'duplicate field "metadata.labels.a"',
    'duplicate field "data.k"',
    'unknown field "extra"',
  ])
  t.same(twice.object['data'], { k: '2' })
  t.end()
})

t.test('a value of the wrong type is an error that names its field', (t) => {
  const cases: [string, string, RegExp][] = [
    [
      'ConfigMap',
      '{"metadata":{"name":1}}',
      /cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string/,
    ],
    ['ConfigMap', '{"data":{"a":1}}', /cannot unmarshal number into Go struct field ConfigMap.data of type string/],
    [
      'ConfigMap',
      '{"data":[]}',
      /cannot unmarshal array into Go struct field ConfigMap.data of type map\[string\]string/,
    ],
    [
      'ConfigMap',
      '{"metadata":"x"}',
      /cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta/,
    ],
    ['ConfigMap', '{"binaryData":{"a":"*"}}', /illegal base64 data at input byte 0/],
    [
      'ConfigMap',
      '{"immutable":"true"}',
      /cannot unmarshal string into Go struct field ConfigMap.immutable of type bool/,
    ],
    [
      'Pod',
      '{"spec":{"containers":{}}}',
      /cannot unmarshal object into Go struct field PodSpec.spec.containers of type \[\]v1.Container/,
    ],
    [
      'Pod',
      '{"spec":{"priority":1.5}}',
      /cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32/,
    ],
    ['Pod', '{"spec":{"priority":1.0}}', /cannot unmarshal number/],
    ['Pod', '{"spec":{"priority":3000000000}}', /of type int32/],
    ['Pod', '{"spec":{"activeDeadlineSeconds":1e3}}', /of type int64/],
    ['Pod', '{"spec":{"activeDeadlineSeconds":9223372036854775808}}', /of type int64/],
    ['Pod', '{"spec":{"containers":[{"resources":{"limits":{"cpu":"abc"}}}]}}', /quantities must match/],
    ['Pod', '{"metadata":{"creationTimestamp":"yesterday"}}', /parsing time/],
    ['ConfigMap', '[]', /cannot unmarshal array/],
  ]
  for (const [kind, text, message] of cases) t.throws(() => decode(kind, text), { name: 'DecodeError', message }, text)
  t.end()
})

t.test('integers of 64 bits survive', (t) => {
  const text =
    '{"kind":"ControllerRevision","apiVersion":"apps/v1","metadata":{"name":"a"},"data":{"n":9007199254740993,"z":1},"revision":9223372036854775807}'
  t.equal(through('ControllerRevision', text, 'apps'), text)
  t.equal(
    through('ControllerRevision', '{"revision":-9223372036854775808}', 'apps'),
    '{"metadata":{},"data":null,"revision":-9223372036854775808}',
  )
  t.end()
})

t.test('quantities, times, base64 and int-or-string are brought into their canonical form', (t) => {
  t.equal(
    through('Pod', '{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":0.5,"memory":"1024Mi"}}}]}}'),
    '{"metadata":{},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"500m","memory":"1Gi"}}}]},"status":{}}',
  )
  t.equal(
    through(
      'ConfigMap',
      '{"metadata":{"creationTimestamp":"2020-01-01T01:00:00.5+01:00"},"binaryData":{"a":"YR==","b":"YWJj\\nZGVm"}}',
    ),
    '{"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z"},"binaryData":{"a":"YQ==","b":"YWJjZGVm"}}',
  )
  t.match(
    through('Service', '{"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":8080}]}}'),
    /"targetPort":"http".*"targetPort":8080/,
  )
  t.end()
})

t.test('text that is not JSON is refused with the place', (t) => {
  const refused = (text: string | Buffer) =>
    t.throws(
      () => decodeJson(Buffer.from(text as string), schemas.kind('', 'v1', 'ConfigMap')!),
      { name: 'JsonSyntaxError' },
      String(text),
    )
  for (const text of [
    '',
    '{',
    '{"a":1,}',
    '{"a" 1}',
    '{"a":tru}',
    '{"a":01}',
    '{"a":"\u0001"}',
    '{}x',
    '{"a":"\\x"}',
    "{'a':1}",
    '{"data":{"a":"b}',
  ])
    refused(text)
  t.throws(() => decode('ConfigMap', '{"a":?}'), /at byte 5/)
  t.throws(
    () => decodeJson(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), schemas.kind('', 'v1', 'ConfigMap')!),
    /invalid UTF-8/,
  )
  t.throws(() => decode('ConfigMap', `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`), /max depth/)
  t.end()
})

t.test('half a surrogate pair becomes U+FFFD, whole ones stay', (t) => {
  t.equal(
    decode('ConfigMap', '{"data":{"a":"\\ud800x","b":"\\ud83d\\ude00","c":"😀"}}').object['data'] !== undefined,
    true,
  )
  t.same(decode('ConfigMap', '{"data":{"a":"\\ud800x","b":"\\ud83d\\ude00","c":"😀"}}').object['data'], {
    a: '\ufffdx',
    b: '😀',
    c: '😀',
  })
  t.end()
})

t.test('schemas within schemas are decoded too', (t) => {
  const version = (schema: string) =>
    `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":${schema}}}}}]}}`
  const print = (schema: string) => through('CustomResourceDefinition', version(schema), 'apiextensions.k8s.io')
  t.match(print('{"items":{"type":"string","nullable":false}}'), /"a":\{"items":\{"type":"string"\}\}/)
  t.match(print('{"additionalProperties":true}'), /"a":\{"additionalProperties":true\}/)
  const { strictErrors } = decode('CustomResourceDefinition', version('{"items":{"typo":1}}'), 'apiextensions.k8s.io')
  t.match(strictErrors, [/unknown field "spec.versions\[0\].schema.openAPIV3Schema.properties.a.items.typo"/])
  t.end()
})

t.test('a key named __proto__ is a key like others', (t) => {
  const { object } = decode('ConfigMap', '{"data":{"__proto__":"x","n":null},"__proto__":{"a":1}}')
  t.equal(encodeText(object, schemas.kind('', 'v1', 'ConfigMap')!), '{"metadata":{},"data":{"__proto__":"x","n":""}}')
  t.equal(({} as Record<string, unknown>)['a'], undefined)
  t.end()
})

t.test('a draft made with the encoder is the draft of its bytes', (t) => {
  const object = decode(
    'ConfigMap',
    '{"kind":"ConfigMap","metadata":{"name":"ü","namespace":"x","uid":"u","resourceVersion":"7","labels":{"b":"1","a":"2"}},"data":{"k":"✓"}}',
  ).object
  const schema = schemas.kind('', 'v1', 'ConfigMap')!
  const made = encodeDraft(object, schema, METADATA_FIELDS)
  t.same(made, recordDraft(Buffer.from(encodeText(object, schema)), METADATA_FIELDS))
  t.equal(object.metadata?.resourceVersion, '7', 'the object stays as it is')
  t.end()
})

t.test('what kube-apiserver served comes out of the codec byte for byte', (t) => {
  for (const { path, object: text } of recordedLines<StoredObject>('stored-objects.jsonl')) {
    const tree = JSON.parse(text) as KubeObject
    const schema = schemaOf(tree)
    const decoded = decodeJson(Buffer.from(text), schema)
    t.same(decoded.strictErrors, [], path)
    t.equal(`${encodeText(decoded.object, schema)}\n`, text, path)
    t.equal(`${encodeText(tree, schema)}\n`, text, `${path}, not decoded`)
    t.same(encodeDraft(tree, schema, METADATA_FIELDS), recordDraft(Buffer.from(text), METADATA_FIELDS), path)
  }
  t.end()
})

t.test('every type with every field set comes out as it went in', (t) => {
  for (const { name, object } of recordedLines<RoundTripObject>('round-trip.jsonl')) {
    if (name.includes('WatchEvent')) continue
    const text = JSON.stringify(object)
    const schema = schemaOf(object as KubeObject)
    const decoded = decodeJson(Buffer.from(text), schema)
    t.same(decoded.strictErrors, [], name)
    t.equal(encodeText(decoded.object, schema), text, name)
  }
  t.end()
})

/** What the decoder makes of a body; nothing when it refuses it. */
function decodedOrRefused(text: string, schema: StructSchema): Decoded | undefined {
  try {
    return decodeJson(Buffer.from(text), schema)
  } catch (error) {
    if (error instanceof Error && /^(DecodeError|JsonSyntaxError)$/.test(error.name)) return undefined
    throw error
  }
}

t.test('what kube-apiserver could not decode is refused, and nothing else', (t) => {
  let compared = 0
  for (const suite of recordedSuiteNames(/^(vary|edit|life|field-validation)/)) {
    for (const { id, method, rawBody, body, headers, want } of recordedSuite(suite).steps) {
      if ((method !== 'POST' && method !== 'PUT') || (headers?.['content-type'] ?? 'json').includes('yaml')) continue
      const text = rawBody ?? JSON.stringify(body)
      const object = (body ?? (rawBody === undefined ? {} : JSON.parse(rawBody))) as KubeObject
      const schema = typeof object.apiVersion === 'string' ? schemaOf(object) : undefined
      if (schema === undefined || want === undefined) continue
      const { undecodable = false, strict } = want
      const decoded = decodedOrRefused(text, schema)
      compared++
      if ((decoded === undefined) !== undecodable) t.fail(`${suite} ${id}: ${undecodable ? 'accepted' : 'refused'}`)
      const found = decoded?.strictErrors.map((error) => error.replace(/^(\w+) field "(.*)"$/, '$1 $2'))
      if (strict !== undefined) t.same(found, strict, `${suite} ${id}: what strict decoding finds`)
    }
  }
  t.ok(compared > 8000, `${compared} requests compared`)
  t.end()
})
