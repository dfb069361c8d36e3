import t from 'tap'
import { sampleStats } from '#keelson/storage/store/store-stats.js'
import { CountingKV } from '../../support/counting-kv.js'
import { FakeClock } from '../../support/fake-clock.js'
import { MemoryKV } from '../../support/memory-kv.js'

async function withValues(count: number, bytes: number): Promise<CountingKV> {
  const memory = new MemoryKV(new FakeClock())
  for (let i = 0; i < count; i++)
    await memory.optimisticPut(`/registry/pods/${String(i).padStart(4, '0')}`, Buffer.alloc(bytes), 0)
  await memory.optimisticPut('/registry/podsecrets/a', Buffer.alloc(1_000_000), 0)
  return new CountingKV(memory)
}

t.test('nothing has no size', async (t) => {
  t.same(await sampleStats(await withValues(0, 0), '/registry/pods/'), {
    objectCount: 0,
    estimatedAverageObjectSizeBytes: 0,
  })
})

t.test('the count is exact, the size a mean', async (t) => {
  const kv = await withValues(40, 101)
  await kv.optimisticPut('/registry/pods/0000x', Buffer.alloc(101 + 41), 0)
  t.same(await sampleStats(kv, '/registry/pods/'), { objectCount: 41, estimatedAverageObjectSizeBytes: 102 })
})

t.test('a sample is bounded in objects and in bytes', async (t) => {
  const many = await withValues(700, 10)
  t.same(await sampleStats(many, '/registry/pods/'), { objectCount: 700, estimatedAverageObjectSizeBytes: 10 })
  t.equal(many.reads.lists.length, 512 / 32)
  const large = await withValues(200, 40_000)
  t.equal((await sampleStats(large, '/registry/pods/')).objectCount, 200)
  t.equal(large.reads.lists.length, 1, 'a megabyte is enough')
})
