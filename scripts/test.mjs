// Runs the built tests and ends with one line: N passed, N failed.
// Arguments: files under test/ (source names are mapped to the build); none: every *.test.ts, or with --long every *.long.ts,
// which is what takes longer than a change may wait for.
// Each file is a TAP program of its own. tap's runner is not used: its loaders cost 1.5 s of processor a file.
import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
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

// Long files first, so that none is left running alone at the end.
const HEAVY = ['attack', 'crash', 'integration', 'fuzz', 'contract', 'storage']
const weight = (file) => HEAVY.indexOf(file.split(path.sep)[2] ?? '')
function heavyFirst(a, b) {
  const [left, right] = [a, b].map((file) => (weight(file) < 0 ? HEAVY.length : weight(file)))
  return left - right || (a < b ? -1 : 1)
}

const long = process.argv.includes('--long')
const suffix = long ? '.long.js' : '.test.js'
const built = (file) => file.replace(/^test\//, 'build/test/').replace(/\.ts$/, '.js')
const given = process.argv
  .slice(2)
  .filter((a) => !a.startsWith('-'))
  .map(built)
const files =
  given.length > 0
    ? given
    : readdirSync('build/test', { recursive: true })
        .filter((f) => f.endsWith(suffix))
        .map((f) => path.join('build/test', f))
        .sort(heavyFirst)

mkdirSync('build', { recursive: true })
const log = createWriteStream('build/test.tap')
const totals = { passed: 0, failed: 0, skipped: 0 }
const failures = []
/** Files that failed beside others: they run once more, alone. */
const again = []

function count(parser, names, tally) {
  let lastChild
  parser.on('child', (sub) => {
    lastChild = sub.name
    count(sub, [...names, sub.name], tally)
  })
  parser.on('assert', (result) => {
    if (result.skip || result.todo) tally.skipped++
    // A line that only sums up a child's assertions is not an assertion of its own.
    else if (lastChild === result.name) lastChild = undefined
    else if (result.ok) tally.passed++
    else {
      tally.failed++
      tally.failures.push({ name: [...names, result.name].filter(Boolean).join(' > '), diag: result.diag })
    }
  })
}

/** A file that hangs says so by being killed. */
const FILE_TIMEOUT_MS = long ? 3_600_000 : 420_000

/** Counts what a file said towards the whole. */
function add(tally) {
  for (const key of Object.keys(totals)) totals[key] += tally[key]
  failures.push(...tally.failures)
}

/** Runs a file; one that fails while it `mayRunAgain` is kept for later instead of being counted. */
function runFile(file, mayRunAgain) {
  const name = file.replace(/^build\/test\//, '').replace(/\.js$/, '')
  const started = Date.now()
  const tally = { passed: 0, failed: 0, skipped: 0, failures: [] }
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--enable-source-maps', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // tap gives a test 30 s unless told; a busy machine may need them all.
      env: {
        ...process.env,
        TAP: '1',
        TAP_TIMEOUT: String(FILE_TIMEOUT_MS / 1000),
        KEELSON_TEST_ETCD: etcd.found ? 'yes' : 'no',
      },
    })
    const parser = new Parser()
    const errors = []
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, FILE_TIMEOUT_MS)
    count(parser, [name], tally)
    log.write(`# ${name}\n`)
    child.stdout.on('data', (chunk) => log.write(chunk))
    child.stdout.pipe(parser)
    child.stderr.on('data', (chunk) => errors.push(chunk))
    const ended = new Promise((resolve) => child.on('close', (exit, signal) => resolve(exit ?? signal)))
    parser.on('complete', async (results) => {
      const code = await ended
      clearTimeout(timer)
      const broken = code !== 0 || !results.ok
      if (broken && tally.failed === 0) {
        tally.failed++
        const said = Buffer.concat(errors).toString().slice(-4000)
        tally.failures.push({ name, diag: { exit: code, timedOut, said } })
      }
      const bad = broken || tally.failed > 0
      if (bad && mayRunAgain) again.push({ file, name, failures: tally.failures })
      else add(tally)
      console.log(`${bad ? 'FAIL' : 'ok  '} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
      resolve()
    })
  })
}

const waiting = [...files]
async function runNext() {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await runFile(file, true)
}
// One more than there are cores: most files wait for their servers half of their time.
await Promise.all(Array.from({ length: availableParallelism() + 1 }, runNext))

// A file that failed beside others runs once more alone. What fails there too has failed; what holds there is said below as
// unsteady with what it had failed on, because it is a defect all the same: of the product, or of the test. More than a few
// such files are no accident and are not run again.
const MOST_AGAIN = 3
const unsteady = []
for (const { file, name, failures: first } of again) {
  if (again.length > MOST_AGAIN) failures.push(...first)
  else {
    const failedBefore = failures.length
    await runFile(file, false)
    if (failures.length === failedBefore) unsteady.push({ name, failures: first })
  }
}
if (again.length > MOST_AGAIN) totals.failed += failures.length

function show(word, { name, diag }) {
  console.log(`\n${word} ${name}`)
  if (diag) console.log(JSON.stringify(diag, (_, v) => (typeof v === 'bigint' ? String(v) : v), 2))
}
for (const { name, failures: first } of unsteady) {
  console.log(`\nUNSTEADY ${name}: it failed beside others and held alone`)
  for (const failure of first) show('HAD FAILED', failure)
}
for (const failure of failures) show('FAILED', failure)
console.log(
  `\n${totals.passed} passed, ${totals.failed} failed${totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''}`,
)
process.exitCode = totals.failed > 0 ? 1 : 0
