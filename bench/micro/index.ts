/**
 * Question: what do the building blocks cost? Runs the micro benches one after another and prints one table.
 * Arguments choose some: `npm run bench:micro -- memory codec`.
 */
import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { run as apply } from './apply.js'
import { run as codec } from './codec.js'
import { run as embedded } from './embedded.js'
import { run as etcd } from './etcd.js'
import { run as memory } from './memory.js'
import { run as protobuf } from './protobuf.js'

interface Row {
  readonly name: string
  readonly figure: string
  readonly note?: string
}

const BENCHES: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  memory,
  codec,
  protobuf,
  apply,
  etcd,
  embedded,
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch (error) {
    return `unknown (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`
  }
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in BENCHES))
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
  process.exit(2)
}

console.log(`Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), commit ${commit()}\n`)
const rows: (Row & { readonly bench: string })[] = []
for (const [bench, run] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(bench)) continue
  process.stderr.write(`${bench}…\n`)
  try {
    for (const row of await run()) rows.push({ bench, ...row })
  } catch (error) {
    // A bench that cannot run here (no etcd) says so in the table; the others still count.
    rows.push({
      bench,
      name: 'could not run',
      figure: '–',
      note: error instanceof Error ? error.message : String(error),
    })
  }
}
const width = (of: (row: (typeof rows)[number]) => string): number => Math.max(...rows.map((row) => of(row).length))
const [benchWidth, nameWidth, figureWidth] = [width((r) => r.bench), width((r) => r.name), width((r) => r.figure)]
for (const row of rows) {
  console.log(
    `${row.bench.padEnd(benchWidth)}  ${row.name.padEnd(nameWidth)}  ${row.figure.padStart(figureWidth)}  ${row.note ?? ''}`.trimEnd(),
  )
}
// Worker threads of a bench must not keep the table from ending.
process.exit(0)
