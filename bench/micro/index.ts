/**
 * Question: what do the building blocks cost? Runs the micro benches one after another and prints one table.
 * Arguments choose some: `npm run bench:micro -- memory codec`.
 */
import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { run as access } from './access.js'
import { run as apply } from './apply.js'
import { run as codec } from './codec.js'
import { run as customObjects } from './custom-objects.js'
import { run as embedded } from './embedded.js'
import { run as etcd } from './etcd.js'
import { run as expressions } from './expressions.js'
import { run as flowControl } from './flow-control.js'
import { run as memory } from './memory.js'
import { run as policies } from './policies.js'
import { run as protobuf } from './protobuf.js'
import { run as writes } from './writes.js'

interface Row {
  readonly name: string
  readonly figure: string
  readonly note?: string
}

const BENCHES: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  memory,
  codec,
  protobuf,
  access,
  apply,
  'custom-objects': customObjects,
  expressions,
  'flow-control': flowControl,
  policies,
  writes,
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

/** A table a bench, as soon as it is done: what follows may take minutes. */
function print(bench: string, rows: readonly Row[]): void {
  const nameWidth = Math.max(...rows.map((row) => row.name.length))
  const figureWidth = Math.max(...rows.map((row) => row.figure.length))
  console.log(bench)
  for (const { name, figure, note } of rows) {
    console.log(`  ${name.padEnd(nameWidth)}  ${figure.padStart(figureWidth)}  ${note ?? ''}`.trimEnd())
  }
}

// A bench may wait for what keeps no loop alive by itself.
const alive = setInterval(() => undefined, 1000)
for (const [bench, run] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(bench)) continue
  process.stderr.write(`${bench}…\n`)
  try {
    print(bench, await run())
  } catch (error) {
    // A bench that cannot run here (no etcd) says so; the others still count.
    print(bench, [{ name: 'could not run', figure: '–', note: error instanceof Error ? error.message : String(error) }])
  }
}
clearInterval(alive)
// Worker threads of a bench must not keep the table from ending.
process.exit(0)
