/** kube-apiserver's recorded answers, where this machine has them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { isObject } from '#keelson/workers/endpoints/patch/json-tree.js'

const FOLDER = ['../shared/conformance', '../../shared/conformance'].find((folder) =>
  existsSync(path.join(folder, 'golden')),
)

export const hasRecordedAnswers = FOLDER !== undefined

export interface RecordedWrite {
  readonly suite: string
  readonly id: string
  readonly method: 'POST' | 'PUT' | 'PATCH'
  /** Without its query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly mediaType: string
  readonly body: Json
  readonly status: number
  readonly answer: JsonObject
}

type Step = { id: string; method?: string; path: string; headers?: Record<string, string>; body?: Json }
type Golden = { id: string; status: number; body?: Json }

/** Writes with a JSON body and an answer, suite by suite. */
export function recordedWrites(match: RegExp): RecordedWrite[] {
  if (FOLDER === undefined) return []
  const suites = readdirSync(path.join(FOLDER, 'suites'))
    .filter((file) => match.test(file))
    .sort()
  return suites.flatMap((file) => readSuite(FOLDER, file))
}

function readSuite(folder: string, file: string): RecordedWrite[] {
  const read = (kind: string): unknown => JSON.parse(readFileSync(path.join(folder, kind, file), 'utf8'))
  const { steps } = read('suites') as { steps: Step[] }
  const answers = new Map((read('golden') as Golden[]).map((golden) => [golden.id, golden]))
  return steps.flatMap((step) => {
    const golden = answers.get(step.id)
    const { method } = step
    if (method !== 'POST' && method !== 'PUT' && method !== 'PATCH') return []
    if (step.body === undefined || golden === undefined || !isObject(golden.body)) return []
    const [bare, query] = step.path.split('?', 2)
    return {
      suite: file.replace('.json', ''),
      id: step.id,
      method,
      path: bare!,
      query: new URLSearchParams(query),
      mediaType: step.headers?.['content-type'] ?? 'application/json',
      body: step.body,
      status: golden.status,
      answer: golden.body,
    }
  })
}
