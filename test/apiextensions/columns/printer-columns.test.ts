import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { printerTable } from '#keelson/apiextensions/columns/printer-columns.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const OBJECT: KubeObject = {
  metadata: { name: 'x', creationTimestamp: '2025-12-31T23:59:00Z' },
  spec: {
    text: 'red',
    count: 3,
    large: 9007199254740993n,
    ratio: 2.75,
    tiny: 0.00001,
    huge: 1e21,
    on: true,
    nothing: null,
    map: { z: '1', y: '<2>' },
    list: [1, 'b'],
    zero: '0001-01-01T00:00:00Z',
    when: '2025-12-31T23:00:00+00:00',
    empty: '',
  },
}

const cell = (type: string, jsonPath: string): unknown =>
  printerTable([{ name: 'C', type, jsonPath }]).cells(OBJECT, NOW)[1]

t.test('without columns a Table has name and age', async (t) => {
  for (const columns of [undefined, []]) {
    const table = printerTable(columns)
    t.same(
      table.columns.map(({ name, type, format, priority }) => [name, type, format, priority]),
      [
        ['Name', 'string', 'name', 0],
        ['Age', 'date', '', 0],
      ],
    )
    t.same(table.cells(OBJECT, NOW), ['x', '60s'])
  }
})

t.test('columns say what they are', async (t) => {
  const { columns } = printerTable([
    { name: 'A', type: 'integer', format: 'int32', jsonPath: '.spec.count', description: 'how many', priority: 1 },
    { name: 'B', type: 'string', jsonPath: '.spec.text' },
  ])
  t.same(columns[1], { name: 'A', type: 'integer', format: 'int32', description: 'how many', priority: 1 })
  t.match(columns[2]!.description, '.spec.text', 'a column without description names its path')
})

t.test('the first path that cannot be read ends the Table', async (t) => {
  const table = printerTable([
    { name: 'A', type: 'string', jsonPath: '.spec.text' },
    { name: 'B', type: 'string', jsonPath: '.spec[' },
    { name: 'C', type: 'string', jsonPath: '.spec.text' },
  ])
  t.same(
    table.columns.map(({ name }) => name),
    ['Name', 'A'],
  )
  t.same(table.cells(OBJECT, NOW), ['x', 'red'])
})

t.test('cells are what their column says, or null', async (t) => {
  for (const [type, path, value] of [
    ['string', 'text', 'red'],
    ['string', 'count', '3'],
    ['string', 'large', '9007199254740993'],
    ['string', 'ratio', '2.75'],
    ['string', 'tiny', '1e-05'],
    ['string', 'huge', '1e+21'],
    ['string', 'on', 'true'],
    ['string', 'nothing', '<no value>'],
    ['string', 'absent', null],
    ['string', 'map', '{"y":"\\u003c2\\u003e","z":"1"}'],
    ['string', 'list', '[1,"b"]'],
    ['integer', 'count', 3],
    ['integer', 'large', 9007199254740993n],
    ['integer', 'ratio', 2],
    ['integer', 'text', null],
    ['number', 'ratio', 2.75],
    ['number', 'count', 3],
    ['number', 'on', null],
    ['boolean', 'on', true],
    ['boolean', 'count', null],
    ['date', 'when', '60m'],
    ['date', 'zero', '<unknown>'],
    ['date', 'empty', '<unknown>'],
    ['date', 'text', '<invalid>'],
    ['date', 'count', null],
    ['date', 'nothing', null],
  ] as const)
    t.same(cell(type, `.spec.${path}`), value, `${type} ${path}`)
})

t.test('the columns of a row share what they may touch', async (t) => {
  const object: KubeObject = {
    metadata: { name: 'x' },
    spec: { n: 1, text: 'x'.repeat(200_000), list: new Array(30_000).fill(1) },
  }
  const columns = [
    { name: 'A', type: 'integer', jsonPath: '.spec.n' },
    ...[1, 2, 3, 4].map((i) => ({ name: `L${i}`, type: 'integer', jsonPath: '.spec.list[*]' })),
    { name: 'Z', type: 'integer', jsonPath: '.spec.n' },
  ]
  const table = printerTable(columns)
  t.same(table.cells(object, NOW), ['x', 1, 1, 1, 1, null, null])
  t.same(table.cells(object, NOW).slice(0, 2), ['x', 1], 'the next row begins anew')
})
