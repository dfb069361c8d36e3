import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { dataCommand } from '#keelson/main/data/data-command.js'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { freePort } from '../support/free-port.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const MAPS = '/api/v1/namespaces/default/configmaps'
const COUNT = 30

interface Item {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string }
  readonly data?: Record<string, string>
}

interface Said {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

/** Runs `keelson data …` in this process: its work is done in a thread. */
async function data(args: readonly string[]): Promise<Said> {
  const said = { out: '', error: '' }
  const code = await dataCommand(args, {
    out: (text) => {
      said.out += text
    },
    error: (text) => {
      said.error += text
    },
    onInterrupt: () => undefined,
  })
  return { code, ...said }
}

t.test('an etcd that nobody answers for is told of, whatever was to be done', async (t) => {
  const folder = temporaryFolder(t, 'nobody')
  const etcd = `--etcd-servers=http://127.0.0.1:${await freePort()}`
  const backup = await data(['backup', '--file', path.join(folder, 'b'), etcd])
  t.match(backup, { code: 1, error: /no server answers.*ECONNREFUSED/ })
  t.equal(existsSync(path.join(folder, 'b')), false)
})

t.test('a file that is not there is named', async (t) => {
  const file = path.join(temporaryFolder(t, 'absent'), 'absent')
  for (const verb of ['check', 'restore'])
    t.match(await data([verb, '--file', file, ...(verb === 'restore' ? ['--data-dir', `${file}-data`] : [])]), {
      code: 1,
      error: `${file}: there is no such file`,
    })
})

/** Runs it as a process, and kills that as soon as a file is there. */
async function killed(args: readonly string[], file: string): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, ['bundle/main/index.js', 'data', ...args], { stdio: 'ignore' })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)))
  const [folder, start] = [path.dirname(file), path.basename(file)]
  const isThere = (): boolean => existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(start))
  const look = setInterval(() => isThere() && child.kill('SIGKILL'), 1)
  const signal = await ended
  clearInterval(look)
  return signal
}

async function items(server: KeelsonProcess): Promise<{ revision: string; items: Item[] }> {
  const { json } = await server.request('GET', MAPS)
  const list = json as { metadata: { resourceVersion: string }; items: Item[] }
  return { revision: list.metadata.resourceVersion, items: list.items }
}

/** A folder with some keys, written by the engine alone. */
async function filled(t: Test, count: number, bytes = 500): Promise<string> {
  const dataDir = path.join(temporaryFolder(t, 'data'), 'data')
  const engine = await EmbeddedEngine.open({ dataDir })
  const lease = await engine.grantLease(3600)
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      engine.optimisticPut(
        `/registry/things/${i}`,
        Buffer.alloc(bytes, `thing-${i};`),
        0,
        i % 10 === 0 ? { lease } : {},
      ),
    ),
  )
  await engine.close()
  return dataDir
}

const contentsOf = async (kv: Pick<EmbeddedEngine, 'list'>): Promise<string[]> =>
  (await kv.list('/registry/')).kvs.map(({ key, value }) => `${key} ${Buffer.from(value)}`)

async function contentsOfFolder(dataDir: string): Promise<string[]> {
  const engine = await EmbeddedEngine.open({ dataDir })
  try {
    return await contentsOf(engine)
  } finally {
    await engine.close()
  }
}

// Seconds when nothing else runs; servers and commands are started, which a busy machine takes its time for.
t.setTimeout(1_200_000)

