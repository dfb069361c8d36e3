import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { systemClock } from '#keelson/lib/clock.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { decodeEncryptedObject, encodeEncryptedObject } from '#keelson/storage/transformers/kms/encrypted-object.js'
import { EnvelopeTransformer } from '#keelson/storage/transformers/kms/envelope.js'
import { KmsProvider } from '#keelson/storage/transformers/kms/kms-provider.js'
import { GrpcKmsService } from '#keelson/storage/transformers/kms/kms-service.js'
import { FakeClock } from '../../../support/fake-clock.js'
import { until } from '../../../support/until.js'
import { field, KmsPlugin, parseMessage } from './kms-plugin.js'

const KEY = '/registry/secrets/default/a'
const plain = Buffer.from('{"kind":"Secret"}')
const NO_DEADLINE_MS = 600_000

interface Rig {
  plugin: KmsPlugin
  clock: FakeClock
  provider: KmsProvider
  transformer: EnvelopeTransformer
  another(): Promise<EnvelopeTransformer>
}

/** A plugin, and providers that speak to it over its socket in real time while their own clock stands still. */
async function rig(t: Test, start = true): Promise<Rig> {
  const plugin = new KmsPlugin()
  await plugin.start()
  t.teardown(() => plugin.remove())
  const clock = new FakeClock()
  const open = (): [KmsProvider, EnvelopeTransformer] => {
    const service = new GrpcKmsService({ endpoint: plugin.endpoint, timeoutMs: NO_DEADLINE_MS, clock: systemClock })
    const provider = new KmsProvider({ name: 'test', service, clock, logger: nullLogger })
    t.teardown(() => provider.stop())
    return [provider, new EnvelopeTransformer({ service, currentState: () => provider.currentState(), clock })]
  }
  const [provider, transformer] = open()
  if (start) await provider.start()
  const another = async (): Promise<EnvelopeTransformer> => {
    const [p, other] = open()
    await p.start()
    return other
  }
  return { plugin, clock, provider, transformer, another }
}

/** Lets the clock move and the poll that it starts come back over the socket. */
async function poll({ clock, provider, plugin }: Rig, ms: number): Promise<void> {
  const before = plugin.calls.length
  await clock.advance(ms)
  await until(() => plugin.calls.length > before, { what: 'the poll to reach the plugin' })
  await provider.check().catch(() => undefined)
}

t.test(
  'writes what Kubernetes writes: the object, its seed under the plugin key, the data under a derived key',
  async (t) => {
    const { plugin, transformer } = await rig(t)
    t.same(plugin.calls, ['Status', 'Encrypt'])
    const stored = parseMessage(Buffer.from(await transformer.transformToStorage(plain, KEY)))
    t.same([...stored.keys()], [1, 2, 3, 4, 5], 'fields in ascending order')
    t.equal(stored.get(2)![0]!.toString(), 'key-1')
    t.equal(stored.get(5)![0]![0], 1, 'HKDF_SHA256_XNONCE_AES_GCM_SEED')
    t.equal(parseMessage(stored.get(4)![0]!).get(1)![0]!.toString(), plugin.annotationKey)
    // Open it with nothing but the plugin and node:crypto.
    const service = new GrpcKmsService({ endpoint: plugin.endpoint, timeoutMs: NO_DEADLINE_MS, clock: systemClock })
    t.teardown(() => service.close())
    const annotation = parseMessage(stored.get(4)![0]!)
    const seed = await service.decrypt('u', {
      ciphertext: stored.get(3)![0]!,
      keyId: 'key-1',
      annotations: new Map([[plugin.annotationKey, annotation.get(2)![0]!]]),
    })
    const data = stored.get(1)![0]!
    const key = createHmac('sha256', seed).update(data.subarray(0, 32)).update(Buffer.of(1)).digest()
    const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(32, 44))
    decipher.setAAD(Buffer.from(KEY)).setAuthTag(data.subarray(-16))
    t.equal(Buffer.concat([decipher.update(data.subarray(44, -16)), decipher.final()]).toString(), plain.toString())
  },
)

t.test('reads and writes with a known data key ask the plugin nothing and are synchronous', async (t) => {
  const { plugin, transformer } = await rig(t)
  const stored = transformer.transformToStorage(plain, KEY) as Uint8Array
  plugin.calls.length = 0
  t.same(transformer.transformFromStorage(stored, KEY), { data: plain, stale: false })
  t.same(plugin.calls, [])
  t.throws(() => transformer.transformFromStorage(stored, `${KEY}x`), { code: 'authentication' })
})

