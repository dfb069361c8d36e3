import t from 'tap'
import { KeptSwagger } from '#keelson/main/paths/kept-swagger.js'
import type { SwaggerSource } from '#keelson/protocol/main-pool.js'

const answer = (etag: string, body: Buffer, index?: string) => ({
  status: 200,
  contentType: 'application/json',
  warnings: [],
  headers: ['ETag', etag],
  body,
  ...(index === undefined ? {} : { index }),
})

function open(size = 10) {
  const state = { index: 'i1', made: 0, others: [] as SwaggerSource[] }
  const pool = {
    run: async (_type: string, { path }: { path: string }) => {
      const { index } = state
      await Promise.resolve()
      if (path === '/openapi/v3') return answer(index, Buffer.alloc(0))
      state.made++
      return answer(`d${state.made}`, Buffer.alloc(size), index)
    },
  }
  return { state, kept: new KeptSwagger(pool as never, async () => state.others) }
}

t.test('the document is made once for each form and each set of sources, however many ask at once', async (t) => {
  const { state, kept } = open()
  await Promise.all(Array.from({ length: 100 }, () => kept.document('json')))
  t.equal(state.made, 1)
  await kept.document('json')
  t.equal(state.made, 1)
  await kept.document('protobuf')
  t.equal(state.made, 2)
  state.index = 'i2'
  await kept.document('json')
  t.equal(state.made, 3, 'a definition came')
  state.others = [{ etag: 'o1', prefixes: ['/apis/a/v1/'], body: Buffer.alloc(1) }]
  await kept.document('json')
  await kept.document('json')
  t.equal(state.made, 4, 'another server came')
  state.others = [{ etag: 'o2', prefixes: ['/apis/a/v1/'], body: Buffer.alloc(1) }]
  await kept.document('json')
  t.equal(state.made, 5, 'its document changed')
})

t.test('a document that is too long is not kept, but those who ask together share it', async (t) => {
  const { state, kept } = open(17 * 1024 * 1024)
  await Promise.all([kept.document('json'), kept.document('json')])
  t.equal(state.made, 1)
  await kept.document('json')
  t.equal(state.made, 2)
})
