/** docs/benchmarks.md and its plots, from results. Never typed by hand. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { AIM_SIZE, judge, type Machine, machineOf, THERE, type Verdict } from './aims.js'
import { plotSvg } from './plot.js'
import { type Results, type Row, SCENARIOS, type Scenario, type TargetName } from './results.js'
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
  const withPeer = verdicts.some(({ ofPeer }) => ofPeer !== undefined)
  return `<!-- Written by \`npm run bench\` from bench/results/latest.json. Not to be edited. -->

# Benchmarks

${machine}; ${generator} as the generator, on the same cores; TLS; ${seconds.join(' and ')} s each; commit ${commits.join(', ')}, ${days.join(', ')};
load average before each run ${short(Math.min(...loads))}${loads.length > 1 ? ` to ${short(Math.max(...loads))}` : ''} (on an idle machine: 0).
Pods are 4 KB as they are read; watched ConfigMaps are some 500 bytes. "Processor" is the time of the whole server
process, all threads together, for one request or one event at one watcher. uWebSockets.js alone sends the same bytes with the
same certificate and does nothing else: it is the limit of this machine and this generator. [bench/README.md](../bench/README.md)
says how it is measured.

## What it means for the aims

kube-apiserver v1.36.4 was measured on an idle machine with 2 cores, where uWebSockets.js alone answered ${whole(THERE.gets)} GETs and
${whole(THERE.lists)} LISTs a second. ${machineSentence(machineOf(results))} Reads are judged as parts of uWebSockets.js alone; other rates and
times against the aim as it is for this machine ("here"); memory as it is.

| work | kube-apiserver there | aim there | measured here | aim here | reached | times kube-apiserver |${withPeer ? ' times the other server |' : ''}
| --- | ---: | ---: | ---: | ---: | --- | ---: |${withPeer ? ' ---: |' : ''}
${verdicts.map((verdict) => aimRow(verdict, withPeer)).join('\n')}

${conclusion(verdicts)}

${plots.map((name) => `![${PLOTS[name]!.title}](benchmarks/${name}.svg)`).join('\n\n')}

${engines(results)}## Everything that was measured

| work | pods | server | measured | p50 | p99 | processor, each | answer |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |
${rows.map(resultRow).join('\n')}
`
}

const machineSentence = (machine: Machine | undefined): string =>
  machine === undefined
    ? 'What it answers here was not measured: aims stand as they are there.'
    : `Here it answers ${percent(machine.speed)} of these GETs, and each takes ${short(machine.slowness)} times the processor.`

const times = (value: number | undefined): string => (value === undefined ? '–' : value.toFixed(value < 10 ? 1 : 0))

function aimRow({ aim, measured, here, part, reached, ofThere, ofPeer }: Verdict, withPeer: boolean): string {
  const { unit } = aim
  const told = (value: number): string => show({ value, unit })
  const cells = [
    aim.work,
    aim.there === undefined ? '–' : told(aim.there),
    aim.part === undefined
      ? `${aim.below ? 'under ' : ''}${told(aim.aim)}`
      : `${told(aim.aim)}, ${percent(aim.part)} of bare`,
    measured === undefined
      ? 'not measured'
      : `${told(measured)}${part === undefined ? '' : `, ${percent(part)} of bare`}`,
    here === undefined ? `${percent(aim.part ?? 0)} of bare` : `${aim.below ? 'under ' : ''}${told(here)}`,
    measured === undefined ? '–' : reached ? 'yes' : 'no',
    times(ofThere),
    ...(withPeer ? [times(ofPeer)] : []),
  ]
  return `| ${cells.join(' | ')} |`
}

const ENGINES: readonly (readonly [name: string, get: Scenario, list: Scenario, target: TargetName])[] = [
  ['uWebSockets.js, HTTP/1.1 (`--http-engine=uws`)', 'get', 'list', 'keelson'],
  ["Node's own, HTTP/1.1 (`--http-engine=node`)", 'get-node', 'list-node', 'keelson'],
  ["Node's own, HTTP/2, 32 GETs or 8 LISTs at a time", 'get-node-http2', 'list-node-http2', 'keelson'],
  ['uWebSockets.js alone', 'get', 'list', 'bare'],
]

/** The engines that speak HTTP beside each other, with the embedded storage. */
function engines({ rows }: Results): string {
  const find = (scenario: Scenario, target: TargetName): Row | undefined =>
    rows.find((row) => row.scenario === scenario && row.size === AIM_SIZE && row.target === target)
  if (find('get-node', 'keelson') === undefined) return ''
  const cell = (row: Row | undefined, bare: Row | undefined): string => {
    if (row === undefined) return 'not measured | –'
    const ofBare = bare === undefined ? '' : `, ${percent(row.value / bare.value)} of bare`
    return `${show(row)}${ofBare} | ${show({ value: row.processorMicroseconds ?? Number.NaN, unit: 'us' })}`
  }
  const lines = ENGINES.map(([name, get, list, target]) =>
    [name, cell(find(get, target), find('get', 'bare')), cell(find(list, target), find('list', 'bare'))].join(' | '),
  )
  return `## HTTP engines

${whole(AIM_SIZE)} pods, embedded; GET of one, consistent, and LIST of all.

| engine | GET | processor | LIST | processor |
| --- | ---: | ---: | ---: | ---: |
${lines.map((line) => `| ${line} |`).join('\n')}

`
}

/** In words, from the numbers alone. */
function conclusion(verdicts: readonly Verdict[]): string {
  const names = (chosen: readonly Verdict[]): string => chosen.map(({ aim }) => aim.work).join('; ')
  const measured = verdicts.filter((verdict) => verdict.measured !== undefined)
  const short = measured.filter(({ reached }) => !reached)
  const sentences = [
    `Of ${verdicts.length} aims ${measured.length} were measured and ${measured.length - short.length} reached.`,
  ]
  if (short.length > 0) sentences.push(`Not reached: ${names(short)}.`)
  const missing = verdicts.filter((verdict) => verdict.measured === undefined)
  if (missing.length > 0) sentences.push(`Not measured: ${names(missing)}.`)
  sentences.push(
    'Client and server share the cores: on a small machine rates say as much about the client as about the server; the processor time does not.',
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
