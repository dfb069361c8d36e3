/**
 * Question: which Node runs the server best? Workload: pods of 4 KB created over 16 connections from the first request after a start on,
 * the first and the fourth thousand, then GET of one of them, consistent, over HTTP/1.1 with 32 connections; everything over TLS, with the
 * engine for HTTP that `auto` takes. The server alone runs under each Node, the clients always under this one; the Nodes take turns.
 * Run: `npm run bench:nodes -- --nodes 20=/path/to/20/node,24=/path/to/24/node --rounds 3`. Wants wrk.
 */
import { rmSync } from 'node:fs'
import path from 'node:path'
import { benchFolder, benchOptions } from '../command-line.js'
import { generate } from '../load/generator.js'
import { coldFigures } from '../suite/cold.js'
import { processorSeconds, type StartedKeelson, startKeelson } from '../suite/servers.js'
import { ONE_POD } from '../suite/workload.js'

const values = benchOptions('bench:nodes', {
  nodes: { about: 'list of NAME=BINARY', preset: `${process.versions.node}=${process.execPath}` },
  rounds: { about: 'of everything', preset: '3' },
  seconds: { about: 'of counted GETs; half as many are sent before', preset: '2' },
  limit: { about: 'no further server is started after as many seconds', preset: '600' },
  flags: { about: 'further flags of the server', preset: '' },
})
const GET_CONNECTIONS = 32
const SECONDS = Number(values.seconds)
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'

interface Work {
  readonly perSecond: number
  readonly microseconds: number
}

interface Figures {
  readonly readyMs: number
  readonly firstMs: number
  readonly cold: Work
  readonly warm: Work
  readonly get: Work
}

async function measureGets(keelson: StartedKeelson, folder: string): Promise<Work> {
  const load = { url: `${keelson.url}${ONE_POD}`, connections: GET_CONNECTIONS, token: keelson.token }
  await generate({ ...load, seconds: Math.ceil(SECONDS / 2) }, folder)
  const before = processorSeconds(keelson.process) ?? Number.NaN
  const { total, failed, perSecond } = await generate({ ...load, seconds: SECONDS }, folder)
  if (failed > 0) throw new Error(`${failed} GETs failed`)
  const used = (processorSeconds(keelson.process) ?? Number.NaN) - before
  return { perSecond, microseconds: (used / total) * 1e6 }
}

async function measure(node: string): Promise<Figures> {
  const folder = benchFolder('nodes-bench')
  try {
    const flags = ['--data-dir', path.join(folder, 'data'), ...values.flags.split(' ').filter((flag) => flag !== '')]
    let get: Work = { perSecond: Number.NaN, microseconds: Number.NaN }
    const { readyMs, firstMs, thousands } = await coldFigures(
      () => startKeelson(folder, flags, '.', node),
      async (keelson) => {
        get = await measureGets(keelson, folder)
      },
    )
    const work = (index: number): Work => {
      const { perSecond, microseconds = Number.NaN } = thousands.at(index)!
      return { perSecond, microseconds }
    }
    return { readyMs, firstMs, cold: work(0), warm: work(-1), get }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const nodes = values.nodes.split(',').map((named) => named.split('=') as [string, string])
const rows = new Map<string, Figures[]>(nodes.map(([name]) => [name, []]))
for (let round = 0; round < Number(values.rounds); round++)
  for (const [name, node] of nodes)
    if (performance.now() < Number(values.limit) * 1000) {
      const figures = await measure(node)
      rows.get(name)!.push(figures)
      console.log(name, JSON.stringify(figures))
    }

/** The middle, and from the least to the most. */
function spread(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b).map((number) => number.toFixed(0))
  return `${sorted[Math.floor(sorted.length / 2)]} (${sorted[0]} to ${sorted.at(-1)})`
}
const columns: readonly (readonly [string, (figures: Figures) => number])[] = [
  ['serves after ms', ({ readyMs }) => readyMs],
  ['first creation ms', ({ firstMs }) => firstMs],
  ['first 1,000, µs each', ({ cold }) => cold.microseconds],
  ['a second', ({ cold }) => cold.perSecond],
  ['fourth 1,000, µs each', ({ warm }) => warm.microseconds],
  ['a second', ({ warm }) => warm.perSecond],
  ['GET, µs each', ({ get }) => get.microseconds],
  ['a second', ({ get }) => get.perSecond],
]
console.log(`\n| Node | runs | ${columns.map(([title]) => title).join(' | ')} |`)
for (const [name, figures] of rows)
  console.log(`| ${name} | ${figures.length} | ${columns.map(([, of]) => spread(figures.map(of))).join(' | ')} |`)
