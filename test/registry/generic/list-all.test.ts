import t from 'tap'
import { listAll } from '#keelson/registry/generic/list-all.js'
import { noValidation, Things, thing } from '../../support/things.js'

t.test('everything of a resource, or of a namespace', async (t) => {
  const things = new Things()
  await things.create('a')
  await things.store.create(things.context({ namespace: 'other' }), thing('b'), noValidation)
  const names = async (root: string) =>
    (await listAll(things.storage, root, { newest: true })).map(({ metadata }) => metadata?.name)
  t.same(await names('/things/'), ['a', 'b'])
  t.same(await names('/things/other/'), ['b'])
  t.same(await names('/things/nowhere/'), [])
})

t.test('the newest is asked for as such, whatever is at hand otherwise', async (t) => {
  const { storage } = new Things()
  const asked: unknown[] = []
  const plain = storage.getList.bind(storage)
  t.intercept(storage, 'getList', {
    value: (...args: Parameters<typeof plain>) => {
      asked.push(args[1].resourceVersion)
      return plain(...args)
    },
  })
  await listAll(storage, '/things/', { newest: true })
  await listAll(storage, '/things/', { newest: false })
  t.same(asked, ['', '0'])
})
