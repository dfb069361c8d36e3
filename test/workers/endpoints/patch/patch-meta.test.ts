import t from 'tap'
import { metaForList, metaForObject } from '#keelson/workers/endpoints/patch/patch-meta.js'
import { atomicList, keyedList, map, scalar, setList, struct } from './schemas.js'

const item = struct('Item', { name: scalar() })
const type = struct('T', {
  merged: struct('M', {}),
  replaced: { type: struct('R', {}), patchStrategies: ['replace'] },
  both: { type: struct('B', {}), patchStrategies: ['replace', 'retainKeys'] },
  keyed: keyedList(item, ['name']),
  set: setList(scalar()),
  atomic: atomicList(scalar()),
  tagged: { type: atomicList(scalar()), patchStrategies: ['merge'] },
})

t.test('objects merge unless their field says otherwise', async (t) => {
  t.equal(metaForObject(type, 'merged').strategy, 'merge')
  t.equal(metaForObject(type, 'replaced').strategy, 'replace')
  t.equal(metaForObject(type, 'both').strategy, 'replace')
  t.equal(metaForObject(map(item), 'any key').type, item)
})

t.test('lists are replaced unless their field says otherwise', async (t) => {
  t.match(metaForList(type, 'keyed'), { strategy: 'merge', mergeKey: 'name', type: item })
  t.match(metaForList(type, 'set'), { strategy: 'merge', mergeKey: undefined })
  t.equal(metaForList(type, 'atomic').strategy, 'replace')
  t.equal(metaForList(type, 'tagged').strategy, 'merge')
  t.equal(metaForList(type, 'merged').strategy, 'replace', 'a list where the type has none')
})

t.test('a field that the type does not have cannot be merged; an open type has every field', async (t) => {
  t.throws(() => metaForObject(type, 'unknown'), { code: 'PatchInternal' })
  t.throws(() => metaForList(type, 'constructor'), { code: 'PatchInternal' })
  t.match(metaForObject({ ...type, preserveUnknown: true }, 'unknown'), { strategy: 'merge', type: { kind: 'any' } })
  t.match(metaForList(scalar('any'), 'x'), { strategy: 'replace' })
})
