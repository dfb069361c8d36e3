import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { DataDirectoryError } from '#keelson/storage/embedded/data-directory-error.js'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { smallVolume } from '../../support/small-volume.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const HOLDER = fileURLToPath(new URL('./hold-folder.js', import.meta.url))

/** Names, sizes, times and contents, LMDB's table of readers left out: it holds no data and opening it changes it. */
function contentsOf(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter((name) => !name.endsWith('-lock'))
    .sort()
    .map((name) => {
      const file = path.join(dataDir, name)
      const { size, mtimeMs, isDirectory } = { ...statSync(file), isDirectory: statSync(file).isDirectory() }
      return `${name} ${size} ${mtimeMs} ${isDirectory ? '' : readFileSync(file).toString('base64')}`
    })
}

async function refused(t: Test, dataDir: string, code: string): Promise<DataDirectoryError> {
  const before = existsSync(dataDir) && statSync(dataDir).isDirectory() ? contentsOf(dataDir) : []
  try {
    const engine = await EmbeddedEngine.open({ dataDir })
    await engine.close()
  } catch (error) {
    if (!(error instanceof DataDirectoryError)) throw error
    t.equal(error.code, code)
    t.ok(error.message.includes(dataDir), 'the message names the folder')
    if (before.length > 0) t.same(contentsOf(dataDir), before, 'nothing was written')
    return error
  }
  throw new Error('the folder was opened')
}

async function filled(t: Test, writes = 200): Promise<string> {
  const dataDir = path.join(temporaryFolder(t, 'folder'), 'data')
  const engine = await EmbeddedEngine.open({ dataDir })
  await Promise.all(
    Array.from({ length: writes }, (_, i) => engine.optimisticPut(`/r/${i}`, Buffer.alloc(3000, String(i)), 0)),
  )
  await engine.close()
  return dataDir
}

async function holdInOtherProcess(dataDir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOLDER, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout!, 'data')
  return child
}

t.test('a folder that does not exist is created and keeps what was written', async (t) => {
  const dataDir = await filled(t)
  const engine = await EmbeddedEngine.open({ dataDir })
  t.equal(await engine.count('/r/'), 200)
  t.equal(await engine.currentRevision(), 201)
  await engine.close()
  t.notOk(existsSync(path.join(dataDir, 'owner.json')), 'nobody owns it after close')
})

t.test('an empty folder and a fresh volume are taken', async (t) => {
  const dataDir = temporaryFolder(t, 'volume')
  mkdirSync(path.join(dataDir, 'lost+found'))
  const engine = await EmbeddedEngine.open({ dataDir })
  await engine.close()
})

t.test('a folder with other files is foreign and stays as it is', async (t) => {
  const dataDir = temporaryFolder(t, 'foreign')
  writeFileSync(path.join(dataDir, 'notes.txt'), 'mine')
  const error = await refused(t, dataDir, 'data-dir-foreign')
  t.match(error.message, /notes\.txt/)
})

t.test('another program’s LMDB folder is foreign', async (t) => {
  const dataDir = temporaryFolder(t, 'foreign')
  copyFileSync(path.join(await filled(t, 1), 'data.mdb'), path.join(dataDir, 'data.mdb'))
  await refused(t, dataDir, 'data-dir-foreign')
})

t.test('a file in place of the folder is refused', async (t) => {
  const file = path.join(temporaryFolder(t, 'foreign'), 'file')
  writeFileSync(file, 'x')
  await refused(t, file, 'data-dir-foreign')
})

t.test('another format version is refused by its number', async (t) => {
  const dataDir = await filled(t, 1)
  writeFileSync(
    path.join(dataDir, 'keelson.json'),
    JSON.stringify({ format: 'keelson-embedded', version: 7, initialised: true }),
  )
  const error = await refused(t, dataDir, 'data-dir-version')
  t.match(error.message, /version 7/)
})

t.test('a format file of something else, or none at all, is refused', async (t) => {
  const dataDir = await filled(t, 1)
  writeFileSync(path.join(dataDir, 'keelson.json'), '{"format":"other"}')
  await refused(t, dataDir, 'data-dir-foreign')
  writeFileSync(path.join(dataDir, 'keelson.json'), 'garbage')
  await refused(t, dataDir, 'data-dir-corrupt')
})

t.test('a missing store is corrupt', async (t) => {
  const dataDir = await filled(t, 1)
  rmSync(path.join(dataDir, 'data.mdb'))
  await refused(t, dataDir, 'data-dir-corrupt')
  t.notOk(existsSync(path.join(dataDir, 'data.mdb')), 'and is not made anew')
})

t.test('a truncated store is corrupt, wherever it was cut', async (t) => {
  const dataDir = await filled(t)
  const file = path.join(dataDir, 'data.mdb')
  const whole = readFileSync(file)
  for (const size of [0, 100, 4096, 8192, whole.length / 2, whole.length - 4096, whole.length - 4096 * 20]) {
    writeFileSync(file, whole)
    truncateSync(file, Math.floor(size))
    const error = await refused(t, dataDir, 'data-dir-corrupt')
    t.match(error.message, /data\.mdb/)
  }
  writeFileSync(file, whole)
  const engine = await EmbeddedEngine.open({ dataDir })
  t.equal(await engine.count('/r/'), 200)
  await engine.close()
})

