import { closeSync, cpSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { nullLogger } from '#keelson/lib/logger.js'
import { isStorageError, type StorageError } from '#keelson/storage/contract/errors.js'
import { DataDirectoryError } from '#keelson/storage/embedded/data-directory-error.js'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { LmdbDamage, LmdbFile } from '#keelson/storage/embedded/file/lmdb-file.js'
import { checkStore } from '#keelson/storage/embedded/file/store-check.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { until } from '../../support/until.js'

const PAGE = 4096
const FLIPS = 300
const KEYS = 120
/** So many of the flips that nobody noticed are looked at with the engine: it takes long. */
const HARMLESS_OPENED = 30
const keyOf = (i: number): string => `/r/key-${String(i).padStart(3, '0')}`

/** A number after another, the same in every run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 48271) % 2147483647
    yield state
  }
}

/** A store with everything in it: small and big values, history, deletions, leases, compacted and pruned. */
async function varied(t: Test): Promise<string> {
  const dataDir = path.join(temporaryFolder(t, 'damage'), 'data')
  const engine = await EmbeddedEngine.open({ dataDir })
  const lease = await engine.grantLease(1_000_000)
  const put = async (round: number, i: number): Promise<void> => {
    const mod = (await engine.get(keyOf(i))).kv?.modRevision ?? 0
    const value = Buffer.alloc(i % 7 === 0 ? 9000 : 40 + i * 9, `${round}-${i};`)
    await engine.optimisticPut(keyOf(i), value, mod, i % 10 === 3 ? { lease } : {})
  }
  for (let round = 0; round < 3; round++)
    await Promise.all(Array.from({ length: KEYS / (round + 1) }, (_, i) => put(round, i * (round + 1))))
  const remove = async (i: number): Promise<unknown> =>
    engine.optimisticDelete(keyOf(i), (await engine.get(keyOf(i))).kv!.modRevision)
  await Promise.all(Array.from({ length: KEYS / 9 }, (_, i) => remove(i * 9)))
  const compacted = (await engine.currentRevision()) - 60
  await engine.compact(compacted)
  await until(async () => (await engine.storageStats()).prunedRevision === compacted, { what: 'pruning' })
  await engine.close()
  return dataDir
}

/** Everything that a client could read, as one text. */
async function contents(dataDir: string): Promise<string> {
  const engine = await EmbeddedEngine.open({ dataDir })
  try {
    const revision = await engine.currentRevision()
    const compacted = engine.compactedRevision()
    const describe = (kv: { key: string; modRevision: number; value: Uint8Array }): string =>
      `${kv.key} ${kv.modRevision} ${Buffer.from(kv.value)}`
    const now = (await engine.list('/r/')).kvs.map(describe)
    const then = (await engine.list('/r/', { revision: compacted })).kvs.map(describe)
    const events: string[] = []
    const watch = engine.watch({ key: '/r/', prefix: true, startRevision: compacted + 1 })
    for (let at = compacted; at < revision; ) {
      const batch = (await watch.next())!
      events.push(...batch.events.map((e) => `${e.type} ${describe(e.kv)} ${e.prev && describe(e.prev)}`))
      at = batch.revision
    }
    watch.close()
    return [revision, compacted, ...now, ...then, ...events].join('\n')
  } finally {
    await engine.close()
  }
}

/** The problems of a file; none when it is sound. */
function problemsOf(file: string): readonly string[] {
  let opened: LmdbFile | undefined
  try {
    opened = LmdbFile.open(file)
    return checkStore(opened).problems
  } catch (error) {
    if (error instanceof LmdbDamage) return [error.message]
    throw error
  } finally {
    opened?.close()
  }
}

// Some ten seconds of opening stores when nothing else runs.
t.setTimeout(600_000)

t.test('every flipped bit is noticed before anything is served, or lies where nothing is kept', async (t) => {
  const dataDir = await varied(t)
  const file = path.join(dataDir, 'data.mdb')
  t.same(problemsOf(file), [])
  const expected = await contents(dataDir)
  const current = readFileSync(file)
  const random = numbers(7)
  let noticed = 0
  let harmless = 0
  for (let i = 0; i < FLIPS; i++) {
    const changed = Buffer.from(current)
    const at = random.next().value % changed.length
    changed[at]! ^= 1 << (random.next().value % 8)
    writeFileSync(file, changed)
    if (problemsOf(file).length > 0) noticed++
    else {
      // What nobody noticed must not change anything that anybody can read.
      harmless++
      if (harmless <= HARMLESS_OPENED && (await contents(dataDir)) !== expected)
        t.fail(`a flipped bit at ${at} was not noticed`)
    }
  }
  t.comment(`${noticed} noticed, ${harmless} harmless, of ${current.length} bytes`)
  t.ok(noticed > FLIPS / 4, 'a good part of the file is in use')
})

t.test('a page that is missing a write, whole or half, is noticed or was free', async (t) => {
  const dataDir = await varied(t)
  const file = path.join(dataDir, 'data.mdb')
  const before = readFileSync(file)
  const engine = await EmbeddedEngine.open({ dataDir })
  await Promise.all(
    Array.from({ length: KEYS / 2 }, async (_, half) => {
      const key = keyOf(2 * half + 1)
      const mod = (await engine.get(key)).kv?.modRevision ?? 0
      await engine.optimisticPut(key, Buffer.alloc(300 + half, `new ${half};`), mod)
    }),
  )
  await engine.close()
  const after = readFileSync(file)
  const expected = await contents(dataDir)
  // Opening the folder claims it, which is a commit of its own.
  const current = readFileSync(file)
  let noticed = 0
  for (let page = 2; (page + 1) * PAGE <= before.length; page++) {
    const [start, end] = [page * PAGE, (page + 1) * PAGE]
    if (before.subarray(start, end).equals(after.subarray(start, end))) continue
    for (const cut of [end, start + PAGE / 2]) {
      const changed = Buffer.from(current)
      before.copy(changed, start, start, cut)
      writeFileSync(file, changed)
      if (problemsOf(file).length > 0) noticed++
      else t.equal(await contents(dataDir), expected, `page ${page}, stale up to ${cut - start}`)
    }
  }
  t.ok(noticed > 20, `${noticed} stale and torn pages were noticed`)
})

t.test('a damaged store is refused at the start, with key and revision and what to do', async (t) => {
  const dataDir = await varied(t)
  const file = path.join(dataDir, 'data.mdb')
  const bytes = readFileSync(file)
  // The newest version of one key: its value is in the file once.
  bytes[bytes.indexOf('1-2;1-2;')]! ^= 4
  writeFileSync(file, bytes)
  const error = await EmbeddedEngine.open({ dataDir }).catch((e: unknown) => e)
  t.ok(error instanceof DataDirectoryError && error.code === 'data-dir-corrupt')
  t.match(String(error), /revision \d+ \(\/r\/key-002\) does not match its checksum/)
  t.match(String(error), /keelson data check.*keelson data restore/)
  t.ok(readFileSync(file).equals(bytes), 'nothing was written')
})

t.test('damage that happens while the engine runs is never served, and only what is damaged is refused', async (t) => {
  const dataDir = path.join(temporaryFolder(t, 'running'), 'data')
  const damage: StorageError[] = []
  const engine = await EmbeddedEngine.open({ dataDir, onDamage: (error) => damage.push(error) })
  t.teardown(() => engine.close())
  const { revision } = await engine.optimisticPut('/r/a', Buffer.alloc(200, 'unmistakable'), 0)
  const other = await engine.optimisticPut('/r/b', Buffer.from('sound'), 0)
  flipInFile(path.join(dataDir, 'data.mdb'), 'unmistakable')
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'served',
      (error: unknown) => (isStorageError(error, 'corrupt-object') ? error.message : error),
    )
  const told = new RegExp(`damaged: the entry of revision ${revision} does not match its checksum`)
  t.match(await codeOf(engine.get('/r/a')), told)
  t.match(await codeOf(engine.list('/r/')), told)
  t.match(await codeOf(engine.optimisticPut('/r/a', Buffer.from('2'), revision)), told)
  const watch = engine.watch({ key: '/r/', prefix: true, startRevision: revision })
  t.type((await watch.next())!.events.length, 'number', 'what is in memory is sound')
  watch.close()
  t.ok(damage.length >= 3, 'each was told')
  t.equal(Buffer.from((await engine.get('/r/b')).kv!.value).toString(), 'sound')
  t.ok((await engine.optimisticPut('/r/b', Buffer.from('goes on'), other.revision)).succeeded)
})