t.test('another process asks for an unknown data key once, however many objects it opens at a time', async (t) => {
  const { plugin, transformer, another } = await rig(t)
  const stored = await transformer.transformToStorage(plain, KEY)
  const other = await another()
  plugin.calls.length = 0
  const reads = await Promise.all(Array.from({ length: 20 }, () => other.transformFromStorage(stored, KEY)))
  t.ok(reads.every((r) => Buffer.from(r.data).equals(plain) && !r.stale))
  t.same(plugin.calls, ['Decrypt'])
  t.notOk(other.transformFromStorage(stored, KEY) instanceof Promise)
})

t.test('a new key ID makes a new data key, and what the old one wrote is stale', async (t) => {
  const r = await rig(t)
  const old = await r.transformer.transformToStorage(plain, KEY)
  r.plugin.keyId = 'key-2'
  r.plugin.calls.length = 0
  await poll(r, 60_000)
  t.same(r.plugin.calls, ['Status', 'Encrypt'])
  t.same(await r.transformer.transformFromStorage(old, KEY), { data: plain, stale: true })
  const fresh = await r.transformer.transformToStorage(plain, KEY)
  t.equal(decodeEncryptedObject(fresh).keyId, 'key-2')
  t.same(await r.transformer.transformFromStorage(fresh, KEY), { data: plain, stale: false })
  r.plugin.calls.length = 0
  await poll(r, 60_000)
  t.same(r.plugin.calls, ['Status'], 'the same key ID keeps the data key')
})

t.test('data under a bare AES-GCM key, as older Kubernetes wrote it, reads and is stale', async (t) => {
  const { plugin, transformer } = await rig(t)
  const service = new GrpcKmsService({ endpoint: plugin.endpoint, timeoutMs: NO_DEADLINE_MS, clock: systemClock })
  t.teardown(() => service.close())
  const key = randomBytes(32)
  const { ciphertext, keyId, annotations } = await service.encrypt('u', key)
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(KEY))
  const encryptedData = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  const stored = encodeEncryptedObject({ keyId, encryptedDekSource: ciphertext, annotations, type: 0, encryptedData })
  t.same(await transformer.transformFromStorage(stored, KEY), { data: plain, stale: true })
})

t.test('without the plugin writes coast for three minutes, reads for ever, and all recovers', async (t) => {
  const r = await rig(t)
  const stored = await r.transformer.transformToStorage(plain, KEY)
  r.plugin.failWith = 14
  await poll(r, 60_000)
  await t.rejects(r.provider.check(), { code: 'kms', message: /Status: gRPC status 14: not today: 100%/ })
  t.ok(await r.transformer.transformToStorage(plain, KEY))
  for (let i = 0; i < 13; i++) await poll(r, 10_000)
  t.throws(() => r.transformer.transformToStorage(plain, KEY), { code: 'kms', message: /expired/ })
  t.same(await r.transformer.transformFromStorage(stored, KEY), { data: plain, stale: false })
  r.plugin.failWith = undefined
  await poll(r, 10_000)
  await r.provider.check()
  t.ok(await r.transformer.transformToStorage(plain, KEY))
})

t.test('a plugin that comes up later is found; until then nothing reads or writes', async (t) => {
  const r = await rig(t, false)
  r.plugin.failWith = 14
  await r.provider.start()
  t.throws(() => r.transformer.transformToStorage(plain, KEY), { code: 'kms', message: /no data key yet/ })
  r.plugin.failWith = undefined
  await poll(r, 10_000)
  t.ok(await r.transformer.transformToStorage(plain, KEY))
})

t.test('health checks are answered from the last status for a while', async (t) => {
  const r = await rig(t)
  r.plugin.calls.length = 0
  await Promise.all([r.provider.check(), r.provider.check()])
  t.same(r.plugin.calls, [])
  await r.clock.advance(20_000)
  await Promise.all([r.provider.check(), r.provider.check(), r.provider.check()])
  t.same(r.plugin.calls, ['Status'])
})

