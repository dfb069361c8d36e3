import t from 'tap'
import {
  difference,
  type FieldSet,
  fieldSet,
  has,
  intersection,
  isEmpty,
  pathsOf,
  recursiveDifference,
  setsEqual,
  union,
} from '#keelson/api/managed-fields/field-set.js'
import { decodeFieldsV1 } from '#keelson/api/managed-fields/fields-v1.js'
import { canonicalElement, compareElements, pathText } from '#keelson/api/managed-fields/path-element.js'

const text = (set: FieldSet): string => JSON.stringify(set)

t.test('union, difference and intersection go by field, not by what is below', async (t) => {
  const a = fieldSet(['f:a'], ['f:a', 'f:x'], ['f:b', 'f:y'])
  const b = fieldSet(['f:a'], ['f:b', 'f:y'], ['f:b', 'f:z'])
  t.equal(text(a), '{"f:a":{".":{},"f:x":{}},"f:b":{"f:y":{}}}')
  t.equal(text(union(a, b)), '{"f:a":{".":{},"f:x":{}},"f:b":{"f:y":{},"f:z":{}}}')
  t.equal(text(difference(a, b)), '{"f:a":{"f:x":{}}}')
  t.equal(text(recursiveDifference(a, b)), '{}')
  t.equal(text(intersection(a, b)), '{"f:a":{},"f:b":{"f:y":{}}}')
  t.ok(isEmpty(difference(a, a)))
  t.ok(setsEqual(union(a, b), union(b, a)))
  t.notOk(setsEqual(a, b))
  t.ok(has(a, ['f:a']))
  t.notOk(has(a, ['f:b']))
})

t.test('entries stay in order, whichever way a set is made', async (t) => {
  const b = fieldSet(['f:list', 'k:{"port":80}'], ['f:b'])
  const a = fieldSet(['f:list', 'k:{"port":443}'], ['f:a'], ['f:list', 'k:{"port":8}'])
  t.equal(
    text(union(b, a)),
    '{"f:a":{},"f:b":{},"f:list":{"k:{\\"port\\":8}":{},"k:{\\"port\\":80}":{},"k:{\\"port\\":443}":{}}}',
  )
})

t.test('paths come with the fields of a level first', async (t) => {
  const set = fieldSet(['f:b', 'f:x'], ['f:c'], ['f:a', 'f:y'], ['f:a'])
  t.strictSame(pathsOf(set).map(pathText), ['.a', '.c', '.a.y', '.b.x'])
})

t.test('elements are ordered by kind, then by name, key or value', async (t) => {
  const elements = [
    'i:10',
    'i:9',
    'v:"b"',
    'v:10',
    'v:9',
    'v:true',
    'f:b',
    'f:a',
    'f:B',
    'k:{"name":"a-b"}',
    'k:{"name":"a"}',
    '.',
  ]
  elements.push(
    'k:{"port":80,"protocol":"UDP"}',
    'k:{"port":80,"protocol":"TCP"}',
    'k:{"port":443}',
    'k:{"port":80}',
    'k:{"port":-5}',
  )
  t.strictSame(elements.sort(compareElements), [
    '.',
    'f:B',
    'f:a',
    'f:b',
    'k:{"name":"a"}',
    'k:{"name":"a-b"}',
    'k:{"port":-5}',
    'k:{"port":80}',
    'k:{"port":80,"protocol":"TCP"}',
    'k:{"port":80,"protocol":"UDP"}',
    'k:{"port":443}',
    'v:9',
    'v:10',
    'v:"b"',
    'v:true',
    'i:9',
    'i:10',
  ])
  t.ok(compareElements('f:\u{1f680}', 'f:\uffee') > 0, 'as UTF-8, not as UTF-16')
  t.ok(compareElements('k:{"a":"\\"x"}', 'k:{"a":"y"}') < 0)
  t.ok(compareElements('k:{"a":1.5}', 'k:{"a":1}') > 0)
})

t.test('elements have one spelling', async (t) => {
  t.equal(canonicalElement('k:{ "protocol":"TCP", "port": 80 }'), 'k:{"port":80,"protocol":"TCP"}')
  t.equal(canonicalElement('v:"a<b>&"'), 'v:"a\\u003cb\\u003e\\u0026"')
  t.equal(canonicalElement('i:007'), 'i:7')
  t.equal(canonicalElement('x:future'), undefined)
  for (const bad of ['f', 'nonsense', 'k:[]', 'k:{', 'v:', 'i:x'])
    t.throws(() => canonicalElement(bad), SyntaxError, bad)
})

t.test('FieldsV1 of a client is read into the same form', async (t) => {
  const set = decodeFieldsV1({ 'f:b': { '.': {} }, 'f:a': { 'k:{"name": "x"}': { '.': {}, 'f:y': {} }, 'z:1': {} } })
  t.equal(text(set), '{"f:a":{"k:{\\"name\\":\\"x\\"}":{".":{},"f:y":{}}},"f:b":{}}')
  t.throws(() => decodeFieldsV1({ 'f:a': 1 }), SyntaxError)
  t.throws(() => decodeFieldsV1({ 'f:a': { 'k:{': {} } }), SyntaxError)
})

t.test('paths are shown as conflicts show them', async (t) => {
  const path = ['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}', 'f:name', 'v:"x"', 'i:0']
  t.equal(pathText(path), '.spec.ports[port=80,protocol="TCP"].name[="x"][0]')
})