/** Flips a bit of every copy of a text in a file, in place. */
function flipInFile(file: string, text: string): void {
  const bytes = readFileSync(file)
  const descriptor = openSync(file, 'r+')
  const one = Buffer.alloc(1)
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) {
    readSync(descriptor, one, 0, 1, at)
    one[0]! ^= 1
    writeSync(descriptor, one, 0, 1, at)
  }
  closeSync(descriptor)
}

/** A folder that version 0.1.0 of Keelson wrote, before there were checksums. */
function versionOne(t: Test): string {
  const dataDir = path.join(temporaryFolder(t, 'format-1'), 'data')
  mkdirSync(dataDir)
  writeFileSync(path.join(dataDir, 'data.mdb'), gunzipSync(readFileSync('test/storage/embedded/format-1.mdb.gz')))
  writeFileSync(path.join(dataDir, 'keelson.json'), '{"format":"keelson-embedded","version":1,"initialised":true}\n')
  return dataDir
}

t.test(
  'a folder of format version 1 is opened, becomes one of version 2, and its new entries have checksums',
  async (t) => {
    const dataDir = versionOne(t)
    const upgrades: unknown[] = []
    const logger = { ...nullLogger, info: (fields: object) => void upgrades.push(fields) }
    const engine = await EmbeddedEngine.open({ dataDir, logger })
    t.match(upgrades, [{ from: 1, to: 2 }])
    t.equal(await engine.currentRevision(), 75)
    t.equal((await engine.list('/registry/')).count, 34)
    const found = (await engine.get('/registry/configmaps/default/c-2')).kv!
    t.equal(Buffer.from(found.value).toString(), 'value 2 again')
    await engine.optimisticPut(found.key, Buffer.from('value 2 of now'), found.modRevision)
    await engine.close()
    t.match(JSON.parse(readFileSync(path.join(dataDir, 'keelson.json'), 'utf8')), { version: 2, initialised: true })
    const file = LmdbFile.open(path.join(dataDir, 'data.mdb'))
    const report = checkStore(file)
    file.close()
    t.match(report, { problemCount: 0, logEntries: 66, unchecked: 65, state: { uncheckedUntil: 75, revision: 76 } })
    const copy = `${dataDir}-copy`
    cpSync(dataDir, copy, { recursive: true })
    flipInFile(path.join(copy, 'data.mdb'), 'value 2 of now')
    t.match(problemsOf(path.join(copy, 'data.mdb')), [/revision 76 .*checksum/])
  },
)
