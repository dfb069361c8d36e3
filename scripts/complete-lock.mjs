// Completes package-lock.json with the optional packages of other platforms. npm leaves out those that a registry does not have,
// and then refuses the file in `npm ci`. What it needs to know of them is their version and where they are not for.
// Run it after every `npm install` that changes the lock file; --check only says whether there is something to do.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const lock = JSON.parse(readFileSync(file, 'utf8'))
const { packages } = lock

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32', 'loong64']

/** As Node looks for them: beside whoever needs it, then one folder up. One that stands there in another version is none. */
function isLocked(from, name, range) {
  const exact = /^\d/.test(range) ? range : undefined
  for (let base = from; ; base = outer(base)) {
    const found = packages[`${base === '' ? '' : `${base}/`}node_modules/${name}`]
    if (found !== undefined) return exact === undefined || found.version === exact
    if (base === '') return false
  }
}

function outer(base) {
  const at = base.lastIndexOf('/node_modules/')
  return at < 0 ? '' : base.slice(0, at)
}

function entry(name, version) {
  const words = name.split('/').at(-1).split('-')
  const os = SYSTEMS.filter((system) => words.includes(system))
  const cpu = PROCESSORS.filter((processor) => words.includes(processor)).slice(0, 1)
  const libc = words.includes('musl') ? ['musl'] : words.some((word) => word.startsWith('gnu')) ? ['glibc'] : undefined
  return {
    version,
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(libc ? { libc } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  }
}

const added = []
for (const [from, { optionalDependencies = {}, dev }] of Object.entries(packages))
  for (const [name, range] of Object.entries(optionalDependencies)) {
    if (isLocked(from, name, range)) continue
    const made = entry(name, range.replace(/^[\^~]/, ''))
    if (made.os === undefined && made.cpu === undefined) continue
    const path =
      packages[`node_modules/${name}`] === undefined ? `node_modules/${name}` : `${from}/node_modules/${name}`
    packages[path] = dev ? { ...made, dev } : made
    added.push(path)
  }

if (added.length > 0 && process.argv.includes('--check')) {
  console.error(
    `package-lock.json lacks ${added.length} packages of other platforms: node scripts/complete-lock.mjs adds them`,
  )
  process.exit(1)
}
if (added.length > 0) {
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries(sorted)
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
  console.error(`added to package-lock.json: ${added.length} packages of other platforms`)
}
