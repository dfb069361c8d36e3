/**
 * Makes test/recordings out of a folder of recorded answers (suites/NAME.json and golden/NAME.json) and, beside it, of test data
 * and facts. What the recorded server said in its own words is left out: its status, kinds, reasons, fields and values stay.
 * As a script: node scripts/import-recordings.mjs ../shared/conformance
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Edit, edited, editsBetween, type Json } from './edits.js'
import {
  type AnswerLine,
  type Like,
  MOMENT,
  RECORDINGS,
  readSuite,
  type StepLine,
  type SuiteLine,
} from './recording.js'
import { textsOf, withoutWords } from './words.js'

interface SourceStep {
  readonly id?: string
  readonly method?: string
  readonly path?: string
  readonly body?: Json
  readonly [other: string]: unknown
}

type SourceSuite = SuiteLine & { readonly steps: readonly SourceStep[] }

interface SourceAnswer {
  readonly id: string
  readonly status: number
  readonly contentType?: string
  readonly body?: Json
  readonly events?: Json[]
  readonly warnings?: readonly string[]
  readonly [other: string]: unknown
}

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T

/** Earlier bodies that a body may be like: the first ones of a suite and the ones just before. */
const FIRST_BODIES = 8
const LAST_BODIES = 16

/** Bodies of one suite, each written as edits of an earlier one where that is shorter. */
class Bodies {
  readonly #seen: { readonly line: number; readonly body: Json }[] = []
  /** Fields of requests stay in their order; answers have theirs sorted. */
  readonly #ordered: boolean

  constructor({ ordered }: { readonly ordered: boolean }) {
    this.#ordered = ordered
  }

  add(line: number, body: Json): { readonly body: Json } | { readonly bodyLike: Like } {
    let best: Like | undefined
    let bestLength = JSON.stringify(body).length
    for (const { line: other, body: from } of this.#candidates()) {
      const edits: Edit[] = editsBetween(from, body)
      const length = JSON.stringify(edits).length + 12
      if (length >= bestLength || (this.#ordered && !this.#same(edited(from, edits), body))) continue
      best = [other, ...edits]
      bestLength = length
    }
    this.#seen.push({ line, body })
    return best === undefined ? { body } : { bodyLike: best }
  }

  #candidates(): readonly { readonly line: number; readonly body: Json }[] {
    if (this.#seen.length <= FIRST_BODIES + LAST_BODIES) return this.#seen
    return [...this.#seen.slice(0, FIRST_BODIES), ...this.#seen.slice(-LAST_BODIES)]
  }

  #same(a: Json, b: Json): boolean {
    return JSON.stringify(a) === JSON.stringify(b)
  }
}

/**
 * Taints of devices are given the time at which they came. The recorded server took two edits in the second of the create, in
 * which such an edit changes nothing but what it says; all others came later. So the replay waits, and of these two answers
 * the generation is not kept.
 */
const OF_ITS_SECOND = 'edit-resource.k8s.io.v1.resourceslices'
const FIRST_EDITS = ['metadata.annotations.example.com/note:empty', 'metadata.annotations.example.com/note:upper']

function inAnotherSecond(name: string, suite: SourceSuite): SourceSuite {
  if (name !== OF_ITS_SECOND) return suite
  const steps = suite.steps.map((step) => (step.id === FIRST_EDITS[0] ? { ...step, sleepMs: 1100 } : step))
  return { ...suite, steps }
}

function anySecond(name: string, answers: readonly SourceAnswer[]): readonly SourceAnswer[] {
  if (name !== OF_ITS_SECOND) return answers
  return answers.map((answer) =>
    FIRST_EDITS.includes(answer.id)
      ? { ...answer, body: edited(answer.body ?? null, [['/metadata/generation', MOMENT]]) }
      : answer,
  )
}

/** The lines of a suite. */
function suiteLines(suite: SourceSuite, answers: readonly SourceAnswer[]): string[] {
  const { steps, ...head } = suite
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  if (byId.size !== answers.length) throw new Error('two answers have the same id')
  const own = textsOf({ steps, replies: head.replies ?? null } as unknown as Json)
  const sent = new Bodies({ ordered: true })
  const answered = new Bodies({ ordered: false })
  const lines = [JSON.stringify(head)]
  let before = ''
  for (const { method = 'GET', path: where = '', body, ...rest } of steps) {
    const line = lines.length + 1
    const what = `${method} ${where}`
    const answer = rest.cleanup === true || rest['await'] !== undefined ? undefined : byId.get(rest.id ?? '')
    const { id, ...others } = rest
    const made: StepLine = {
      ...(id === undefined ? {} : { id }),
      ...(what === before ? {} : { do: what }),
      ...(others as Omit<StepLine, 'want'>),
      ...(body === undefined ? {} : sent.add(line, body)),
      ...(answer === undefined ? {} : { want: answerLine(line, answer, own, answered) }),
    }
    before = what
    lines.push(JSON.stringify(made))
  }
  return lines
}

function answerLine(line: number, answer: SourceAnswer, own: ReadonlySet<string>, answered: Bodies): AnswerLine {
  const { id: _, contentType, warnings, body, events, ...rest } = answer
  const kept = body === undefined ? {} : answered.add(line, withoutWords(body, own))
  const message = String((body as { message?: string } | undefined)?.message ?? '')
  return {
    ...rest,
    ...(contentType === 'application/json' || contentType === undefined ? {} : { contentType }),
    ...(warnings === undefined ? {} : { warnings: warnings.length }),
    ...kept,
    ...(events === undefined ? {} : { events: events.map((event) => withoutWords(event, own)) }),
    ...decodingFacts(answer.status, message),
  }
}

/** What a refusal says about decoding, as facts. */
function decodingFacts(status: number, message: string): Pick<AnswerLine, 'undecodable' | 'strict'> {
  if (status !== 400) return {}
  const found = /strict decoding error: (.*)/s.exec(message)?.[1]
  if (found === undefined) return message.includes('cannot be handled as') ? { undecodable: true } : {}
  const strict = [...found.matchAll(/(unknown|duplicate) field "((?:[^"\\]|\\.)*)"/g)].map(
    (one) => `${one[1]} ${one[2]}`,
  )
  return { strict }
}