t.test('a server that is written to is checked and backed up, and what is restored is that moment', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  for (let i = 0; i < COUNT; i++) {
    const made = await server.request('POST', MAPS, { metadata: { name: `m${i}` }, data: { n: String(i) } })
    t.equal(made.status, 201)
  }
  const before = await items(server)
  let writing = true
  const writer = (async () => {
    for (let i = 0; writing; i++)
      await server.request('POST', MAPS, { metadata: { name: `late-${i}` }, data: { n: 'x'.repeat(3000) } })
  })()
  const folder = temporaryFolder(t, 'backup')
  const file = path.join(folder, 'a.backup')
  const dataDir = path.join(server.dataDir, 'data')
  const checked = await data(['check', '--data-dir', dataDir])
  const backedUp = await data(['backup', '--data-dir', dataDir, '--file', file])
  writing = false
  await writer
  const after = await items(server)
  t.equal(checked.code, 0, checked.error)
  t.match(checked.out, /is sound: \d+ keys/)
  t.equal(backedUp.code, 0, backedUp.error)
  t.equal(statSync(file).mode & 0o777, 0o600, 'nobody else reads Secrets from it')
  t.same(readdirSync(folder), ['a.backup'], 'nothing else is left')
  t.match(await data(['check', '--file', file]), { code: 0 })
  t.match(await data(['backup', '--data-dir', dataDir, '--file', file]), { code: 1, error: /is there already/ })
  await server.stop()

  const restoredIn = path.join(folder, 'restored')
  const restored = await data(['restore', '--file', file, '--data-dir', path.join(restoredIn, 'data')])
  t.equal(restored.code, 0, restored.error)
  const second = await KeelsonProcess.start([], restoredIn)
  t.teardown(() => second.close())
  const now = await items(second)
  t.same(now.items.slice(-COUNT), before.items, 'objects keep uid and resourceVersion')
  const late = now.items.slice(0, -COUNT)
  t.same(
    late.map(({ metadata }) => Number(metadata.resourceVersion)).sort((a, b) => a - b),
    after.items
      .slice(0, -COUNT)
      .map(({ metadata }) => Number(metadata.resourceVersion))
      .sort((a, b) => a - b)
      .slice(0, late.length),
    'of what was written meanwhile it has everything up to one moment, and nothing after',
  )
  t.ok(Number(now.revision) > Number(after.revision) + 900_000_000, 'revisions that clients saw are not used again')
  const watched = await second.request('GET', `${MAPS}?watch=1&resourceVersion=${after.revision}&timeoutSeconds=5`)
  t.match(watched.text, /"code":410/, 'a watch from the lost time starts over')
})

t.test('from embedded to etcd and back', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const source = await filled(t, 700)
  const folder = temporaryFolder(t, 'etcd-backup')
  const [there, back] = [path.join(folder, 'there'), path.join(folder, 'back')]
  t.match(await data(['backup', '--data-dir', source, '--file', there]), { code: 0 })
  const servers = ['--etcd-servers', etcd.endpoint]
  t.match(await data(['restore', '--file', there, ...servers]), { code: 0, out: /700 keys more/ })
  const kv = new EtcdKV({ endpoints: [etcd.endpoint] })
  t.teardown(() => kv.close())
  const expected = await contentsOfFolder(source)
  t.same(await contentsOf(kv as never), expected)
  const { lease } = (await kv.get('/registry/things/0')).kv!
  const { remainingSeconds } = await kv.leaseTimeToLive(lease)
  t.ok(remainingSeconds > 3000 && remainingSeconds <= 3600, 'leases have the time that was left')

  t.match(await data(['restore', '--file', there, ...servers]), { code: 1, error: /700 keys below .* --resume/ })
  const gone = (await kv.get('/registry/things/7')).kv!
  await kv.optimisticDelete(gone.key, gone.modRevision)
  t.match(await data(['restore', '--file', there, ...servers, '--resume']), {
    code: 0,
    out: /1 keys more, 699 were there/,
  })
  const changed = (await kv.get('/registry/things/8')).kv!
  await kv.optimisticPut(changed.key, Buffer.from('newer'), changed.modRevision)
  t.match(await data(['restore', '--file', there, ...servers, '--resume']), { code: 1, error: /things\/8 .*let be/ })
  await kv.optimisticPut(changed.key, changed.value, (await kv.get(changed.key)).kv!.modRevision)

  t.match(await data(['backup', ...servers, '--file', back]), { code: 0, out: /700 keys/ })
  const target = path.join(folder, 'embedded')
  t.match(await data(['restore', '--file', back, '--data-dir', target]), { code: 0 })
  t.same(await contentsOfFolder(target), expected)
})

t.test('a damaged store is told, backed up only when asked to, without what is damaged', async (t) => {
  const dataDir = await filled(t, 50)
  const file = path.join(dataDir, 'data.mdb')
  const bytes = readFileSync(file)
  bytes[bytes.indexOf('thing-7;thing-7;')]! ^= 1
  writeFileSync(file, bytes)
  const checked = await data(['check', '--data-dir', dataDir])
  t.match(checked, {
    code: 1,
    error: /revision \d+ \(\/registry\/things\/7\) does not match its checksum/,
    out: /is damaged/,
  })
  const refused = await KeelsonProcess.start([], path.dirname(dataDir)).catch((error: unknown) => String(error))
  t.match(refused, /is damaged.*things\/7.*keelson data restore/s, 'the server does not start on it')
  const saved = path.join(path.dirname(dataDir), 'saved')
  t.match(await data(['backup', '--data-dir', dataDir, '--file', saved]), { code: 1, error: /--skip-damaged/ })
  const left = readdirSync(path.dirname(saved)).filter((name) => name.startsWith(path.basename(saved)))
  t.same(left, [], 'nothing is left of it')
  t.match(await data(['backup', '--data-dir', dataDir, '--file', saved, '--skip-damaged']), { code: 1, out: /49 keys/ })
  const target = path.join(path.dirname(dataDir), 'new')
  t.match(await data(['restore', '--file', saved, '--data-dir', target]), { code: 0 })
  t.equal((await contentsOfFolder(target)).length, 49)
})

