import t from 'tap'
import type { Json } from '#keelson/api/object.js'
import { JsonPathError, parseJsonPath } from '#keelson/apiextensions/columns/json-path.js'
import { firstValue } from '#keelson/apiextensions/columns/json-path-values.js'
import { isLinear } from '../../support/growth.js'

const OBJECT: Json = {
  metadata: { labels: { 'example.com/tier': 'gold', "a'b": 'quoted' } },
  spec: {
    n: 3,
    ratio: 1.5,
    nothing: null,
    list: [
      { k: 'w', v: 9, on: true },
      { k: 'x', v: 10 },
      { k: 'y)', v: 11, deep: { k: 'z' } },
    ],
  },
}

/** The first value that a path finds, or undefined. */
const TABLE: readonly (readonly [path: string, value: Json | undefined])[] = [
  ['.spec.n', 3],
  ['.spec.nothing', null],
  ['.spec.nothing.more', undefined],
  ['.spec.absent', undefined],
  ['.spec.n.more', undefined],
  ['.constructor', undefined],
  ['.metadata.labels.example\\.com/tier', 'gold'],
  [".metadata.labels['example\\.com/tier']", 'gold'],
  [".metadata.labels['example.com/tier']", undefined],
  ['.spec.list[0].k', 'w'],
  ['.spec.list[-1].v', 11],
  ['.spec.list[-1:].v', 11],
  ['.spec.list[1:].k', 'x'],
  ['.spec.list[0:3:2].k', 'w'],
  ['.spec.list[5].k', undefined],
  ['.spec.list[1:1].k', undefined],
  ['.spec.list[*].k', 'w'],
  ['.spec.list.*.k', 'w'],
  ['.spec.list[2,0].k', 'y)'],
  ['.spec.list[?(@.k=="x")].v', 10],
  ["[?(@.k=='x')].v", undefined],
  ['.spec.list[?(@.k=="y)")].v', 11],
  ['.spec.list[?(@.v>9)].k', 'x'],
  ['.spec.list[?(@.v>=11)].k', 'y)'],
  ['.spec.list[?(@.v!=9)].k', 'x'],
  ['.spec.list[?(@.v==9.0)].k', undefined],
  ['.spec.list[?(@.k==9)].k', undefined],
  ['.spec.list[?(@.on==true)].k', 'w'],
  ['.spec.list[?(@.deep)].k', 'y)'],
  ['.spec.list[?(@.v===9)].k', undefined],
  ['.spec.n[?(@.v)]', undefined],
  ['.spec.n[0]', undefined],
  ['..deep.k', 'z'],
  ['.spec..k', 'w'],
  ['.spec["n"]', undefined],
  ['.spec.n}{.absent', 3],
  ['.spec word', undefined],
  ['.', undefined],
]

t.test('a path finds what kubectl finds', async (t) => {
  for (const [path, value] of TABLE) {
    let found: Json | undefined
    try {
      found = firstValue(parseJsonPath(path), OBJECT)
    } catch (error) {
      if (!(error instanceof JsonPathError)) throw error
    }
    t.same(found, value, path)
  }
})

t.test('what is no path is refused', async (t) => {
  for (const path of [
    '.a[',
    '.a[x]',
    '.a[?(@.b',
    '.a[?(@.b)',
    '.a[?(@.b=="c)]',
    '.a....b',
    '.a#b]#',
    '.a\n',
    '.a[1:2:3:4]',
    '.a[+]',
  ])
    t.throws(() => parseJsonPath(path), { code: 'invalid-json-path' }, path)
  t.throws(() => parseJsonPath(`.${'a'.repeat(5000)}`), { code: 'invalid-json-path' }, 'too long')
})

t.test('descent within descent is bounded', async (t) => {
  let deep: Json = { a: 1 }
  for (let i = 0; i < 300; i++) deep = { a: deep }
  t.equal(firstValue(parseJsonPath('..a'.repeat(20)), deep), undefined)
})

t.test('parsing takes time in proportion to its length', async (t) => {
  for (const part of ['.a', '[0]', '[?(@.a==1)]', '[1,2]', "['a']"])
    t.ok(
      isLinear(
        2000,
        (size) => part.repeat(Math.floor(size / part.length)),
        (path) => parseJsonPath(path),
      ),
      part,
    )
})

t.test('a text has nothing below it that is worth a look', async (t) => {
  const object: Json = { text: 'x'.repeat(1_000_000), last: { k: 'z' } }
  t.equal(firstValue(parseJsonPath('..k'), object), 'z')
  t.equal(firstValue(parseJsonPath('.last.k..'), object), 'z', 'but is something itself')
  t.equal(firstValue(parseJsonPath('.last.k.*'), object), 122, 'its bytes')
  t.equal(firstValue(parseJsonPath('.text.*'), object), undefined)
})
