import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Transformer } from '#keelson/storage/contract/transformer.js'
import { AesGcmTransformer } from '#keelson/storage/transformers/aes-gcm.js'
import { encryptCheckTransformer } from '#keelson/storage/transformers/encrypt-check.js'
import { PrefixTransformers } from '#keelson/storage/transformers/prefix-transformers.js'

const KEY = '/registry/secrets/default/a'
const AESGCM = 'k8s:enc:aesgcm:v1:'
const key1 = new AesGcmTransformer(randomBytes(32))
const key2 = new AesGcmTransformer(randomBytes(32))
const plain = Buffer.from('{"kind":"Secret"}')
const identity = { prefix: '', transformer: encryptCheckTransformer }

/** A provider with named keys, as the configuration makes it. */
function provider(...keys: [string, Transformer][]) {
  const inner = new PrefixTransformers(
    keys.map(([name, transformer]) => ({ prefix: `${name}:`, transformer })),
    'no such key',
  )
  return { prefix: AESGCM, transformer: inner }
}

const set = (...providers: { prefix: string; transformer: Transformer }[]) =>
  new PrefixTransformers(providers, 'no matching prefix found')

/** The same, but never synchronous. */
const slow = (transformer: Transformer): Transformer => ({
  transformFromStorage: async (data, key) => transformer.transformFromStorage(data, key),
  transformToStorage: async (data, key) => transformer.transformToStorage(data, key),
})

t.test('the first provider and its first key write, with both names before the data', async (t) => {
  const stored = await set(provider(['k2', key2], ['k1', key1]), identity).transformToStorage(plain, KEY)
  t.match(Buffer.from(stored).toString('latin1'), /^k8s:enc:aesgcm:v1:k2:/)
  t.equal(set(identity, provider(['k1', key1])).transformToStorage(plain, KEY), plain)
})

t.test('only what the first key of the first provider wrote is fresh', async (t) => {
  const byKey1 = await set(provider(['k1', key1])).transformToStorage(plain, KEY)
  const read = (...providers: Parameters<typeof set>) => set(...providers).transformFromStorage(byKey1, KEY)
  t.same(await read(provider(['k1', key1])), { data: plain, stale: false })
  t.same(await read(provider(['k2', key2], ['k1', key1])), { data: plain, stale: true })
  t.same(await read(provider(['k2', key2]), provider(['k1', key1])), { data: plain, stale: true })
  t.same(await read(identity, provider(['k1', key1])), { data: plain, stale: true })
  t.same(await set(provider(['k1', key1]), identity).transformFromStorage(plain, KEY), { data: plain, stale: true })
  t.same(await set(identity).transformFromStorage(plain, KEY), { data: plain, stale: false })
})

t.test('two blocks that use one key name for two keys are both tried', async (t) => {
  const old = await set(provider(['k', key1])).transformToStorage(plain, KEY)
  for (const wrap of [(x: Transformer) => x, slow]) {
    const both = set(provider(['k', wrap(key2)]), provider(['k', wrap(key1)]))
    t.same(await both.transformFromStorage(old, KEY), { data: plain, stale: true })
  }
})

t.test('without a match the set says so; with a failed match it gives the failure', async (t) => {
  const stored = await set(provider(['k1', key1])).transformToStorage(plain, KEY)
  t.throws(() => set(identity).transformFromStorage(stored, KEY), { message: 'no matching prefix found' })
  t.throws(() => set(provider(['k2', key2])).transformFromStorage(stored, KEY), { message: 'no such key' })
  t.throws(() => set(provider(['k1', key2]), identity).transformFromStorage(stored, KEY), { code: 'authentication' })
  t.throws(() => set(provider(['k1', key1])).transformFromStorage(plain, KEY), { code: 'no-match' })
  const twice = set(provider(['k1', key2]), provider(['k0', key2]))
  t.throws(() => twice.transformFromStorage(stored, KEY), { message: /authentication.*; no such key/ })
  await t.rejects(Promise.resolve(set(provider(['k1', slow(key2)]), identity).transformFromStorage(stored, KEY)), {
    code: 'authentication',
  })
})

t.test('a failure that is not about the data is not swallowed', async (t) => {
  const broken: Transformer = {
    transformFromStorage: () => {
      throw new RangeError('a bug')
    },
    transformToStorage: (data) => data,
  }
  const stored = await set({ prefix: 'x:', transformer: broken }).transformToStorage(plain, KEY)
  t.throws(() => set({ prefix: 'x:', transformer: broken }, identity).transformFromStorage(stored, KEY), RangeError)
})
