/**
 * Question: what does the server do on this machine, beside uWebSockets.js alone with the same bytes and, if one is given,
 * beside another API server? Workload: 100 to 50,000 pods of 4 KB; GET, LIST, watch, creation, start, memory; over TLS, from
 * the same machine. Writes bench/results/latest.json, docs/benchmarks.md and its plots.
 * Run: `npm run bench`. Arguments: `--sizes 100,1000 --seconds 3 --only get,list,watch,create,start,memory
 * --storage embedded,etcd --flags=--front-ends=2 --peer https://host:port --peer-token T`; `--page` only writes the page anew.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { hasWrk } from '../load/generator.js'
import { writePage } from './page.js'
import { ResultsFile } from './results.js'
import { Run } from './run.js'
import { table } from './table.js'

// Certificates are made for the run.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
process.env['NODE_NO_WARNINGS'] = '1'
process.removeAllListeners('warning')

const PARTS = ['start', 'get', 'list', 'watch', 'create', 'memory']
const SIZES = '100,1000,10000,50000'
const STORAGE = 'embedded,etcd'
const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: SIZES },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string', default: PARTS.join(',') },
    storage: { type: 'string', default: STORAGE },
    flags: { type: 'string', default: '' },
    peer: { type: 'string', default: '' },
    'peer-token': { type: 'string', default: '' },
    page: { type: 'boolean', default: false },
  },
})
const list = (text: string): string[] => text.split(',').filter((item) => item !== '')
const sizes = list(values.sizes).map(Number)
const unknown = list(values.only).filter((part) => !PARTS.includes(part))
if (sizes.some((size) => !Number.isInteger(size) || size < 1)) throw new Error(`--sizes ${values.sizes}: whole numbers`)
if (!(Number(values.seconds) >= 1)) throw new Error(`--seconds ${values.seconds}: at least 1`)
if (unknown.length > 0) throw new Error(`--only ${unknown.join(',')}: there are ${PARTS.join(', ')}`)

const file = new ResultsFile('bench/results/latest.json')
const generator = hasWrk ? 'wrk' : 'autocannon'
if (!values.page) {
  // A part of everything goes beside what is there; everything stands alone.
  const whole = values.sizes === SIZES && values.only === PARTS.join(',') && values.storage === STORAGE
  if (whole) file.clear()
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-bench-'))
  const run = new Run({
    folder,
    sizes: [...sizes].sort((a, b) => a - b),
    seconds: Math.round(Number(values.seconds)),
    only: new Set(list(values.only)),
    storage: new Set(list(values.storage)),
    flags: values.flags.split(' ').filter((flag) => flag !== ''),
    peer: values.peer === '' ? undefined : { url: values.peer, token: values['peer-token'], process: undefined },
    // Each as it comes: what a run that breaks off has measured stays.
    onRows: (rows) => void file.merge(rows, generator),
  })
  try {
    await run.all()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const results = file.read()
if (results === undefined) throw new Error(`${file.path} is not there: nothing has been measured`)
console.log(table(results))
await writePage(results, 'docs')
