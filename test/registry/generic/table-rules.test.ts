import t from 'tap'
import { age, commas, labelText, orNone, orUnset, tableOf, text } from '#keelson/registry/generic/table-rules.js'

t.test('a table is its columns, the name before them', async (t) => {
  const table = tableOf(
    text('Color', 'Its color.', () => 'red', { priority: 1 }),
    age({ priority: 1 }),
  )
  t.same(
    table.columns.map(({ name, type, priority }) => [name, type, priority]),
    [
      ['Name', 'string', undefined],
      ['Color', 'string', 1],
      ['Age', 'string', 1],
    ],
  )
  const object = { metadata: { name: 'a', creationTimestamp: '1970-01-01T00:00:00Z' } }
  t.same(table.cells(object, 5000), ['a', 'red', '5s'])
  t.same(table.cells({}, 5000), ['', 'red', '<unknown>'])
  t.notOk('cell' in table.columns[1]!, 'the way to a cell is not shown')
})

t.test('what is not there is shown as such', async (t) => {
  t.equal(orNone(''), '<none>')
  t.equal(orNone(undefined), '<none>')
  t.equal(orNone('x'), 'x')
  t.equal(orUnset(undefined), '<unset>')
  t.equal(orUnset(null), '<unset>')
  t.equal(orUnset(''), '')
  t.equal(commas([]), '<none>')
  t.equal(commas(null), '<none>')
  t.equal(commas(['b', 'a']), 'b,a')
  t.equal(labelText({ b: '2', a: '1' }), 'a=1,b=2')
  t.equal(labelText(undefined), '<none>')
})