t.test('a backup that is cut or changed is refused before anything is made of it', async (t) => {
  const dataDir = await filled(t, 50)
  const folder = temporaryFolder(t, 'cut')
  const file = path.join(folder, 'backup')
  await data(['backup', '--data-dir', dataDir, '--file', file])
  const whole = readFileSync(file)
  const target = path.join(folder, 'target')
  const refuses = async (why: RegExp): Promise<void> => {
    t.match(await data(['restore', '--file', file, '--data-dir', target]), { code: 1, error: why })
    t.notOk(existsSync(target))
  }
  for (const bytes of [3, 40, whole.length / 2, whole.length - 1]) {
    writeFileSync(file, whole)
    truncateSync(file, bytes)
    await refuses(bytes === 3 ? /is not a backup/ : /is cut short/)
  }
  const changed = Buffer.from(whole)
  changed[whole.length / 2]! ^= 16
  writeFileSync(file, changed)
  await refuses(/is damaged: record \d+/)
  writeFileSync(file, whole.toString('latin1').replace('keelson-backup 1', 'keelson-backup 9'), 'latin1')
  await refuses(/backup format 9; this version of Keelson reads 1/)
})

t.test('a restore that is killed leaves nothing that could be taken for a store, and is begun again', async (t) => {
  const dataDir = await filled(t, 4_000, 2_000)
  const folder = temporaryFolder(t, 'killed')
  const file = path.join(folder, 'backup')
  t.equal(await killed(['backup', '--data-dir', dataDir, '--file', file], `${file}.part`), 'SIGKILL')
  t.notOk(existsSync(file), 'half a backup has no name')
  t.match(await data(['backup', '--data-dir', dataDir, '--file', file]), { code: 0 })
  const target = path.join(folder, 'data')
  const flags = ['restore', '--file', file, '--data-dir', target]
  t.equal(await killed(flags, path.join(target, 'restoring/data.mdb')), 'SIGKILL')
  t.notOk(existsSync(path.join(target, 'data.mdb')))
  const refused = await EmbeddedEngine.open({ dataDir: target }).catch((error: unknown) => String(error))
  t.match(refused, /a restore into it was cut short/)
  t.match(await data(flags), { code: 0 })
  t.equal((await contentsOfFolder(target)).length, 4_000)
  t.match(await data(flags), { code: 1, error: /is not empty/ }, 'a store is never written over')
})

t.test('a folder for an older version has its format', async (t) => {
  const dataDir = await filled(t, 20)
  const folder = temporaryFolder(t, 'older')
  const [file, target] = [path.join(folder, 'backup'), path.join(folder, 'data')]
  await data(['backup', '--data-dir', dataDir, '--file', file])
  t.match(await data(['restore', '--file', file, '--data-dir', target, '--format', '1', '--bump-revision', '0']), {
    code: 0,
  })
  t.match(JSON.parse(readFileSync(path.join(target, 'keelson.json'), 'utf8')), { version: 1, initialised: true })
  t.match(await data(['check', '--data-dir', target]), { code: 0, out: /format 1; 20 entries are from before/ })
  t.same(await contentsOfFolder(target), await contentsOfFolder(dataDir))
})

t.test('what is wrong with the flags is said, and where there is nothing to check', async (t) => {
  t.match(await data([]), { code: 2, out: /Usage: keelson data check/ })
  t.match(await data(['frob']), { code: 2, error: /unknown command: data frob/ })
  t.match(await data(['backup']), { code: 2, error: /--file is needed/ })
  t.match(await data(['backup', '--help']), { code: 0, out: /--skip-damaged/ })
  t.match(await data(['restore', '--file', 'x', '--format', '3']), { code: 2, error: /--format must be one of 1, 2/ })
  t.match(await data(['restore', '--file', 'x', '--data-dir', 'y', '--etcd-servers', 'localhost']), {
    code: 2,
    error: /exclude one another[\s\S]*must start with http/,
  })
  const empty = temporaryFolder(t, 'empty')
  t.match(await data(['check', '--data-dir', empty]), { code: 1, error: /no folder of the embedded engine/ })
  t.same(readdirSync(empty), [])
})
