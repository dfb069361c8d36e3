// Every static check, all of them run even when one fails, so that one run shows everything.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const prepared = spawnSync(process.execPath, ['scripts/prepare.mjs', '--with-tests', '--with-bench'], {
  cwd: root,
  stdio: 'inherit',
})
if (prepared.status !== 0) process.exit(prepared.status ?? 1)

const checks = [
  ['biome', ['check', '.']],
  ['eslint', ['.', '--max-warnings=0']],
  ['depcruise', ['src', '--config', '.dependency-cruiser.cjs', '--output-type', 'err']],
  ['knip', []],
  // Without the tests: what only they use is no production code.
  ['knip', ['--production']],
  // They run in k6, which has globals and modules of its own.
  ['tsc', ['-p', 'bench/k6']],
]
const failed = []

/** Each tool's lines are kept together: they run side by side. */
function run(name, command, args) {
  const started = Date.now()
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = []
    child.stdout.on('data', (chunk) => said.push(chunk))
    child.stderr.on('data', (chunk) => said.push(chunk))
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(said))
      console.log(`${name}: ${code === 0 ? 'ok' : 'FAILED'} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
      if (code !== 0) failed.push(name)
      resolve()
    })
  })
}

await Promise.all([
  run('generate', process.execPath, ['scripts/generate.mjs', '--check']),
  run('patterns', process.execPath, ['scripts/patterns.mjs']),
  ...checks.map(([tool, args]) =>
    run([tool, ...args.filter((arg) => arg === '--production')].join(' '), `node_modules/.bin/${tool}`, args),
  ),
])
if (failed.length > 0) {
  console.error(`check failed: ${failed.join(', ')}`)
  process.exit(1)
}
