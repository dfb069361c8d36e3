/** Cases of JSON patch: the appendix of RFC 6902 and the edges that implementations get wrong. */
import type { Json } from '#keelson/api/object.js'

export interface JsonPatchCase {
  readonly title: string
  readonly doc: Json
  readonly patch: Json
  /** The result; absent when the patch must fail. */
  readonly expected?: Json
  /** How it fails; PatchUnprocessable unless it says so. */
  readonly code?: string
}

export const RFC_CASES: readonly JsonPatchCase[] = [
  {
    title: 'A.1 adding an object member',
    doc: { foo: 'bar' },
    patch: [{ op: 'add', path: '/baz', value: 'qux' }],
    expected: { baz: 'qux', foo: 'bar' },
  },
  {
    title: 'A.2 adding an array element',
    doc: { foo: ['bar', 'baz'] },
    patch: [{ op: 'add', path: '/foo/1', value: 'qux' }],
    expected: { foo: ['bar', 'qux', 'baz'] },
  },
  {
    title: 'A.3 removing an object member',
    doc: { baz: 'qux', foo: 'bar' },
    patch: [{ op: 'remove', path: '/baz' }],
    expected: { foo: 'bar' },
  },
  {
    title: 'A.4 removing an array element',
    doc: { foo: ['bar', 'qux', 'baz'] },
    patch: [{ op: 'remove', path: '/foo/1' }],
    expected: { foo: ['bar', 'baz'] },
  },
  {
    title: 'A.5 replacing a value',
    doc: { baz: 'qux', foo: 'bar' },
    patch: [{ op: 'replace', path: '/baz', value: 'boo' }],
    expected: { baz: 'boo', foo: 'bar' },
  },
  {
    title: 'A.6 moving a value',
    doc: { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    patch: [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    expected: { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  },
  {
    title: 'A.7 moving an array element',
    doc: { foo: ['all', 'grass', 'cows', 'eat'] },
    patch: [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    expected: { foo: ['all', 'cows', 'eat', 'grass'] },
  },
  {
    title: 'A.8 testing a value: success',
    doc: { baz: 'qux', foo: ['a', 2, 'c'] },
    patch: [
      { op: 'test', path: '/baz', value: 'qux' },
      { op: 'test', path: '/foo/1', value: 2 },
    ],
    expected: { baz: 'qux', foo: ['a', 2, 'c'] },
  },
  {
    title: 'A.9 testing a value: error',
    doc: { baz: 'qux' },
    patch: [{ op: 'test', path: '/baz', value: 'bar' }],
  },
  {
    title: 'A.10 adding a nested member object',
    doc: { foo: 'bar' },
    patch: [{ op: 'add', path: '/child', value: { grandchild: {} } }],
    expected: { foo: 'bar', child: { grandchild: {} } },
  },
  {
    title: 'A.11 ignoring unrecognized elements',
    doc: { foo: 'bar' },
    patch: [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }],
    expected: { foo: 'bar', baz: 'qux' },
  },
  {
    title: 'A.12 adding to a nonexistent target',
    doc: { foo: 'bar' },
    patch: [{ op: 'add', path: '/baz/bat', value: 'qux' }],
  },
  {
    title: 'A.14 escape ordering',
    doc: { '/': 9, '~1': 10 },
    patch: [{ op: 'test', path: '/~01', value: 10 }],
    expected: { '/': 9, '~1': 10 },
  },
  {
    title: 'A.15 comparing strings and numbers',
    doc: { '/': 9, '~1': 10 },
    patch: [{ op: 'test', path: '/~01', value: '10' }],
  },
  {
    title: 'A.16 adding an array value',
    doc: { foo: ['bar'] },
    patch: [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
    expected: { foo: ['bar', ['abc', 'def']] },
  },
]

const add = (path: string, value: Json): Json => [{ op: 'add', path, value }]

export const EDGE_CASES: readonly JsonPatchCase[] = [
  { title: 'no operations', doc: { a: 1 }, patch: [], expected: { a: 1 } },
  { title: 'add replaces a member that is there', doc: { a: null }, patch: add('/a', 1), expected: { a: 1 } },
  { title: 'add at the root', doc: { a: 1 }, patch: add('', ['x']) },
  { title: 'replace of the root with a scalar', doc: { a: 1 }, patch: [{ op: 'replace', path: '', value: 1 }] },
  {
    title: 'replace at the root replaces the document',
    doc: { a: 1 },
    patch: [{ op: 'replace', path: '', value: { b: 2 } }],
    expected: { b: 2 },
  },
  { title: 'remove of the root', doc: { a: 1 }, patch: [{ op: 'remove', path: '' }] },
  { title: 'the empty key', doc: {}, patch: add('/', 1), expected: { '': 1 } },
  { title: 'the empty key inside', doc: { a: { '': {} } }, patch: add('/a//b', 1), expected: { a: { '': { b: 1 } } } },
  { title: 'a trailing slash names the empty key', doc: { a: {} }, patch: add('/a/', 1), expected: { a: { '': 1 } } },
  { title: 'a path without a slash', doc: { a: 1 }, patch: add('a', 2) },
  { title: 'what is before the first slash', doc: { a: 1 }, patch: add('x/a', 2), expected: { a: 2 } },
  { title: 'an escape of nothing', doc: { 'a~2': 1 }, patch: [{ op: 'remove', path: '/a~2' }], expected: {} },
  { title: 'a tilde at the end', doc: { 'a~': 1 }, patch: [{ op: 'remove', path: '/a~' }], expected: {} },
  { title: 'a patch that is null', doc: { a: 1 }, patch: null, expected: { a: 1 } },
  { title: 'an operation that is null', doc: { a: 1 }, patch: [null] },
  { title: 'an add without a value', doc: {}, patch: [{ op: 'add', path: '/a' }], expected: { a: null } },
  {
    title: 'both escapes in one token',
    doc: { 'a/b~c': 1 },
    patch: [{ op: 'replace', path: '/a~1b~0c', value: 2 }],
    expected: { 'a/b~c': 2 },
  },
  { title: 'add at the start of an array', doc: [1], patch: add('/0', 0), expected: [0, 1] },
  { title: 'add one past the end', doc: [1], patch: add('/1', 2), expected: [1, 2] },
  { title: 'add beyond the end', doc: [1], patch: add('/2', 2) },
  { title: 'add at - of an empty array', doc: [], patch: add('/-', 1), expected: [1] },
  { title: 'add null at -', doc: [1], patch: add('/-', null), expected: [1, null] },
  { title: 'a leading zero', doc: [1, 2], patch: [{ op: 'replace', path: '/01', value: 3 }], expected: [1, 3] },
  { title: 'two zeros', doc: [1], patch: [{ op: 'replace', path: '/00', value: 3 }], expected: [3] },
  { title: 'a negative index', doc: [1, 2], patch: [{ op: 'remove', path: '/-1' }], expected: [1] },
  { title: 'a negative index of an add', doc: [1, 2], patch: add('/-2', 3), expected: [1, 3, 2] },
  { title: 'a negative index before the start', doc: [1], patch: [{ op: 'remove', path: '/-2' }] },
  { title: 'a fractional index', doc: [1], patch: [{ op: 'test', path: '/0.0', value: 1 }] },
  { title: 'an exponent', doc: ['a', 'b'], patch: [{ op: 'test', path: '/1e0', value: 'b' }] },
  { title: 'an index with a sign', doc: [1, 2], patch: [{ op: 'remove', path: '/+1' }], expected: [1] },
  { title: 'a huge index', doc: [1], patch: add('/18446744073709551616', 1) },
  { title: 'a name as an index', doc: [1], patch: add('/bar', 1) },
  { title: 'length is no member of an array', doc: [1], patch: [{ op: 'replace', path: '/length', value: 0 }] },
  { title: 'remove at -', doc: [1], patch: [{ op: 'remove', path: '/-' }] },
  { title: 'replace at -', doc: [1], patch: [{ op: 'replace', path: '/-', value: 2 }] },
  { title: 'remove beyond the end', doc: [1], patch: [{ op: 'remove', path: '/1' }] },
  {
    title: 'digits name members of an object',
    doc: { a: { '1': 1 } },
    patch: add('/a/01', 2),
    expected: { a: { '1': 1, '01': 2 } },
  },
  { title: '- names a member of an object', doc: {}, patch: add('/-', 1), expected: { '-': 1 } },
  { title: 'remove of what is not there', doc: { a: 1 }, patch: [{ op: 'remove', path: '/b' }] },
  {
    title: 'replace of what is not there',
    doc: { a: 1 },
    patch: [{ op: 'replace', path: '/b', value: 1 }],
    expected: { a: 1, b: 1 },
  },
  { title: 'remove of a null member', doc: { a: null }, patch: [{ op: 'remove', path: '/a' }], expected: {} },
  { title: 'a path through a scalar', doc: { a: 1 }, patch: add('/a/b', 1) },
  { title: 'a path through null', doc: { a: null }, patch: add('/a/b', 1) },
  { title: 'a path through text', doc: { a: 'xyz' }, patch: [{ op: 'test', path: '/a/0', value: 'x' }] },
  { title: 'move onto itself', doc: { a: 1 }, patch: [{ op: 'move', from: '/a', path: '/a' }], expected: { a: 1 } },
  { title: 'move of nothing onto itself', doc: {}, patch: [{ op: 'move', from: '/a', path: '/a' }] },
  { title: 'move into itself', doc: { a: { b: {} } }, patch: [{ op: 'move', from: '/a', path: '/a/b' }] },
  { title: 'move of a null', doc: { a: null }, patch: [{ op: 'move', from: '/a', path: '/b' }], expected: { b: null } },
  {
    title: 'move of a shared prefix that is no parent',
    doc: { a: 1, ab: {} },
    patch: [{ op: 'move', from: '/a', path: '/ab/c' }],
    expected: { ab: { c: 1 } },
  },
  {
    title: 'copy of a null',
    doc: { a: null },
    patch: [{ op: 'copy', from: '/a', path: '/b' }],
    expected: { a: null, b: null },
  },
  {
    title: 'a copy is independent of its source',
    doc: { a: { x: 1 } },
    patch: [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'replace', path: '/b/x', value: 2 },
    ],
    expected: { a: { x: 1 }, b: { x: 2 } },
  },
  {
    title: 'a value added twice is independent',
    doc: {},
    patch: [
      { op: 'add', path: '/a', value: { l: [] } },
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/a/l/-', value: 1 },
    ],
    expected: { a: { l: [1] }, b: { l: [] } },
  },
  { title: 'copy of the whole document into itself', doc: { a: 1 }, patch: [{ op: 'copy', from: '', path: '/b' }] },
  {
    title: 'copy of a member that is not there',
    doc: {},
    patch: [{ op: 'copy', from: '/a', path: '/b' }],
    expected: { b: null },
  },
  { title: 'copy of an element that is not there', doc: [], patch: [{ op: 'copy', from: '/0', path: '/-' }] },
  { title: 'move without from', doc: { a: 1 }, patch: [{ op: 'move', path: '/b' }] },
  { title: 'copy without from', doc: { a: 1 }, patch: [{ op: 'copy', path: '/b' }] },
  {
    title: 'replace without value',
    doc: { a: 1 },
    patch: [{ op: 'replace', path: '/a' }],
    expected: { a: null },
  },
  {
    title: 'test of objects in another order',
    doc: { a: { x: 1, y: [2] } },
    patch: [{ op: 'test', path: '/a', value: { y: [2], x: 1 } }],
    expected: { a: { x: 1, y: [2] } },
  },
  {
    title: 'test of the whole document',
    doc: { a: 1 },
    patch: [{ op: 'test', path: '', value: { a: 1 } }],
    expected: { a: 1 },
  },
  { title: 'test of an array in another order', doc: [1, 2], patch: [{ op: 'test', path: '', value: [2, 1] }] },
  { title: 'test of null', doc: { a: null }, patch: [{ op: 'test', path: '/a', value: null }], expected: { a: null } },
  { title: 'test of null against something', doc: { a: 0 }, patch: [{ op: 'test', path: '/a', value: null }] },
  {
    title: 'test of a member with one too few',
    doc: { a: { b: 1, c: 2 } },
    patch: [{ op: 'test', path: '/a', value: { b: 1 } }],
  },
  {
    title: 'an absent member passes a test for null',
    doc: {},
    patch: [{ op: 'test', path: '/a', value: null }],
    expected: {},
  },
  { title: 'an absent element does not', doc: [], patch: [{ op: 'test', path: '/0', value: null }] },
  {
    title: 'a failing operation undoes the others',
    doc: { a: 1 },
    patch: [
      { op: 'remove', path: '/a' },
      { op: 'remove', path: '/a' },
    ],
  },
  { title: 'an unknown operation', doc: {}, patch: [{ op: 'explode', path: '/x' }] },
  { title: 'an operation in capitals', doc: {}, patch: [{ op: 'ADD', path: '/x', value: 1 }] },
  { title: 'no op', doc: {}, patch: [{ path: '/x', value: 1 }] },
  { title: 'no path', doc: {}, patch: [{ op: 'add', value: 1 }] },
  { title: 'a null path', doc: {}, patch: [{ op: 'add', path: null, value: 1 }] },
  { title: 'not an array', doc: {}, patch: { op: 'add' }, code: 'PatchBadRequest' },
  { title: 'an operation that is no object', doc: {}, patch: [1], code: 'PatchBadRequest' },
  { title: 'a path that is no string', doc: {}, patch: [{ op: 'add', path: 1, value: 1 }], code: 'PatchBadRequest' },
  { title: 'an op that is no string', doc: {}, patch: [{ op: 1, path: '/a' }], code: 'PatchBadRequest' },
  {
    title: '__proto__ is a member like others',
    doc: {},
    patch: add('/__proto__', { polluted: true }),
    expected: JSON.parse('{"__proto__":{"polluted":true}}') as Json,
  },
  { title: 'nothing is reached through __proto__', doc: {}, patch: add('/__proto__/polluted', true) },
  { title: 'nothing is reached through constructor', doc: {}, patch: add('/constructor/polluted', true) },
  {
    title: 'integers beyond 2^53 stay',
    doc: { a: 9007199254740993n },
    patch: [
      { op: 'test', path: '/a', value: 9007199254740993n },
      { op: 'copy', from: '/a', path: '/b' },
    ],
    expected: { a: 9007199254740993n, b: 9007199254740993n },
  },
  {
    title: 'neighbours beyond 2^53 differ',
    doc: { a: 9007199254740993n },
    patch: [{ op: 'test', path: '/a', value: 9007199254740992 }],
  },
]
