/** docs/benchmarks.md and its plots, from results. Never typed by hand. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Aim, judge, type Verdict } from './aims.js'
import { plotSvg } from './plot.js'
import { type Results, type Row, SCENARIOS, type Scenario } from './results.js'
import { short, show, TARGET_NAMES, whole } from './table.js'

const percent = (part: number): string => `${Math.round(part * 100)} %`

export async function writePage(results: Results, folder: string): Promise<void> {
  const plots = path.join(folder, 'benchmarks')
  mkdirSync(plots, { recursive: true })
  const drawn = Object.entries(PLOTS).flatMap(([name, plan]) => {
    const svg = draw(plan, results)
    if (svg === undefined) return []
    writeFileSync(path.join(plots, `${name}.svg`), svg)
    return [name]
  })
  const page = path.join(folder, 'benchmarks.md')
  writeFileSync(page, text(results, drawn))
  // In the form that the checks want.
  await promisify(execFile)('node_modules/.bin/biome', ['format', '--write', page])
}

interface PlotPlan {
  readonly title: string
  /** One: a group for each size; several: a group for each. */
  readonly scenarios: readonly Scenario[]
}

const PLOTS: Readonly<Record<string, PlotPlan>> = {
  get: { title: 'GET one pod, consistent', scenarios: ['get'] },
  'get-0': { title: 'GET one pod, resourceVersion=0', scenarios: ['get-0'] },
  list: { title: 'LIST all pods, consistent', scenarios: ['list'] },
  watch: { title: 'Events to watchers', scenarios: ['watch-200', 'watch-1000'] },
  create: { title: 'Create a ConfigMap', scenarios: ['create'] },
}

function draw({ title, scenarios }: PlotPlan, { rows }: Results): string | undefined {
  const shown = rows.filter(({ scenario }) => scenarios.includes(scenario))
  if (shown.length === 0) return undefined
  const groups = distinct(shown.map(({ scenario, size }) => `${scenario} ${size}`)).map((group) => {
    const [scenario, size] = group.split(' ') as [Scenario, string]
    const pods = `${whole(Number(size))} pods`
    return { scenario, size: Number(size), name: scenarios.length === 1 ? pods : `${SCENARIOS[scenario]}, ${pods}` }
  })
  return plotSvg({
    title,
    unit: 'a second, logarithmic',
    groups: groups.map(({ name }) => name),
    series: distinct(shown.map(({ target }) => target)).map((target) => ({
      name: TARGET_NAMES[target],
      values: groups.map(
        ({ scenario, size }) =>
          shown.find((row) => row.target === target && row.scenario === scenario && row.size === size)?.value,
      ),
    })),
  })
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)]

function text(results: Results, plots: readonly string[]): string {
  const { machine, generator, rows } = results
  const commits = distinct(rows.map(({ commit }) => commit))
  const days = distinct(rows.map(({ at }) => at.slice(0, 10)))
  const seconds = distinct(rows.map((row) => row.seconds))
  const loads = distinct(rows.map(({ loadBefore }) => loadBefore))
  const verdicts = judge(results)
  return `<!-- Written by \`npm run bench\` from bench/results/latest.json. Not to be edited. -->

# Benchmarks

${machine}; ${generator} as the generator, on the same cores; TLS; ${seconds.join(' and ')} s each; commit ${commits.join(', ')}, ${days.join(', ')};
load average before each run ${short(Math.min(...loads))}${loads.length > 1 ? ` to ${short(Math.max(...loads))}` : ''} (on an idle machine: 0).
Pods are 4 KB as they are read; watched ConfigMaps are some 500 bytes. "Processor" is the time of the whole server
process, all threads together, for one request or one event at one watcher. uWebSockets.js alone sends the same bytes with the
same certificate and does nothing else: it is the limit of this machine and this generator. [bench/README.md](../bench/README.md)
says how it is measured.

## What it means for the aims

The aims are multiples of what kube-apiserver v1.36.4 did on a machine with 2 cores on the same etcd, where uWebSockets.js alone did
57,000 GETs and 217 LISTs a second.

| work | kube-apiserver there | aim | measured here | reached | part of uWebSockets.js alone (aim) |${has(verdicts) ? ' times the other server |' : ''}
| --- | ---: | ---: | ---: | --- | ---: |${has(verdicts) ? ' ---: |' : ''}
${verdicts.map((verdict) => aimRow(verdict, has(verdicts))).join('\n')}

${conclusion(verdicts)}

${plots.map((name) => `![${PLOTS[name]!.title}](benchmarks/${name}.svg)`).join('\n\n')}

## Everything that was measured

| work | pods | server | measured | p50 | p99 | processor, each | answer |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |
${rows.map(resultRow).join('\n')}
`
}

const has = (verdicts: readonly Verdict[]): boolean => verdicts.some(({ ofPeer }) => ofPeer !== undefined)

const UNITS: Readonly<Partial<Record<Scenario, Row['unit']>>> = {
  memory: 'bytes',
  'definitions-memory': 'bytes',
  'custom-memory': 'bytes',
  ready: 'ms',
  definitions: 'ms',
  'custom-list': 'ms',
}

const unitOf = ({ scenario }: Aim): Row['unit'] => UNITS[scenario] ?? 'per second'

function aimRow({ aim, row, reached, part, ofPeer }: Verdict, withPeer: boolean): string {
  const unit = unitOf(aim)
  const cells = [
    aim.work,
    show({ value: aim.there, unit }),
    `${aim.below ? 'under ' : ''}${show({ value: aim.aim, unit })}`,
    row === undefined ? 'not measured' : show(row),
    row === undefined ? '–' : reached ? 'yes' : 'no',
    part === undefined ? '–' : `${percent(part.here)} (${percent(part.aim)})`,
    ...(withPeer ? [ofPeer === undefined ? '–' : `${short(ofPeer)}`] : []),
  ]
  return `| ${cells.join(' | ')} |`
}

/** In words, from the numbers alone. */
function conclusion(verdicts: readonly Verdict[]): string {
  const names = (chosen: readonly Verdict[]): string => chosen.map(({ aim }) => aim.work).join('; ')
  const measured = verdicts.filter(({ row }) => row !== undefined)
  const short = measured.filter(({ reached }) => !reached)
  const byPart = short.filter(({ part }) => part !== undefined && part.here >= part.aim)
  const sentences = [
    `Of ${verdicts.length} aims ${measured.length} were measured and ${measured.length - short.length} reached.`,
  ]
  if (short.length > 0) sentences.push(`Not reached: ${names(short)}.`)
  if (byPart.length > 0)
    sentences.push(
      `Of these, as a part of what uWebSockets.js alone does on this machine, the aim is reached for: ${names(byPart)}.`,
    )
  const missing = verdicts.filter(({ row }) => row === undefined)
  if (missing.length > 0) sentences.push(`Not measured: ${names(missing)}.`)
  sentences.push(
    'Client and server share the cores, and watchers are read by one Node process: on a small machine rates of watches say as much about it as about the server; the processor time does not.',
  )
  return sentences.join('\n')
}

function resultRow(row: Row): string {
  const ms = (value: number | undefined): string => (value === undefined ? '' : `${short(value)} ms`)
  const cells = [
    SCENARIOS[row.scenario],
    whole(row.size),
    TARGET_NAMES[row.target],
    show(row),
    ms(row.p50Ms),
    ms(row.p99Ms),
    row.processorMicroseconds === undefined ? '' : `${short(row.processorMicroseconds)} µs`,
    row.answerBytes === undefined ? '' : `${short(row.answerBytes / 1024)} KiB`,
  ]
  return `| ${cells.join(' | ')} |`
}
