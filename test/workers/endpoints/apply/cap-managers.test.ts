import t from 'tap'
import { namedFields } from '#keelson/api/managed-fields/field-set.js'
import { type Managed, type Manager, managerKey, type Operation } from '#keelson/api/managed-fields/managed-fields.js'
import { capUpdateManagers, MAX_UPDATE_MANAGERS } from '#keelson/workers/endpoints/apply/cap-managers.js'

function managedBy(...rows: [name: string, time: string, version?: string, operation?: Operation][]): Managed {
  const managed: Managed = new Map()
  for (const [name, time, apiVersion = 'v1', operation = 'Update'] of rows) {
    const manager: Manager = { name, operation, apiVersion, subresource: '' }
    managed.set(managerKey(manager), { manager, set: namedFields(name), time })
  }
  return managed
}
const at = (second: number): string => `2026-01-01T00:00:0${second}Z`
const names = (managed: Managed): string[] => [...managed.values()].map(({ manager }) => manager.name).sort()

t.test('up to the limit everybody keeps an entry', async (t) => {
  const rows = Array.from({ length: MAX_UPDATE_MANAGERS }, (_, i): [string, string] => [`m${i}`, at(1)])
  const managed = managedBy(...rows)
  capUpdateManagers(managed)
  t.equal(managed.size, MAX_UPDATE_MANAGERS)
})

t.test('the oldest share an entry, with all their fields and the newest of their times', async (t) => {
  const managed = managedBy(['new', at(9)], ['old', at(1)], ['older', at(0)], ['middle', at(5)])
  capUpdateManagers(managed, 3)
  t.same(names(managed), ['ancient-changes', 'middle', 'new'])
  const ancient = [...managed.values()].find(({ manager }) => manager.name === 'ancient-changes')
  t.strictSame(ancient?.set, namedFields('old', 'older'))
  t.equal(ancient?.time, at(1))
})

t.test('appliers are not counted, and versions are not mixed', async (t) => {
  const managed = managedBy(['a', at(1), 'v1'], ['b', at(2), 'v2'], ['c', at(3), 'v1'], ['d', at(0), 'v1', 'Apply'])
  capUpdateManagers(managed, 2)
  t.same(names(managed), ['ancient-changes', 'b', 'd'])
  t.equal([...managed.values()].find(({ manager }) => manager.name === 'ancient-changes')?.manager.apiVersion, 'v1')
})

t.test('what is ancient already takes in more', async (t) => {
  const managed = managedBy(['ancient-changes', at(0)], ['a', at(1)], ['b', at(2)], ['c', at(3)])
  capUpdateManagers(managed, 2)
  t.same(names(managed), ['ancient-changes', 'c'])
  const ancient = [...managed.values()].find(({ manager }) => manager.name === 'ancient-changes')
  t.strictSame(ancient?.set, namedFields('a', 'ancient-changes', 'b'))
})
