/**
 * Question: what does the server do on this machine, beside uWebSockets.js alone with the same bytes and, if one is given,
 * beside another API server? Workload: 100 to 50,000 pods of 4 KB; GET, LIST, watch, creation, start, memory; over TLS, from
 * the same machine. Writes bench/results/latest.json, docs/benchmarks.md and its plots.
 * Run: `npm run bench`; `npm run bench -- --help` lists its arguments.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { hasWrk } from '../load/generator.js'
import { suiteArguments, USAGE } from './arguments.js'
import { writePage } from './page.js'
import { ResultsFile } from './results.js'
import { Run } from './run.js'
import { table } from './table.js'

// Certificates are made for the run.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
process.env['NODE_NO_WARNINGS'] = '1'
process.removeAllListeners('warning')

const given = suiteArguments(process.argv.slice(2))
if ('errors' in given) {
  for (const error of given.errors) console.error(`bench: ${error}`)
  console.error('bench: see --help for all arguments')
  process.exit(2)
}
if (given.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}

const file = new ResultsFile('bench/results/latest.json')
const generator = hasWrk ? 'wrk' : 'autocannon'
if (!given.pageOnly) {
  // A part of everything goes beside what is there; everything stands alone.
  if (given.whole && !given.resume) file.clear()
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-bench-'))
  const run = new Run({
    ...given,
    folder,
    peer: given.peer === undefined ? undefined : { ...given.peer, process: undefined },
    // Each as it comes: what a run that breaks off has measured stays.
    known: given.resume ? file.measuredNow() : [],
    onRows: (rows) => void file.merge(rows, generator),
  })
  try {
    // What failed is said at once, and what follows is measured nevertheless.
    if (!(await run.all())) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const results = file.read()
if (results === undefined) throw new Error(`${file.path} is not there: nothing has been measured`)
console.log(table(results))
await writePage(results, 'docs')
