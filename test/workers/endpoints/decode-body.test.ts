import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { encodeBuiltin } from '#keelson/api/protobuf/builtin.js'
import { isStatusError, type Status } from '#keelson/api/status.js'
import {
  bodyFormat,
  checkKind,
  decodeBody,
  limitedStrict,
  reportStrict,
} from '#keelson/workers/endpoints/decode-body.js'
import type { FieldValidation } from '#keelson/workers/endpoints/write-options.js'
import { EndpointFixture } from '../../support/endpoint-fixture.js'

const fixture = new EndpointFixture()
const endpointAt = (path: string) => fixture.worker('POST', path).endpoint
const configmaps = endpointAt('/api/v1/namespaces/default/configmaps')
const YAML = 'application/yaml'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

function decode(body: string | Uint8Array, contentType = '', fieldValidation: FieldValidation = 'Warn') {
  const warnings: string[] = []
  const emptied: unknown[] = []
  const object = decodeBody(configmaps, Buffer.from(body), {
    contentType,
    fieldValidation,
    addWarning: (text) => void warnings.push(text),
    noteEmptied: (paths) => void emptied.push(...paths),
  })
  return { object, warnings, emptied }
}

function refused(run: () => unknown): Status {
  try {
    run()
  } catch (error) {
    if (isStatusError(error)) return error.status
    throw error
  }
  throw new Error('was not refused')
}

t.test('the format is what the content type says, JSON when it says nothing', async (t) => {
  for (const [contentType, format] of [
    ['', 'json'],
    ['application/json', 'json'],
    ['application/json; charset=utf-8', 'json'],
    [YAML, 'yaml'],
    [PROTOBUF, 'protobuf'],
  ] as const)
    t.equal(bodyFormat(contentType), format, contentType)
  for (const contentType of ['text/plain', 'application/jsonx', '*/*'])
    t.match(
      refused(() => bodyFormat(contentType)),
      { code: 415 },
      contentType,
    )
})

t.test('one object comes in three forms', async (t) => {
  const object: KubeObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } }
  const forms: [string | Uint8Array, string][] = [
    [JSON.stringify(object), 'application/json'],
    ['kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {k: v}\n', YAML],
    [encodeBuiltin(object), PROTOBUF],
  ]
  for (const [body, contentType] of forms) t.same(decode(body, contentType).object, object, contentType)
})

t.test('kind and version need not be said, and defaults are filled in', async (t) => {
  t.match(decode('{}').object, { kind: 'ConfigMap', apiVersion: 'v1' })
  const secrets = endpointAt('/api/v1/namespaces/default/secrets')
  const options = { contentType: '', fieldValidation: 'Warn' as const, addWarning: () => undefined }
  t.equal(decodeBody(secrets, Buffer.from('{}'), options)['type'], 'Opaque')
})

t.test('another kind or version is refused, before or behind its envelope', async (t) => {
  t.match(
    refused(() => decode('{"kind":"Secret"}')),
    { code: 400 },
  )
  t.match(
    refused(() => decode('{"apiVersion":"v2"}')),
    { code: 400, message: /does not match the expected API version/ },
  )
  t.match(
    refused(() => decode(encodeBuiltin({ kind: 'Secret', apiVersion: 'v1' }), PROTOBUF)),
    { code: 400 },
  )
  const expected = { group: 'apps', version: 'v1', kind: 'Scale' }
  t.throws(() => checkKind({ apiVersion: 'other/v1' }, expected))
  t.doesNotThrow(() => checkKind({ apiVersion: 'other/v1', kind: 'Scale' }, expected, ['other/v1']))
})

t.test('what cannot be read is a bad request in each form', async (t) => {
  for (const [body, contentType] of [
    ['', ''],
    ['{', ''],
    ['{"metadata":{}}x', ''],
    ['[]', ''],
    ['"text"', ''],
    ['a: [', YAML],
    ['no protobuf', PROTOBUF],
    ['{"data":"text"}', ''],
    ['{"metadata":{"labels":{"a":5}}}', ''],
  ] as const)
    t.match(
      refused(() => decode(body, contentType)),
      { code: 400, reason: 'BadRequest' },
      `${contentType} ${body}`,
    )
})

t.test('a body of more values than a request may hold is too large', async (t) => {
  const many = `{"metadata":{"finalizers":[${'"a/b",'.repeat(200_000)}"a/b"]}}`
  t.match(
    refused(() => decode(many)),
    { code: 413, reason: 'RequestEntityTooLarge' },
  )
})

t.test('fields that are unknown or given twice are warned of, refused or passed over', async (t) => {
  const body = '{"dta":{},"data":{"k":"1","k":"2"}}'
  t.same(decode(body).warnings.sort(), ['duplicate field "data.k"', 'unknown field "dta"'])
  t.same(decode(body, '', 'Ignore').warnings, [])
  t.match(
    refused(() => decode(body, '', 'Strict')),
    { code: 400, message: /strict decoding error: .*unknown field "dta"/ },
  )
  const yaml = decode('data: {k: "1", k: "2"}\n', YAML)
  t.equal(yaml.warnings.length, 1)
  t.match(yaml.object, { data: { k: '2' } }, 'the last one counts')
})

t.test('at most a hundred errors of one body are told', async (t) => {
  const found = Array.from({ length: 250 }, (_, i) => `unknown field ${i}`)
  t.equal(limitedStrict(found).length, 100)
  const told: string[] = []
  const addWarning = (text: string) => void told.push(text)
  reportStrict(found, { fieldValidation: 'Warn', addWarning }, '')
  t.equal(told.length, 100)
  const { message = '' } = refused(() => reportStrict(found, { fieldValidation: 'Strict', addWarning }, 'strict: '))
  t.equal(message.split(', ').length, 100)
})

t.test('lists and maps that were written empty are noted', async (t) => {
  t.same(decode('{"data":{},"metadata":{"finalizers":[]}}').emptied, [['data'], ['metadata', 'finalizers']])
})