type Change = Partial<Pick<KmsPlugin, 'healthz' | 'version' | 'keyId' | 'encryptKeyId' | 'annotationKey'>>
const unwell: [string, Change, RegExp][] = [
  ['an unhealthy healthz', { healthz: 'disk on fire' }, /disk on fire/],
  ['another API version', { version: 'v3' }, /API version is "v3"/],
  ['a changed API version', { version: 'v2beta1' }, /changed from v2 to v2beta1/],
  ['an empty key ID', { keyId: '' }, /key ID is empty/],
  ['a key ID over 1 kB', { keyId: 'k'.repeat(1025) }, /1025 bytes/],
  ['Status and Encrypt that disagree', { keyId: 'b', encryptKeyId: 'c' }, /encrypts with/],
  ['an annotation key that is no domain', { keyId: 'b', annotationKey: 'nope' }, /"nope"/],
]
for (const [what, change, message] of unwell) {
  t.test(`${what} is reported, and the last data key goes on writing`, async (t) => {
    const r = await rig(t)
    Object.assign(r.plugin, change)
    await poll(r, 60_000)
    await t.rejects(r.provider.check(), { code: 'kms', message })
    t.equal(decodeEncryptedObject(await r.transformer.transformToStorage(plain, KEY)).keyId, 'key-1')
  })
}

t.test('a plugin that restarts is found again by the next call', async (t) => {
  const plugin = new KmsPlugin()
  t.teardown(() => plugin.remove())
  const service = new GrpcKmsService({ endpoint: plugin.endpoint, timeoutMs: NO_DEADLINE_MS, clock: systemClock })
  t.teardown(() => service.close())
  const early = service.status()
  await plugin.start()
  t.equal((await early).keyId, 'key-1', 'a call waits for the plugin to come up')
  await plugin.stop()
  await plugin.start()
  t.equal((await service.status()).healthz, 'ok')
})

t.test('a call that is not answered fails at its deadline, and close() ends those under way', async (t) => {
  const plugin = new KmsPlugin()
  await plugin.start()
  t.teardown(() => plugin.remove())
  plugin.mute = true
  const clock = new FakeClock()
  const service = new GrpcKmsService({ endpoint: plugin.endpoint, timeoutMs: 3000, clock })
  const call = service.status()
  await until(() => plugin.calls.length > 0, { what: 'the call to reach the plugin' })
  const refused = t.rejects(call, { code: 'kms', message: /gRPC status 4: no answer within 3000 ms/ })
  await clock.advance(3000)
  await refused
  const cut = service.status()
  await until(() => plugin.calls.length > 1, { what: 'the second call to reach the plugin' })
  const ended = t.rejects(cut, { code: 'kms' })
  service.close()
  await ended
  await t.rejects(service.status(), { message: /closed/ })
})

t.test('an abstract socket works where there are such', { skip: process.platform !== 'linux' }, async (t) => {
  const plugin = new KmsPlugin(`\0keelson-kms-test-${process.pid}`)
  await plugin.start()
  t.teardown(() => plugin.remove())
  const service = new GrpcKmsService({ endpoint: plugin.endpoint, timeoutMs: NO_DEADLINE_MS, clock: systemClock })
  t.teardown(() => service.close())
  t.equal((await service.status()).version, 'v2')
})

t.test('stored bytes that are not an encrypted object are refused', async (t) => {
  const good = [field(1, 'data'), field(2, 'key'), field(3, 'dek')]
  t.equal(decodeEncryptedObject(Buffer.concat(good)).type, 0)
  t.equal(
    decodeEncryptedObject(Buffer.concat([...good, field(9, 'unknown')])).keyId,
    'key',
    'unknown fields are skipped',
  )
  const bad: [string, Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['no data', Buffer.concat(good.slice(1))],
    ['no key ID', Buffer.concat([good[0]!, good[2]!])],
    ['no DEK source', Buffer.concat(good.slice(0, 2))],
    ['a DEK source over 1 kB', Buffer.concat([...good, field(3, 'd'.repeat(1025))])],
    ['an unknown type', Buffer.concat([...good, Buffer.of(5 << 3, 7)])],
    ['an annotation without a domain', Buffer.concat([...good, field(4, field(1, 'x'))])],
    ['a key ID that is not UTF-8', Buffer.concat([...good, field(2, Buffer.of(0xff))])],
    ['a field number 0', Buffer.concat([...good, Buffer.of(0, 0)])],
    ['a group', Buffer.concat([...good, Buffer.of((1 << 3) | 3)])],
    ['an endless number', Buffer.concat([...good, Buffer.alloc(11, 0xff)])],
    ['cut short', Buffer.concat(good).subarray(0, -1)],
  ]
  for (const [what, bytes] of bad) t.throws(() => decodeEncryptedObject(bytes), { code: 'malformed' }, what)
})
