import t from 'tap'
import type { StorageError } from '#keelson/storage/contract/errors.js'
import { equals, type ListFields, listOptions, makePod, nameOf } from '../../contract/pod.js'
import { openPods } from './pod-store.js'

t.test('a list whose later chunk fails fails as a whole', async (t) => {
  const { kv, store } = openPods()
  for (let i = 0; i < 4; i++) await store.create(`/pods/ns/${i}`, makePod(String(i), 'ns'))
  const none = { matches: () => false, empty: () => false, requiresExactMatch: () => undefined, toString: () => 'none' }
  const selective = listOptions({ limit: 1, label: none })
  let lists = 0
  kv.interfere = (call) => {
    if (call === 'list' && ++lists === 2) kv.failNext({ call: 'list', when: 'before' })
  }
  await t.rejects(store.getList('/pods/', selective), { code: 'unreachable' })
  t.equal(lists, 2)
})

t.test('a list that compaction overtakes between its chunks is too old', async (t) => {
  const { memory, kv, store } = openPods()
  for (let i = 0; i < 4; i++) await store.create(`/pods/ns/${i}`, makePod(String(i), 'ns'))
  const none = { matches: () => false, empty: () => false, requiresExactMatch: () => undefined, toString: () => 'none' }
  let lists = 0
  kv.interfere = async (call) => {
    if (call !== 'list' || ++lists !== 2) return
    await memory.optimisticPut('/registry/other', Buffer.from('x'), 0)
    await memory.compact(await memory.currentRevision())
  }
  await t.rejects(store.getList('/pods/', listOptions({ limit: 1, label: none })), { code: 'too-old' })
})

async function withPods(count: number) {
  const opened = openPods()
  for (let i = 0; i < count; i++)
    await opened.store.create(`/pods/ns/${i}`, makePod(String(i), 'ns', { labels: { odd: String(i % 2 === 1) } }))
  const pages = async (fields: ListFields) => {
    const found: string[] = []
    let continueToken = ''
    do {
      const page = await opened.store.getList('/pods/', listOptions({ ...fields, continueToken }))
      found.push(page.items.map(nameOf).join(''))
      continueToken = page.continueToken
    } while (continueToken !== '')
    return found
  }
  return { ...opened, pages }
}

t.test('pages are as large as the limit, whatever the selector refuses', async (t) => {
  const { pages } = await withPods(7)
  t.same(await pages({ limit: 3 }), ['012', '345', '6'])
  t.same(await pages({ limit: 2, label: equals('odd', 'true') }), ['13', '5'])
  t.same(await pages({ limit: 0 }), ['0123456'])
})

t.test('how many are left is known without selectors only', async (t) => {
  const { store } = await withPods(5)
  t.equal((await store.getList('/pods/', listOptions({ limit: 2 }))).remainingItemCount, 3)
  t.equal(
    (await store.getList('/pods/', listOptions({ limit: 2, label: equals('odd', 'false') }))).remainingItemCount,
    undefined,
  )
  t.equal((await store.getList('/pods/', listOptions())).remainingItemCount, undefined)
})

t.test('chunks grow while a selector refuses', async (t) => {
  const { kv, store } = await withPods(40)
  kv.calls.length = 0
  const { items } = await store.getList('/pods/', listOptions({ limit: 1, label: equals('odd', 'never') }))
  t.equal(items.length, 0)
  t.same(kv.calls.length, 6, '1, 2, 4, 8, 16 and the rest')
})

t.test('the pages of a list are of one state', async (t) => {
  const { store } = await withPods(4)
  const first = await store.getList('/pods/', listOptions({ limit: 2 }))
  await store.delete('/pods/ns/3')
  await store.create('/pods/ns/9', makePod('9', 'ns'))
  const { continueToken } = first
  const second = await store.getList('/pods/', listOptions({ limit: 2, continueToken }))
  t.same(second.items.map(nameOf), ['2', '3'])
  t.equal(second.resourceVersion, first.resourceVersion)
})

t.test('a token whose state is gone is exchanged for one that goes on', async (t) => {
  const { memory, store } = await withPods(4)
  const { continueToken } = await store.getList('/pods/', listOptions({ limit: 2 }))
  await store.create('/pods/ns/9', makePod('9', 'ns'))
  await memory.compact(await memory.currentRevision())
  const expired = await store
    .getList('/pods/', listOptions({ limit: 2, continueToken }))
    .catch((error: StorageError) => error)
  t.match(expired, { code: 'too-old', fields: { continueToken: /./ } })
  const next = (expired as StorageError).fields.continueToken!
  const page = await store.getList('/pods/', listOptions({ limit: 9, continueToken: next }))
  t.same(page.items.map(nameOf), ['2', '3', '9'])
})

t.test('a list of one object, now and then', async (t) => {
  const { store, memory } = await withPods(2)
  const then = await memory.currentRevision()
  await store.delete('/pods/ns/1')
  const single = (key: string, fields: ListFields = {}) =>
    store.getList(key, listOptions({ recursive: false, ...fields }))
  const exact = { resourceVersion: String(then), resourceVersionMatch: 'Exact' } as const
  t.same((await single('/pods/ns/0')).items.map(nameOf), ['0'])
  t.same((await single('/pods/ns/1')).items, [])
  const past = await single('/pods/ns/1', exact)
  t.same(past.items.map(nameOf), ['1'])
  t.equal(past.resourceVersion, then)
  t.same((await single('/pods/ns/0', { label: equals('odd', 'true') })).items, [])
})

t.test('a version that is not there yet is too large, one that is gone too old', async (t) => {
  const { memory, store } = await withPods(3)
  const at = (resourceVersion: string, resourceVersionMatch: '' | 'Exact' | 'NotOlderThan') =>
    store.getList('/pods/', listOptions({ resourceVersion, resourceVersionMatch }))
  await t.rejects(at('1000', 'NotOlderThan'), { code: 'too-large' })
  await t.rejects(at('1000', 'Exact'), { code: 'too-large' })
  await memory.compact(await memory.currentRevision())
  await t.rejects(at('2', 'Exact'), { code: 'too-old' })
  t.equal((await at('2', 'NotOlderThan')).items.length, 3)
})

t.test('an object that cannot be read fails the list', async (t) => {
  const { memory, store } = await withPods(3)
  const { kv } = await memory.get('/registry/pods/ns/1')
  await memory.optimisticPut(kv!.key, Buffer.from('broken'), kv!.modRevision)
  await t.rejects(store.getList('/pods/', listOptions()), {
    code: 'corrupt-object',
    fields: { key: '/registry/pods/ns/1' },
  })
})
