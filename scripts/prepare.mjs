// What a fresh clone needs before it can run: packages and a build. Quick when nothing changed.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const flags = new Set(process.argv.slice(2))

function run(command, args) {
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (done.error) throw done.error
  if (done.status !== 0) process.exit(done.status ?? 1)
}

const installed = `${root}/node_modules/.package-lock.json`
const lock = `${root}/package-lock.json`
if (!existsSync(installed) || statSync(lock).mtimeMs > statSync(installed).mtimeMs + 1000) {
  console.error('Installing packages…')
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
}
const projects = ['src']
if (flags.has('--with-tests')) projects.push('test')
if (flags.has('--with-bench')) projects.push('bench')
run(process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...projects])
