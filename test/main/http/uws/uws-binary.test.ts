import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { chooseEngine, sharesPort } from '#keelson/main/http/engine-choice.js'
import { findUwsBinary, installedUws, type UwsBinaryOptions } from '#keelson/main/http/uws/uws-binary.js'
import { UWS_PINS } from '#keelson/main/http/uws/uws-pins.js'

const BYTES = Buffer.from('a binary')
const SHA256 = `sha256:${createHash('sha256').update(BYTES).digest('hex')}`
const GIT = `git:${createHash('sha1').update(`blob ${BYTES.byteLength}\0`).update(BYTES).digest('hex')}`

const here = (options: Partial<UwsBinaryOptions> = {}): UwsBinaryOptions => ({
  platform: 'linux',
  arch: 'x64',
  version: '24.21.0',
  find: (name, system) => `/${name}/${system}`,
  read: () => BYTES,
  load: () => ({}),
  pins: { 'uws-newest': { 'linux-x64-24': SHA256 }, 'uws-older': { 'linux-x64-24': GIT } },
  ...options,
})
const glibc = (file: string) => {
  if (file.startsWith('/uws-newest'))
    throw new Error("libc.so.6: version `GLIBC_2.38' not found (required by uws.node)\nmore")
}

t.test('the newest binary that loads is taken', async (t) => {
  t.equal(findUwsBinary(here()), '/uws-newest/linux-x64-24')
  t.equal(findUwsBinary(here({ load: glibc })), '/uws-older/linux-x64-24')
})

t.test('nothing is loaded that is not the official binary', async (t) => {
  const loaded: string[] = []
  const found = findUwsBinary(here({ read: () => Buffer.from('another'), load: (file) => loaded.push(file) }))
  t.match(found, [{ problem: /is not the official binary/ }, { problem: /is not the official binary/ }])
  t.same(loaded, [])
})

t.test('systems without a binary are told so: musl, Windows on ARM, the Nodes to come', async (t) => {
  t.match(findUwsBinary(here({ find: () => undefined })), [
    { package: 'uws-newest', problem: 'no binary of uws-newest for linux-x64-24' },
    { package: 'uws-older', problem: 'no binary of uws-older for linux-x64-24' },
  ])
  t.match(findUwsBinary(here({ platform: 'win32', arch: 'arm64' })), [{ problem: /win32-arm64-24/ }, {}])
  t.match(findUwsBinary(here({ version: '28.0.0' })), [{ problem: /linux-x64-28/ }, {}])
})

t.test('auto goes on with Node’s engine and says why in one line', async (t) => {
  const lines: string[] = []
  const musl = here({
    load: () => {
      // What the loader of musl 1.2.3 says of these binaries: `ld-musl-x86_64.so.1 --list uws.node`.
      throw new Error(
        'Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by uws.node)\n' +
          'Error relocating uws.node: _ZN2v814ObjectTemplate21SetInternalFieldCountEi: symbol not found',
      )
    },
  })
  t.same(
    chooseEngine('auto', (line) => lines.push(line), musl),
    { name: 'node' },
  )
  t.equal(lines.length, 1)
  t.match(
    lines[0],
    /uWebSockets\.js does not load here \(Error loading shared library.*needed by uws\.node.*--http-engine=node/,
  )
  t.notMatch(lines[0], /\n/)
  t.throws(() => chooseEngine('uws', () => t.fail('said twice'), musl), {
    code: 'engine',
    message: /--http-engine=node/,
  })
  t.same(
    chooseEngine('node', () => t.fail('nothing to say'), here()),
    { name: 'node' },
  )
  t.same(
    chooseEngine('auto', () => t.fail('nothing to say'), here()),
    { name: 'uws', binary: '/uws-newest/linux-x64-24' },
  )
})

t.test('a port is shared between threads where the engine and the system can', async (t) => {
  t.ok(sharesPort({ name: 'uws', binary: '' }, 'linux', '20.19.0'))
  for (const platform of ['win32', 'darwin'] as const)
    t.notOk(sharesPort({ name: 'uws', binary: '' }, platform, '24.0.0'), platform)
  for (const version of ['22.12.0', '23.1.0', '24.0.0', '26.9.0'])
    t.ok(sharesPort({ name: 'node' }, 'linux', version), version)
  for (const version of ['20.20.2', '22.11.0', '23.0.1'])
    t.notOk(sharesPort({ name: 'node' }, 'linux', version), version)
  t.notOk(sharesPort({ name: 'node' }, 'darwin', '26.9.0'))
})

t.test('the installed binaries are pinned', async (t) => {
  const { find, platform, arch } = installedUws()
  let seen = 0
  for (const [name, pins] of Object.entries(UWS_PINS))
    for (const [system, pin] of Object.entries(pins)) {
      t.match(pin, /^(sha256:[0-9a-f]{64}|git:[0-9a-f]{40})$/)
      const file = system.startsWith(`${platform}-${arch}-`) ? find(name, system) : undefined
      if (file === undefined) continue
      const bytes = readFileSync(file)
      const isPinned =
        pin === `sha256:${createHash('sha256').update(bytes).digest('hex')}` ||
        // Where one package has no binary of its own for a system, the other's is found.
        Object.values(UWS_PINS).some((others) => others !== pins && others[system] !== undefined)
      t.ok(isPinned, `${name} ${system}`)
      seen++
    }
  t.comment(`${seen} binaries are installed`)
})
