import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { systemClock } from '#keelson/lib/clock.js'
import type { Transformer } from '#keelson/storage/contract/transformer.js'
import type { KVStore } from '#keelson/storage/store/kv-store.js'
import { AesGcmTransformer } from '#keelson/storage/transformers/aes-gcm.js'
import { encryptCheckTransformer } from '#keelson/storage/transformers/encrypt-check.js'
import { PrefixTransformers } from '#keelson/storage/transformers/prefix-transformers.js'
import { openJsonStore } from '../../support/json-store.js'
import { MemoryKV } from '../../support/memory-kv.js'

const KEY = '/secrets/default/a'
const STORED_KEY = `/registry${KEY}`
const identity = { prefix: '', transformer: encryptCheckTransformer }
const aesgcm = (name: string, key: Transformer) => ({ prefix: `k8s:enc:aesgcm:v1:${name}:`, transformer: key })
const one = new AesGcmTransformer(randomBytes(32))
const two = new AesGcmTransformer(randomBytes(32))

/** A server that was started with these providers. */
function storeWith(kv: MemoryKV, ...providers: { prefix: string; transformer: Transformer }[]): KVStore<KubeObject> {
  return openJsonStore(kv, '/secrets', {
    transformer: new PrefixTransformers(providers, 'no matching prefix found'),
  })
}

async function stored(kv: MemoryKV, key = STORED_KEY): Promise<string> {
  return Buffer.from((await kv.get(key)).kv!.value).toString('latin1')
}
const unchanged = (store: KVStore<KubeObject>) => store.guaranteedUpdate(KEY, (object) => ({ object }))

t.test('an update with no change rewrites what an older key wrote, and only that', async (t) => {
  const kv = new MemoryKV(systemClock)
  await storeWith(kv, identity).create(KEY, { metadata: { name: 'a' }, data: { password: 'hunter2' } })
  t.match(await stored(kv), 'hunter2')

  const encrypting = storeWith(kv, aesgcm('one', one), identity)
  t.match(await encrypting.get(KEY), { data: { password: 'hunter2' } }, 'plain text reads until it is rewritten')
  await unchanged(encrypting)
  t.match(await stored(kv), /^k8s:enc:aesgcm:v1:one:/)
  t.notMatch(await stored(kv), 'hunter2')

  const rotated = storeWith(kv, aesgcm('two', two), aesgcm('one', one))
  await unchanged(rotated)
  const written = await stored(kv)
  t.match(written, /^k8s:enc:aesgcm:v1:two:/)
  await unchanged(rotated)
  t.equal(await stored(kv), written, 'what the newest key wrote stays as it is')

  const decrypting = storeWith(kv, identity, aesgcm('two', two))
  await unchanged(decrypting)
  t.match(await stored(kv), 'hunter2')
})

t.test('a ciphertext that was moved, or whose key is gone, is a corrupt object', async (t) => {
  const kv = new MemoryKV(systemClock)
  const store = storeWith(kv, aesgcm('one', one))
  await store.create(KEY, { metadata: { name: 'a' } })
  const { value } = (await kv.get(STORED_KEY)).kv!
  await kv.optimisticPut(`${STORED_KEY}-copy`, value, 0)
  await t.rejects(store.get(`${KEY}-copy`), { code: 'corrupt-object' })
  t.ok(await store.get(KEY))
  await t.rejects(storeWith(kv, aesgcm('two', two)).get(KEY), { code: 'corrupt-object' })
  await t.rejects(storeWith(kv, identity).get(KEY), { code: 'corrupt-object' })
})
