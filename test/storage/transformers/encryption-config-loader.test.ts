import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseGroupResource } from '#keelson/api/group-version.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { DynamicTransformers } from '#keelson/storage/transformers/dynamic-transformers.js'
import { type LoadedEncryption, loadEncryptionConfig } from '#keelson/storage/transformers/encryption-config-loader.js'
import { FakeClock } from '../../support/fake-clock.js'
import { until } from '../../support/until.js'
import { KmsPlugin } from './kms/kms-plugin.js'

const plain = Buffer.from('{"kind":"Secret"}')
const KEY = '/registry/secrets/default/a'
const secret = (fill: number): string => Buffer.alloc(32, fill).toString('base64')
const provider = (kind: string, name: string, fill: number) => ({ [kind]: { keys: [{ name, secret: secret(fill) }] } })
const identity = { identity: {} }
const kms = (plugin: KmsPlugin, name: string) => ({
  kms: { apiVersion: 'v2', name, endpoint: plugin.endpoint, timeout: '10m' },
})

type Block = [resources: string[], ...providers: object[]]
const configuration = (...blocks: Block[]): string =>
  JSON.stringify({
    kind: 'EncryptionConfiguration',
    apiVersion: 'apiserver.config.k8s.io/v1',
    resources: blocks.map(([resources, ...providers]) => ({ resources, providers })),
  })

async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'keelson-encryption-'))
  t.teardown(() => rm(path, { recursive: true }))
  return path
}

async function loaded(t: Test, ...blocks: Block[]): Promise<LoadedEncryption> {
  const filePath = join(await folder(t), 'config.json')
  await writeFile(filePath, configuration(...blocks))
  const encryption = await loadEncryptionConfig(filePath, { clock: new FakeClock(), logger: nullLogger })
  t.teardown(() => encryption.close())
  return encryption
}

