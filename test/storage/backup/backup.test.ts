import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { BackupError, type BackupItem, encodeFrame } from '#keelson/storage/backup/backup-format.js'
import { verifyBackup } from '#keelson/storage/backup/backup-reader.js'
import { BackupWriter } from '#keelson/storage/backup/backup-writer.js'
import { RestoredStore } from '#keelson/storage/embedded/restored-store.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const HEAD = { source: 'embedded', revision: 10, createdAt: 'now', keys: 1 } as const
const KV = { key: '/registry/a', value: Buffer.from('x'), version: 1, createRevision: 2, modRevision: 3, lease: 0n }
const LEASE = { lease: 7n, ttlSeconds: 5, expiresAtMs: 1 }
const head: BackupItem = { type: 'head', head: HEAD }
const key: BackupItem = { type: 'key', kv: KV }
const lease: BackupItem = { type: 'lease', lease: LEASE }

t.test('backups to one name do not write one file, follow no link, and the second gets no name', (t) => {
  const folder = temporaryFolder(t, 'writers')
  const [file, victim] = [path.join(folder, 'b'), path.join(folder, 'victim')]
  writeFileSync(victim, 'mine')
  symlinkSync(victim, `${file}.part`)
  const writers = [new BackupWriter(file), new BackupWriter(file)]
  for (const writer of writers) {
    writer.begin({ ...HEAD, keys: 0 })
    writer.add(lease)
  }
  writers[0]!.finish()
  t.throws(() => writers[1]!.finish(), { name: 'BackupError', message: /is there already/ })
  writers[1]!.abandon()
  writers[1]!.abandon()
  t.equal(readFileSync(victim, 'utf8'), 'mine')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.match(
    verifyBackup(file, () => undefined),
    { keys: 0, leases: 1 },
  )
  t.same(readdirSync(folder).sort(), ['b', 'b.part', 'victim'])
  t.end()
})

t.test('what has right checksums and makes no sense is no backup', (t) => {
  const file = path.join(temporaryFolder(t, 'senseless'), 'b')
  const verify = (items: readonly BackupItem[]): unknown => {
    const count = (type: string): number => items.filter((item) => item.type === type).length
    const end: BackupItem = { type: 'end', end: { keys: count('key'), leases: count('lease') } }
    const frames = [...items, end].map((item, number) => encodeFrame(item, number))
    writeFileSync(file, Buffer.concat([Buffer.from('keelson-backup 1\n'), ...frames]))
    return verifyBackup(file, () => undefined)
  }
  const withHead = (change: object): BackupItem[] => [{ type: 'head', head: { ...HEAD, ...change } }, key]
  const withKey = (change: object): BackupItem[] => [head, { type: 'key', kv: { ...KV, ...change } }]
  t.match(verify([head, lease, key]), { keys: 1, leases: 1, revision: 10 })
  const senseless: Record<string, BackupItem[]> = {
    'no head': [key],
    'two heads': [head, head],
    'a head that is null': [{ type: 'head', head: null as never }],
    'a revision that is text': withHead({ revision: '10' }),
    'a revision without room': withHead({ revision: Number.MAX_SAFE_INTEGER }),
    'the revision 0': withHead({ revision: 0 }),
    'an unknown source': withHead({ source: 'x' }),
    'a key after the revision': withKey({ modRevision: 11 }),
    'half a revision': withKey({ modRevision: 2.5 }),
    'created after it was changed': withKey({ createRevision: 4 }),
    'no number': withKey({ createRevision: Number.NaN }),
    'a key twice': [head, key, key],
    'a lease twice': [head, lease, lease],
    'a lease for ever': [head, { type: 'lease', lease: { ...LEASE, expiresAtMs: Number.POSITIVE_INFINITY } }],
  }
  for (const [what, items] of Object.entries(senseless)) t.throws(() => verify(items), { name: 'BackupError' }, what)
  for (const long of ['', 'x'.repeat(1979)])
    t.throws(() => encodeFrame({ type: 'key', kv: { ...KV, key: long } }, 0), BackupError)
  t.end()
})

t.test(
  'of two restores into one folder the second is refused while the first runs, and not when it is gone',
  async (t) => {
    const dataDir = path.join(temporaryFolder(t, 'restores'), 'data')
    const first = await RestoredStore.create({ dataDir, format: 2 })
    await t.rejects(RestoredStore.create({ dataDir, format: 2 }), { code: 'data-dir-locked' })
    await first.addKey(KV)
    t.match(await first.finish(10, 5), { revision: 15, renumbered: 0 })
    t.same(readdirSync(dataDir).sort(), ['data.mdb', 'keelson.json'])
    const left = path.join(temporaryFolder(t, 'left'), 'data')
    mkdirSync(path.join(left, 'restoring'), { recursive: true })
    writeFileSync(path.join(left, 'restoring/owner.json'), JSON.stringify({ pid: process.pid, started: 'ticks-1' }))
    const again = await RestoredStore.create({ dataDir: left, format: 2 })
    await again.abandon()
  },
)