/** What was written must read back as what was recorded, the words apart. */
function verify(name: string, lines: readonly string[], suite: SourceSuite, answers: readonly SourceAnswer[]): void {
  const read = readSuite(name, lines.join('\n'))
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  const own = textsOf({ steps: suite.steps, replies: suite.replies ?? null } as unknown as Json)
  let seen = 0
  for (const [i, step] of suite.steps.entries()) {
    const mine = read.steps[i]
    if (JSON.stringify(mine?.body) !== JSON.stringify(step.body)) throw new Error(`${name} ${step.id}: another request`)
    if (mine?.want === undefined) continue
    seen++
    const want = byId.get(step.id ?? '')?.body
    const body = want === undefined ? undefined : withoutWords(want, own)
    if (editsBetween(mine.want.body ?? null, body ?? null).length > 0)
      throw new Error(`${name} ${step.id}: another answer`)
  }
  if (seen !== answers.length) throw new Error(`${name}: ${seen} of ${answers.length} answers were kept`)
}

/** One object of every type with every field set; of the protobuf only its hash, which says as much. */
function roundTripLines(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const protobuf = readFileSync(path.join(folder, file.replace(/json$/, 'pb')))
      const sha256 = createHash('sha256').update(protobuf).digest('hex')
      return JSON.stringify({
        name: file.replace(/\.json$/, ''),
        sha256,
        object: readJson<Json>(path.join(folder, file)),
      })
    })
}

interface MetricFact {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[] | null
}

const metricLine = ({ name, type, labels, buckets }: MetricFact): string =>
  JSON.stringify({ name, type, labels, ...(buckets === undefined || buckets === null ? {} : { buckets }) })

/** One fact a line, so that a change shows as a line: the definitions, the paths, and the tables that paths point into. */
function openApiLines(facts: Record<string, Record<string, Json>>): string[] {
  const { definitions = {}, paths = {}, gvk = [], query = [], consumes = [], produces = [] } = facts
  return [
    JSON.stringify({ tables: { gvk, query, consumes, produces } }),
    ...Object.entries(definitions).map(([definition, fact]) => JSON.stringify({ definition, fact })),
    ...Object.entries(paths).map(([where, fact]) => JSON.stringify({ path: where, fact })),
  ]
}

function write(file: string, lines: readonly string[]): number {
  const text = `${lines.join('\n')}\n`
  writeFileSync(path.join(RECORDINGS, file), text)
  return Buffer.byteLength(text)
}

export function importRecordings(conformance: string): void {
  const shared = path.dirname(path.resolve(conformance))
  let bytes = 0
  let answered = 0
  rmSync(path.join(RECORDINGS, 'suites'), { recursive: true, force: true })
  for (const folder of ['suites', 'facts']) mkdirSync(path.join(RECORDINGS, folder), { recursive: true })
  const names = readdirSync(path.join(conformance, 'suites')).map((file) => file.replace(/\.json$/, ''))
  for (const name of names.sort()) {
    const suite = inAnotherSecond(name, readJson<SourceSuite>(path.join(conformance, 'suites', `${name}.json`)))
    const answers = anySecond(name, readJson<SourceAnswer[]>(path.join(conformance, 'golden', `${name}.json`)))
    const lines = suiteLines(suite, answers)
    verify(name, lines, suite, answers)
    answered += answers.length
    bytes += write(`suites/${name}.jsonl`, lines)
  }
  console.log(`${answered} answers of ${names.length} suites: ${bytes} bytes`)
  const rest = {
    'stored-objects.jsonl': readFileSync(path.join(shared, 'testdata/stored-objects.jsonl'), 'utf8')
      .trimEnd()
      .split('\n'),
    'round-trip.jsonl': roundTripLines(path.join(shared, 'testdata/api-roundtrip')),
    'facts/metrics.jsonl': readJson<{ metrics: MetricFact[] }>(path.join(shared, 'facts/metrics.json')).metrics.map(
      metricLine,
    ),
    'facts/openapi.jsonl': openApiLines(readJson(path.join(shared, 'facts/openapi_facts.json'))),
  }
  for (const [file, lines] of Object.entries(rest)) console.log(`${file}: ${write(file, lines)} bytes`)
}
