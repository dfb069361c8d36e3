import t from 'tap'
import { type Binding, BindingTable, type Subject } from '#keelson/auth/authz/binding-table.js'
import { isLinear } from '../../support/growth.js'

const everybody: Subject = { kind: 'Group', name: 'system:authenticated', namespace: '' }

const bindingOf = (name: string, subjects: readonly Subject[]): Binding => ({
  name,
  namespace: 'dev',
  subjects,
  role: { kind: 'Role', key: 'Role/dev/r', name: 'r', rules: undefined, uses: 1 },
})
const repeated = (count: number): Subject[] => Array.from({ length: count }, () => everybody)

t.test('a binding that names somebody many times is looked at once', async (t) => {
  const table = new BindingTable()
  const account = { kind: 'ServiceAccount', name: 'a', namespace: '' }
  const [a, b] = [bindingOf('a', [...repeated(3), account, account]), bindingOf('b', repeated(3))]
  for (const binding of [a, b]) table.put(binding)
  t.same(
    table.ofGroup(everybody.name)?.map(({ binding }) => binding.name),
    ['a', 'b'],
  )
  t.equal(table.ofUser('system:serviceaccount:dev:a')?.length, 1)
  t.equal(table.delete('a'), a)
  t.same(
    table.ofGroup(everybody.name)?.map(({ binding }) => binding.name),
    ['b'],
  )
  t.equal(table.ofUser('system:serviceaccount:dev:a'), undefined)
  t.equal(table.delete('b'), b)
  t.equal(table.ofGroup(everybody.name), undefined)
})

t.test('a binding goes in the time that its subjects take, whoever else they are bound by', async (t) => {
  const prepare = (count: number): BindingTable => {
    const table = new BindingTable()
    const others = Array.from({ length: count }, (_, i): Subject => ({ kind: 'User', name: `u${i}`, namespace: '' }))
    for (const name of ['a', 'b', 'c']) table.put(bindingOf(name, [...others, ...repeated(count)]))
    return table
  }
  const again = (table: BindingTable): void => {
    for (let i = 0; i < 3; i++) table.put(table.delete('a')!)
  }
  t.ok(isLinear(5_000, prepare, again))
})
