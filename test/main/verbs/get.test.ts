import t from 'tap'
import type { ResourceView } from '#keelson/cacher/read/resource-view.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import { getObject } from '#keelson/main/verbs/get.js'
import type { ReadContext, ReadRequest } from '#keelson/main/verbs/read-context.js'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { FakePort, requestHead } from '../http/fake-port.js'

const request = { query: new URLSearchParams() } as ReadRequest
const viewOf = (fence: true | Promise<boolean>, arena: object): ResourceView =>
  ({ fence: { pass: () => fence }, arena: () => ({ ready: () => true, ...arena }) }) as unknown as ResourceView
const failing = (failure: Error) => ({
  snapshot: () => {
    throw failure
  },
})

function context(): { context: ReadContext; asked: ReadRequest[] } {
  const asked: ReadRequest[] = []
  const answerFromPool = async (one: ReadRequest): Promise<void> => void asked.push(one)
  return { context: { answerFromPool } as unknown as ReadContext, asked }
}

t.test('memory that goes between two looks at it: the storage answers', async (t) => {
  for (const fence of [true, Promise.resolve(true)] as const) {
    const { context: reads, asked } = context()
    await getObject(request, viewOf(fence, failing(new StorageError('not-ready', 'gone'))), reads, undefined)
    t.same(asked, [request])
  }
})

t.test('any other failure is one', async (t) => {
  const { context: reads, asked } = context()
  await t.rejects(getObject(request, viewOf(Promise.resolve(true), failing(new Error('broken'))), reads, undefined)!, {
    message: 'broken',
  })
  t.same(asked, [])
})

t.test('what cannot be converted here is answered by the pool, which knows why', async (t) => {
  const { context: reads, asked } = context()
  const record = { key: 'k', modRevision: 1, body: () => new Uint8Array() }
  const memory = viewOf(true, { snapshot: () => ({ get: () => record, release: () => undefined }) })
  const converter = { convert: () => Promise.reject(new Error('not served any more')) }
  const converted = {
    ...request,
    info: { namespace: '', name: 'a' },
    resource: { key: () => 'k' },
  } as unknown as ReadRequest
  const form = { form: {}, contentType: '', isText: true } as unknown as Parameters<typeof getObject>[3]
  await getObject(converted, memory, { ...reads, converter } as unknown as ReadContext, form)
  t.same(asked, [converted])
})

t.test('an object that its client takes slowly stays itself while others are read', async (t) => {
  const { context: reads } = context()
  const get = (letter: string, bytes: number): FakePort => {
    const record = { key: 'k', modRevision: 1, body: () => Buffer.alloc(bytes, letter) }
    const memory = viewOf(true, { snapshot: () => ({ get: () => record, release: () => undefined }) })
    const port = new FakePort()
    port.room = 100
    const exchange = new Exchange(requestHead(), port)
    const info = { namespace: '', name: 'a' }
    const asked = { ...request, exchange, info, resource: { key: () => 'k' } } as unknown as ReadRequest
    void getObject(asked, memory, reads, undefined)
    return port
  }
  for (const bytes of [1000, 9000, 20_000, 60_000, 100_000]) {
    const slow = get('a', bytes)
    get('b', bytes)
    while (!slow.ended) slow.drain(5000)
    t.ok(slow.body === `${'a'.repeat(bytes)}\n`, `${bytes} bytes`)
  }
})