/** What is before the ciphertext. */
async function prefixFor(encryption: Pick<LoadedEncryption, 'transformers'>, resource: string): Promise<string> {
  const transformer = encryption.transformers.transformerForResource(parseGroupResource(resource))
  const stored = Buffer.from(await transformer.transformToStorage(plain, KEY)).toString('latin1')
  return /^(k8s:enc:.*?:v\d:.*?:|\{)/.exec(stored)?.[0] ?? ''
}

t.test('every provider writes under its own prefix and key name', async (t) => {
  const plugin = new KmsPlugin()
  await plugin.start()
  t.teardown(() => plugin.remove())
  const encryption = await loaded(
    t,
    [['a'], provider('aesgcm', 'g', 1)],
    [['b'], provider('aescbc', 'c', 2)],
    [['c'], provider('secretbox', 's', 3)],
    [['d'], kms(plugin, 'mykms')],
    [['e'], identity],
  )
  const expected = {
    a: 'k8s:enc:aesgcm:v1:g:',
    b: 'k8s:enc:aescbc:v1:c:',
    c: 'k8s:enc:secretbox:v1:s:',
    d: 'k8s:enc:kms:v2:mykms:',
    e: '{',
    unnamed: '{',
  }
  for (const [resource, prefix] of Object.entries(expected)) {
    t.equal(await prefixFor(encryption, resource), prefix)
    const transformer = encryption.transformers.transformerForResource(parseGroupResource(resource))
    const stored = await transformer.transformToStorage(plain, KEY)
    t.same(await transformer.transformFromStorage(stored, KEY), { data: plain, stale: false }, resource)
  }
  await encryption.check()
  t.equal(encryption.closeGracePeriodMs, 2 * 600_000)
})

t.test('the rule of a resource comes before that of its group, and that before the rule for all', async (t) => {
  const encryption = await loaded(
    t,
    [['events'], identity],
    [['secrets', 'deployments.apps'], provider('aesgcm', 'own', 1)],
    [['*.apps', '*.'], provider('aesgcm', 'group', 2)],
    [['*.*'], provider('aesgcm', 'all', 3)],
  )
  const expected = {
    events: '{',
    secrets: 'k8s:enc:aesgcm:v1:own:',
    'deployments.apps': 'k8s:enc:aesgcm:v1:own:',
    'replicasets.apps': 'k8s:enc:aesgcm:v1:group:',
    pods: 'k8s:enc:aesgcm:v1:group:',
    'jobs.batch': 'k8s:enc:aesgcm:v1:all:',
    'pandas.awesome.bears.example': 'k8s:enc:aesgcm:v1:all:',
  }
  for (const [resource, prefix] of Object.entries(expected)) t.equal(await prefixFor(encryption, resource), prefix)
})

t.test('a resource in several lists has the providers of all, in order', async (t) => {
  const encryption = await loaded(t, [['secrets'], provider('aesgcm', 'new', 1)], [['secrets'], identity])
  const transformer = encryption.transformers.transformerForResource(parseGroupResource('secrets'))
  t.equal(await prefixFor(encryption, 'secrets'), 'k8s:enc:aesgcm:v1:new:')
  t.same(await transformer.transformFromStorage(plain, KEY), { data: plain, stale: true })
})

t.test('a rule that an earlier wildcard hides is refused', async (t) => {
  const own = provider('aesgcm', 'k', 1)
  const masked: [Block[], RegExp][] = [
    [
      [
        [['*.'], own],
        [['secrets'], own],
      ],
      /"secrets" is masked by the earlier rule "\*\."/,
    ],
    [
      [
        [['*.apps'], own],
        [['deployments.apps'], own],
      ],
      /"deployments.apps" is masked by the earlier rule "\*\.apps"/,
    ],
    [
      [
        [['*.*'], own],
        [['*.apps'], own],
      ],
      /"\*\.apps" is masked by the earlier rule "\*\.\*"/,
    ],
    [
      [
        [['*.*'], own],
        [['*.*'], own],
      ],
      /masked/,
    ],
    [
      [
        [['*.apps'], own],
        [['*.apps'], own],
      ],
      /masked/,
    ],
  ]
  for (const [blocks, message] of masked) await t.rejects(loaded(t, ...blocks), { code: 'encryption-config', message })
})

t.test('a file that is missing, empty or invalid is refused with the reason', async (t) => {
  const path = await folder(t)
  const load = (name: string) => loadEncryptionConfig(join(path, name), { clock: new FakeClock(), logger: nullLogger })
  await t.rejects(load('missing'), { code: 'encryption-config', message: /cannot be read: ENOENT/ })
  await writeFile(join(path, 'empty'), '')
  await t.rejects(load('empty'), { message: /is empty/ })
  await writeFile(join(path, 'invalid'), configuration([['*'], provider('aesgcm', '', 1)]))
  await t.rejects(load('invalid'), {
    message: /resources\[0\]\.resources\[0\]: Invalid value: "\*".*; .*keys\[0\]\.name: Required/,
  })
})

interface Reloading {
  readonly dynamic: DynamicTransformers
  readonly clock: FakeClock
  readonly reloaded: string[]
  readonly failed: Error[]
  write(...blocks: Block[]): Promise<void>
  writeText(text: string): Promise<void>
  /** Moves the clock and waits until something was reported. */
  settled(ms: number): Promise<void>
}

async function reloading(t: Test, ...blocks: Block[]): Promise<Reloading> {
  const filePath = join(await folder(t), 'config.json')
  const clock = new FakeClock()
  const writeText = (text: string) => writeFile(filePath, text)
  const write = (...next: Block[]) => writeText(configuration(...next))
  await write(...blocks)
  const initial = await loadEncryptionConfig(filePath, { clock, logger: nullLogger })
  const reloaded: string[] = []
  const failed: Error[] = []
  const recorder = { reloaded: (hash: string) => reloaded.push(hash), failed: (e: unknown) => failed.push(e as Error) }
  const dynamic = new DynamicTransformers({ filePath, initial, clock, logger: nullLogger, recorder, random: () => 1 })
  dynamic.start()
  t.teardown(() => dynamic.stop())
  const settled = async (ms: number): Promise<void> => {
    const before = reloaded.length + failed.length
    await clock.advance(ms)
    const reload = async (): Promise<boolean> => {
      if (reloaded.length + failed.length > before) return true
      // While a health check is waited for, time goes on.
      if (clock.pendingTimers > 0) await clock.advance(50)
      return false
    }
    await until(reload, { what: 'the file to be loaded again, or refused' })
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { dynamic, clock, reloaded, failed, write, writeText, settled }
}

t.test('a changed file takes over within a minute, for transformers already handed out', async (t) => {
  const r = await reloading(t, [['secrets'], provider('aesgcm', 'old', 1)])
  const transformer = r.dynamic.transformerForResource(parseGroupResource('secrets'))
  const transformers = { transformers: r.dynamic }
  const byOld = await transformer.transformToStorage(plain, KEY)
  const firstHash = r.dynamic.contentHash
  await r.write([['secrets'], provider('aesgcm', 'new', 2), provider('aesgcm', 'old', 1)])
  await r.settled(60_000)
  t.same(r.failed, [])
  t.same(r.reloaded, [r.dynamic.contentHash])
  t.not(r.dynamic.contentHash, firstHash)
  t.match(r.dynamic.contentHash, /^sha256:[0-9a-f]{64}$/)
  t.equal(await prefixFor(transformers, 'secrets'), 'k8s:enc:aesgcm:v1:new:')
  t.match(Buffer.from(await transformer.transformToStorage(plain, KEY)).toString('latin1'), /^k8s:enc:aesgcm:v1:new:/)
  t.same(await transformer.transformFromStorage(byOld, KEY), { data: plain, stale: true })
})

t.test('a bad new file is reported, the old one stays, and a repaired one is taken soon', async (t) => {
  const r = await reloading(t, [['secrets'], provider('aesgcm', 'old', 1)])
  const hash = r.dynamic.contentHash
  await r.writeText('resources: [')
  await r.settled(60_000)
  t.match(r.failed, [{ code: 'encryption-config', message: /not YAML/ }])
  t.equal(r.dynamic.contentHash, hash)
  t.equal(await prefixFor({ transformers: r.dynamic }, 'secrets'), 'k8s:enc:aesgcm:v1:old:')
  await r.write([['secrets'], provider('aesgcm', 'repaired', 1)])
  await r.settled(1000)
  t.equal(r.failed.length, 1)
  t.equal(await prefixFor({ transformers: r.dynamic }, 'secrets'), 'k8s:enc:aesgcm:v1:repaired:')
})

t.test('a file whose KMS plugin is unwell does not take over', async (t) => {
  const plugin = new KmsPlugin()
  await plugin.start()
  t.teardown(() => plugin.remove())
  plugin.healthz = 'no'
  const r = await reloading(t, [['secrets'], provider('aesgcm', 'old', 1)])
  // A short timeout keeps the grace period, and with it the wait for health, short.
  const unwell = { kms: { apiVersion: 'v2', name: 'k', endpoint: plugin.endpoint, timeout: '30s' } }
  await r.write([['secrets'], unwell])
  await r.settled(60_000)
  t.match(r.failed, [{ message: /KMS provider k is not healthy: its healthz says "no"/ }])
  t.equal(await prefixFor({ transformers: r.dynamic }, 'secrets'), 'k8s:enc:aesgcm:v1:old:')
  plugin.healthz = 'ok'
  await r.settled(2000)
  t.equal(await prefixFor({ transformers: r.dynamic }, 'secrets'), 'k8s:enc:kms:v2:k:')
  await r.dynamic.check()
})

t.test('a replaced generation is closed after its grace period, and all are when it stops', async (t) => {
  const clock = new FakeClock()
  const filePath = join(await folder(t), 'config.json')
  await writeFile(filePath, configuration([['secrets'], identity]))
  const real = await loadEncryptionConfig(filePath, { clock, logger: nullLogger })
  const closed: string[] = []
  const initial = {
    ...real,
    contentHash: 'another',
    closeGracePeriodMs: 5000,
    close: () => void closed.push('initial'),
  }
  let reloads = 0
  const recorder = { reloaded: () => void reloads++, failed: (error: unknown) => t.fail(String(error)) }
  const dynamic = new DynamicTransformers({ filePath, initial, clock, logger: nullLogger, recorder })
  dynamic.start()
  await clock.advance(60_000)
  await until(() => reloads > 0, { what: 'the file to be loaded again' })
  t.same(closed, [], 'calls may still be under way')
  await clock.advance(5000)
  t.same(closed, ['initial'])
  dynamic.stop()
  t.same(closed, ['initial'], 'once')
  t.equal(clock.pendingTimers, 0)
})
