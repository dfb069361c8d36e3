// Every static check, all of them run even when one fails, so that one run shows everything.
import { spawnSync } from 'node:child_process'
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
]
const failed = []
if (spawnSync(process.execPath, ['scripts/generate.mjs', '--check'], { cwd: root, stdio: 'inherit' }).status !== 0)
  failed.push('generate')
for (const [tool, args] of checks) {
  const started = Date.now()
  const done = spawnSync(`node_modules/.bin/${tool}`, args, { cwd: root, stdio: 'inherit' })
  console.log(`${tool}: ${done.status === 0 ? 'ok' : 'FAILED'} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
  if (done.status !== 0) failed.push(tool)
}
if (failed.length > 0) {
  console.error(`check failed: ${failed.join(', ')}`)
  process.exit(1)
}
