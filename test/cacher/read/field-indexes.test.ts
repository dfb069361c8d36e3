import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { FieldIndexes } from '#keelson/cacher/read/field-indexes.js'
import { draft } from '../memory/draft.js'

const PODS = { startKey: '/registry/pods/', endKey: '/registry/pods0' }
const OBJECTS = 1000

t.test('lists by a field that is asked for again look at what has the value only', async (t) => {
  const owner = new MemoryOwner()
  const writer = owner.createArena('pods', {})
  const arena = owner.localReader().arena('pods')!
  writer.setReady(true)
  let revision = 0
  const put = (name: string, node: string): void => {
    const key = `/registry/pods/default/${name}`
    writer.put(key, draft(key, { node }), ++revision, revision)
    writer.publish(revision)
    owner.clock.advance(revision)
  }
  for (let i = 0; i < OBJECTS; i++) put(`p${i}`, `node-${i % 100}`)
  const indexes = new FieldIndexes()
  const list = (scope = PODS): { keys: string[]; looked: number } => {
    const snapshot = arena.snapshot()
    const keys: string[] = []
    let looked = 0
    indexes.scan(arena, snapshot, { field: 'spec.nodeName', value: 'node-7' }, scope, (record) => {
      looked++
      if (record.fields.get('spec.nodeName') === 'node-7') keys.push(record.key)
      return undefined
    })
    snapshot.release()
    return { keys, looked }
  }
  const first = list()
  t.equal(first.looked, OBJECTS, 'the first reads everything')
  t.equal(first.keys.length, 10)
  let last = list()
  for (let i = 0; i < 5; i++) last = list()
  t.equal(last.looked, 10)
  t.same(last.keys, first.keys, 'the same, in the same order')
  put('p7', 'elsewhere')
  put('new', 'node-7')
  t.same(
    list().keys,
    ['/registry/pods/default/new', ...first.keys.filter((key) => !key.endsWith('/p7'))],
    'and follows what changes',
  )
  const one = '/registry/pods/default/p107'
  t.same(list({ startKey: one, endKey: `${one}\0` }), { keys: [one], looked: 1 })
})
