import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { freePort } from '../support/free-port.js'
import { temporaryFolder } from '../support/temporary-folder.js'

/** The user that Unix systems give to whoever has no name. */
const NOBODY = 65_534
const ENTRY = path.resolve('bundle/main/index.js')

/** Starts the server as a user does and gives what it says before it ends. */
function fails(
  flags: readonly string[],
  nodeFlags: readonly string[] = [],
  user: { uid?: number; gid?: number; cwd?: string } = {},
): { status: number | null; lines: string[] } {
  const all = [...nodeFlags, ENTRY, '--secure-port=0', ...flags]
  const { status, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8', timeout: 120_000, ...user })
  return { status, lines: stderr.trim().split('\n') }
}

t.test('each of the usual first failures is one line that says what to do', async (t) => {
  const folder = temporaryFolder(t, 'first-failures')
  const own = [`--cert-dir=${path.join(folder, 'certs')}`]

  const older = path.join(folder, 'older.cjs')
  writeFileSync(older, "Object.defineProperty(process.versions, 'node', { value: '18.20.8' })\n")
  const wrongNode = fails(own, ['--require', older])
  t.match(wrongNode, { status: 1, lines: [/^keelson: Node 18\.20\.8 is too old: .*20\.19 or newer/] })
  t.equal(wrongNode.lines.length, 1)

  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  const inUse = fails([...own, '--data-dir=memory', `--secure-port=${port}`])
  t.equal(inUse.status, 1)
  t.match(inUse.lines.at(-1), /^keelson: cannot listen on .*the port is in use; --secure-port chooses another/)

  const another = path.join(folder, 'another')
  mkdirSync(another)
  writeFileSync(path.join(another, 'keelson.json'), '{"format":"keelson-embedded","version":99,"initialised":true}\n')
  const version = fails([...own, `--data-dir=${another}`])
  t.equal(version.status, 1)
  t.match(
    version.lines.at(-1),
    /^keelson: .*is in format version 99; .*start the version that wrote it .*data backup.*, or choose another --data-dir/,
  )

  const noEngine = fails([...own, '--data-dir=memory', '--http-engine=other'])
  t.match(noEngine, { status: 1, lines: [/--http-engine "other" is unknown; it is auto, uws or node/, String] })
})

t.test('a folder, a port and an address that this user may not have are told so', async (t) => {
  // Root may everything; so it starts the server as the user that owns nothing.
  const isRoot = process.getuid?.() === 0
  const folder = temporaryFolder(t, 'no-permission')
  chmodSync(folder, 0o555)
  const user = { cwd: folder, ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}) }
  const last = (flags: readonly string[]): string => {
    const { status, lines } = fails(flags, [], user)
    t.equal(status, 1)
    return lines.find((line) => line.startsWith('keelson: ')) ?? lines.join('\n')
  }
  t.match(last(['--data-dir=data']), /^keelson: --data-dir: "data" cannot be made: permission denied; name another, or/)
  t.match(
    last(['--data-dir=memory']),
    /^keelson: ".*certs" cannot be made: permission denied.*--cert-dir chooses where certificates are kept/,
  )
  const certs = temporaryFolder(t, 'certs-of-nobody')
  chmodSync(certs, 0o777)
  const own = ['--data-dir=memory', `--cert-dir=${path.join(certs, 'certs')}`]
  t.match(
    last([...own, '--bind-address=192.0.2.1']),
    /^keelson: cannot listen on 192\.0\.2\.1:0: this host has no such address; --bind-address chooses another/,
  )
})

t.test('an etcd that does not answer at the start is told of in one line, and asked again', async (t) => {
  const endpoint = `http://127.0.0.1:${await freePort()}`
  const folder = temporaryFolder(t, 'no-etcd')
  const flags = ['--secure-port=0', `--cert-dir=${folder}`, `--etcd-servers=${endpoint}`, '--log-level=debug']
  const server = spawn(process.execPath, [ENTRY, ...flags], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(server, 'close')
  t.teardown(() => server.kill('SIGKILL'))
  const lines: { level: string; msg: string; endpoint?: string; since?: string; reason?: string }[] = []
  // Whatever waits for the connection has given up once and asks again.
  const gaveUp = /the watch is opened again|the watch cache lists again/
  for await (const text of createInterface({ input: server.stdout })) {
    if (!text.startsWith('{')) continue
    if (!text.includes('"level":"debug"')) t.notMatch(text, /"stack"/)
    lines.push(JSON.parse(text) as (typeof lines)[number])
    if (gaveUp.test(text)) break
  }
  server.kill('SIGTERM')
  t.same(await ended, [130, null], 'it can be stopped while it waits')
  // Where no binary of uWebSockets.js loads, that is told of too.
  const told = lines.filter(
    ({ level, msg }) => level !== 'debug' && level !== 'info' && !msg.startsWith('uWebSockets.js does not load here'),
  )
  t.match(told, [
    { endpoint, since: /^20/, reason: /ECONNREFUSED/, msg: 'no connection to etcd; trying again until there is one' },
  ])
  t.equal(told.length, 1)
})

t.test('a clock that is far off is told of', async (t) => {
  const folder = temporaryFolder(t, 'clock')
  const behind = path.join(folder, 'behind.cjs')
  writeFileSync(behind, 'const now = Date.now; Date.now = () => now() - 40 * 365 * 24 * 3600 * 1000\n')
  const { lines } = fails(
    [`--cert-dir=${folder}`, '--data-dir=memory', '--bind-address=192.0.2.1'],
    ['--require', behind],
  )
  t.ok(
    lines.some((line) => /^keelson: the clock of this machine says 19\d\d-.*set the clock/.test(line)),
    lines.join('\n'),
  )
})
