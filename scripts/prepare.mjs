// What a fresh clone needs before it can run: packages and a build. Quick when nothing changed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const flags = new Set(process.argv.slice(2))

function run(command, args) {
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.error) throw done.error
  if (done.status !== 0) process.exit(done.status ?? 1)
}

// The lock file's hash is kept beside what was installed from it; times of files say nothing after a checkout.
const lockHash = createHash('sha256')
  .update(readFileSync(`${root}/package-lock.json`))
  .digest('hex')
const marker = `${root}/node_modules/.keelson-lock-hash`
if (!existsSync(marker) || readFileSync(marker, 'utf8') !== lockHash) {
  console.error('Installing packages…')
  // Not `npm ci`, which removes everything first: what is installed and fits stays.
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(marker, lockHash)
}
// The server runs from its bundle, which needs no tsc; tests and benches import modules.
const projects = []
if (flags.has('--with-tests')) projects.push('test')
if (flags.has('--with-bench')) projects.push('bench')
if (projects.length > 0) run(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'src', ...projects])
// What the bundle was made of is kept: size and time of every file. Whatever differs, it is made anew.
const made = `${root}/node_modules/.keelson-bundle`
const sources = bundleSources()
const isMade = existsSync(`${root}/bundle/main/index.js`) && existsSync(made)
if (!isMade || readFileSync(made, 'utf8') !== sources) {
  run(process.execPath, ['scripts/bundle.mjs'])
  writeFileSync(made, sources)
}

function bundleSources() {
  const files = ['package.json', 'scripts/bundle.mjs']
  for (const entry of readdirSync(`${root}/src`, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) files.push(path.relative(root, path.join(entry.parentPath, entry.name)))
  const lines = files.map((file) => {
    const { size, mtimeMs } = statSync(path.join(root, file))
    return `${file} ${size} ${mtimeMs}`
  })
  return `${lockHash}\n${lines.sort().join('\n')}\n`
}
