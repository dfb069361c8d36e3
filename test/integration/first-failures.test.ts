import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'

const ENTRY = path.resolve('bundle/main/index.js')

/** Starts the server as a user does and gives what it says before it ends. */
function fails(
  flags: readonly string[],
  nodeFlags: readonly string[] = [],
): { status: number | null; lines: string[] } {
  const all = [...nodeFlags, ENTRY, '--secure-port=0', ...flags]
  const { status, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8', timeout: 120_000 })
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

t.test(
  'a folder that may not be written to is told so',
  { skip: process.getuid?.() === 0 && 'root may everything' },
  async (t) => {
    const folder = temporaryFolder(t, 'no-permission')
    chmodSync(folder, 0o500)
    const refused = fails([`--data-dir=${path.join(folder, 'data')}`])
    t.match(refused, { status: 1, lines: [/--data-dir: .*cannot be made: permission denied/i] })
  },
)

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
