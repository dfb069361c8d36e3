import t from 'tap'
import { BegunWrite } from '#keelson/registry/generic/begun-write.js'
import { StorageError } from '#keelson/storage/contract/errors.js'

function begun() {
  const finished: boolean[] = []
  const write = new BegunWrite()
  const begin = () => write.begin(Promise.resolve((succeeded: boolean) => void finished.push(succeeded)))
  return { write, finished, begin }
}

t.test('what was taken is settled once', async (t) => {
  const { write, finished, begin } = begun()
  await write.settle(true)
  t.same(finished, [], 'nothing was taken yet')
  await begin()
  await write.settle(true)
  await write.settle(false)
  t.same(finished, [true])
})

t.test('a write that failed gives back; one of which nobody knows keeps', async (t) => {
  const known = begun()
  await known.begin()
  const refused = known.write.writing(Promise.reject(new StorageError('key-exists', 'x')))
  await t.rejects(refused, { code: 'key-exists' })
  await known.write.settle(false)
  t.same(known.finished, [false])
  const unknown = begun()
  await unknown.begin()
  await t.rejects(unknown.write.writing(Promise.reject(new StorageError('unreachable', 'x'))), { code: 'unreachable' })
  await unknown.write.settle(false)
  t.same(unknown.finished, [])
})

t.test('a hook that fails has taken nothing', async (t) => {
  const { write, finished } = begun()
  await t.rejects(write.begin(Promise.reject(new Error('no address left'))), { message: 'no address left' })
  await write.settle(false)
  t.same(finished, [])
})

t.test('the result of the write is passed on', async (t) => {
  t.equal(await new BegunWrite().writing(Promise.resolve(5)), 5)
})
