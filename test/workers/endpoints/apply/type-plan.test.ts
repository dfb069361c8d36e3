import t from 'tap'
import { listPlanOf, planOf } from '#keelson/workers/endpoints/apply/type-plan.js'
import { keyedList, scalar, struct } from '../patch/schemas.js'

t.test('fields in the order of FieldsV1, by name and by element; made once a type', async (t) => {
  const type = struct('T', { b: scalar(), a: scalar('int32'), é: scalar() })
  const plan = planOf(type)
  t.same(
    [...plan.byName.values()].map(({ name, rank, element }) => [name, rank, element]),
    [
      ['a', 0, 'f:a'],
      ['b', 1, 'f:b'],
      ['é', 2, 'f:é'],
    ],
  )
  t.equal(plan.byElement.get('f:a'), plan.byName.get('a'))
  t.equal(plan.byName.get('a')?.type.kind, 'int32')
  t.equal(planOf(type), plan)
})

t.test('the keys of items in the order of elements, with what stands for one that is not given', async (t) => {
  const item = struct('I', { port: scalar('int32'), protocol: { type: scalar(), default: 'TCP' } })
  const list = keyedList(item, ['protocol', 'port'])
  t.same(listPlanOf(list), [
    { name: 'port', label: '"port":', zero: undefined },
    { name: 'protocol', label: '"protocol":', zero: 'TCP' },
  ])
  t.equal(listPlanOf(list), listPlanOf(list))
  t.match(listPlanOf(keyedList(scalar('any'), ['x'])), [{ name: 'x', zero: undefined }])
})
