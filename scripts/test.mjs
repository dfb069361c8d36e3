// Runs the built tests with tap and ends with one line: N passed, N failed.
// Arguments are tap's: files under test/ (source names are mapped to the build) or flags.
import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Parser } from 'tap-parser'
import { ensureEtcd } from './etcd.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

const etcd = ensureEtcd()
if (!etcd.found) {
  if (process.env.CI === 'true') {
    console.error(`The tests need etcd: ${etcd.why}`)
    process.exit(1)
  }
  console.error(`Tests against etcd are SKIPPED: ${etcd.why}`)
}

const built = (file) => file.replace(/^test\//, 'build/test/').replace(/\.ts$/, '.js')
const given = process.argv
  .slice(2)
  .filter((a) => !a.startsWith('-'))
  .map(built)
const flags = process.argv.slice(2).filter((a) => a.startsWith('-'))
const files =
  given.length > 0
    ? given
    : readdirSync('build/test', { recursive: true })
        .filter((f) => f.endsWith('.test.js'))
        .map((f) => path.join('build/test', f))
        .sort()

mkdirSync('build', { recursive: true })
const log = createWriteStream('build/test.tap')
const child = spawn(
  'node_modules/.bin/tap',
  [
    'run',
    '--reporter=tap',
    '--disable-coverage',
    '--allow-incomplete-coverage',
    '--jobs=2',
    '--timeout=300',
    ...flags,
    ...files,
  ],
  { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, KEELSON_TEST_ETCD: etcd.found ? 'yes' : 'no' } },
)

// One line a file while it runs; failures in full at the end; the whole TAP stream in build/test.tap.
const totals = { passed: 0, failed: 0, skipped: 0 }
const failures = []
function count(parser, names) {
  parser.on('child', (sub) => count(sub, [...names, sub.name]))
  parser.on('assert', (result) => {
    if (result.skip || result.todo) totals.skipped++
    // A line that only sums up a child's assertions is not an assertion of its own.
    else if (parser.lastChildName === result.name) parser.lastChildName = undefined
    else if (result.ok) totals.passed++
    else {
      totals.failed++
      failures.push({ name: [...names, result.name].filter(Boolean).join(' > '), diag: result.diag })
    }
    if (names.length === 0)
      console.log(`${result.ok ? 'ok  ' : 'FAIL'} ${result.name}${result.skip ? ` # skipped ${result.skip}` : ''}`)
  })
  parser.on('child', (sub) => {
    parser.lastChildName = sub.name
  })
}
const parser = new Parser()
count(parser, [])
child.stdout.pipe(log)
child.stdout.pipe(parser)
child.on('exit', (code) => {
  parser.on('complete', () => report(code))
  if (parser.results) report(code)
})
let reported = false
function report(code) {
  if (reported) return
  reported = true
  for (const { name, diag } of failures) {
    console.log(`\nFAILED ${name}`)
    if (diag) console.log(JSON.stringify(diag, (_, v) => (typeof v === 'bigint' ? String(v) : v), 2))
  }
  if (code !== 0 && totals.failed === 0) totals.failed = 1
  console.log(
    `\n${totals.passed} passed, ${totals.failed} failed${totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''}`,
  )
  process.exitCode = totals.failed > 0 ? 1 : 0
}