t.test('a store overwritten with something else is corrupt', async (t) => {
  const dataDir = await filled(t, 5)
  writeFileSync(path.join(dataDir, 'data.mdb'), Buffer.alloc(100_000, 'x'))
  await refused(t, dataDir, 'data-dir-corrupt')
})

t.test('a creation that was cut short is begun again', async (t) => {
  const dataDir = temporaryFolder(t, 'half')
  writeFileSync(
    path.join(dataDir, 'keelson.json'),
    JSON.stringify({ format: 'keelson-embedded', version: 1, initialised: false }),
  )
  writeFileSync(path.join(dataDir, 'data.mdb'), Buffer.alloc(5000))
  const engine = await EmbeddedEngine.open({ dataDir })
  t.ok((await engine.optimisticPut('/r/a', Buffer.from('1'), 0)).succeeded)
  await engine.close()
})

t.test('the same process cannot open a folder twice, and the first engine goes on', async (t) => {
  const dataDir = await filled(t, 1)
  const engine = await EmbeddedEngine.open({ dataDir })
  const error = await refused(t, dataDir, 'data-dir-locked')
  t.equal(error.pid, process.pid)
  t.ok((await engine.optimisticPut('/r/new', Buffer.from('1'), 0)).succeeded)
  await engine.close()
  await (await EmbeddedEngine.open({ dataDir })).close()
})

t.test('a folder held by another process is refused, naming it, until that process is gone', async (t) => {
  const dataDir = path.join(temporaryFolder(t, 'locked'), 'data')
  const holder = await holdInOtherProcess(dataDir)
  t.teardown(() => holder.kill('SIGKILL'))
  const error = await refused(t, dataDir, 'data-dir-locked')
  t.equal(error.pid, holder.pid)
  t.ok(error.message.includes(String(holder.pid)))
  const ended = once(holder, 'exit')
  holder.kill('SIGKILL')
  await ended
  const engine = await EmbeddedEngine.open({ dataDir })
  t.equal(Buffer.from((await engine.get('/r/a')).kv!.value).toString(), 'from the other process')
  await engine.close()
})

t.test('two processes that start at once on one folder: exactly one gets it', async (t) => {
  const dataDir = path.join(temporaryFolder(t, 'race'), 'data')
  const holders = [0, 1].map(() => spawn(process.execPath, [HOLDER, dataDir], { stdio: ['pipe', 'pipe', 'ignore'] }))
  t.teardown(() => {
    for (const holder of holders) holder.kill('SIGKILL')
  })
  const outcomes = await Promise.all(
    holders.map((holder) =>
      Promise.race([once(holder.stdout, 'data').then(() => 'open'), once(holder, 'exit').then(() => 'refused')]),
    ),
  )
  t.same(outcomes.sort(), ['open', 'refused'])
})

const modeOf = (file: string): number => statSync(file).mode & 0o777

t.test('nobody else can read the store, whatever the umask says and whatever an older version left', async (t) => {
  const dataDir = path.join(temporaryFolder(t, 'modes'), 'data')
  const before = process.umask(0)
  t.teardown(() => process.umask(before))
  await (await EmbeddedEngine.open({ dataDir })).close()
  for (const name of ['data.mdb', 'data.mdb-lock']) t.equal(modeOf(path.join(dataDir, name)), 0o600, name)
  chmodSync(path.join(dataDir, 'data.mdb'), 0o644)
  chmodSync(dataDir, 0o777)
  await (await EmbeddedEngine.open({ dataDir })).close()
  t.equal(modeOf(path.join(dataDir, 'data.mdb')), 0o600)
  t.equal(modeOf(dataDir), 0o770, 'a folder of our own is closed to others')
})

t.test('a format version is a whole number', async (t) => {
  const dataDir = temporaryFolder(t, 'version')
  writeFileSync(path.join(dataDir, 'keelson.json'), '{"format":"keelson-embedded","version":1.5,"initialised":true}')
  await refused(t, dataDir, 'data-dir-version')
})

t.test('a folder whose disk is full says so, and opens once there is room', async (t) => {
  const volume = smallVolume(t, 8)
  if (volume === undefined) {
    t.pass('a full disk', { skip: 'no small file system can be mounted here' })
    return
  }
  const dataDir = path.join(volume, 'data')
  const first = await EmbeddedEngine.open({ dataDir })
  await first.optimisticPut('/r/a', Buffer.from('1'), 0)
  await first.close()
  const ballast = path.join(volume, 'ballast')
  t.throws(() => writeFileSync(ballast, Buffer.alloc(16 * 2 ** 20)), { code: 'ENOSPC' })
  await t.rejects(EmbeddedEngine.open({ dataDir }), { code: 'data-dir-full', message: /its disk is full/ })
  rmSync(ballast)
  const again = await EmbeddedEngine.open({ dataDir })
  t.equal(new TextDecoder().decode((await again.get('/r/a')).kv?.value), '1')
  await again.close()
})
