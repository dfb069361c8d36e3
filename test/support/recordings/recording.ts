/**
 * The recorded answers that a clone carries (test/recordings, its README says how they are written): suites of requests and
 * what kube-apiserver answered to each, read back into whole requests and answers.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Edit, edited, type Json } from './edits.js'

export const RECORDINGS = 'test/recordings'
const SUITES = path.join(RECORDINGS, 'suites')

/** Stands where the recorded server spoke in its own words; a server may say there what it likes, or nothing. */
export const WORDS = '<words>'

/** Stands where the answer depends on the moment at which it is asked for. */
export const MOMENT = '<moment>'

/** One request and, unless it is `cleanup`, its answer. `${ns}` and other names in braces are variables. */
export interface RecordedStep {
  readonly id?: string
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: Json
  readonly rawBody?: string
  /** The raw body is base64. */
  readonly rawBase64?: boolean
  readonly repeatBody?: { readonly head: string; readonly unit: string; readonly times: number; readonly tail: string }
  /** Played, but no answer is kept. */
  readonly cleanup?: boolean
  /** Asked again until it answers with this status, so many times. */
  readonly until?: number
  readonly tries?: number
  readonly sleepMs?: number
  /** Variables that come out of the answer, by the dotted path of their field. */
  readonly save?: Readonly<Record<string, string>>
  readonly watch?: { readonly events: number; readonly timeoutMs?: number; readonly unordered?: boolean }
  /** Sent without waiting for its answer, which a later step with `await` takes; the next step comes so many ms later. */
  readonly background?: number
  readonly await?: string
  /** Only whether there is a body is compared. */
  readonly opaque?: boolean
  readonly keepHeaders?: readonly string[]
  /** Texts of the suite's own that the message must hold. */
  readonly messageHas?: readonly string[]
  readonly warningTails?: boolean
  readonly hookLog?: Json
  readonly want?: RecordedAnswer
}

export interface RecordedAnswer {
  readonly status: number
  readonly contentType: string
  /** How many warnings there were. */
  readonly warnings: number
  readonly body?: Json
  readonly events?: readonly Json[]
  readonly magic?: string
  readonly headers?: Readonly<Record<string, string | null>>
  readonly messageHas?: readonly string[]
  readonly warningTails?: readonly string[]
  /** The decoder refused the body. */
  readonly undecodable?: boolean
  /** What strict decoding found: "unknown a.b" and "duplicate c". */
  readonly strict?: readonly string[]
}

export interface RecordedSuite {
  readonly name: string
  readonly description: string
  readonly namespaces: readonly string[]
  readonly webhooks: boolean
  readonly replies?: Json
  readonly steps: readonly RecordedStep[]
}

/** A body as it is kept: whole, or edits of the one at a line of the same file. */
export type Like = [line: number, ...edits: Edit[]]

export interface SuiteLine {
  readonly description: string
  readonly namespaces?: readonly string[]
  readonly webhooks?: boolean
  readonly replies?: Json
}

/** A step as it is kept. Without `do` it asks for the same as the line before. */
export type StepLine = Omit<RecordedStep, 'method' | 'path' | 'want'> & {
  readonly do?: string
  readonly bodyLike?: Like
  readonly want?: AnswerLine
}

export type AnswerLine = Partial<Omit<RecordedAnswer, 'status'>> & { readonly status: number; readonly bodyLike?: Like }

export function recordedSuiteNames(pattern = /^/): string[] {
  return readdirSync(SUITES)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.slice(0, -'.jsonl'.length))
    .filter((name) => pattern.test(name))
    .sort()
}

export function recordedSuite(name: string): RecordedSuite {
  return readSuite(name, readFileSync(path.join(SUITES, `${name}.jsonl`), 'utf8'))
}

export function readSuite(name: string, text: string): RecordedSuite {
  const [head, ...lines] = text.trimEnd().split('\n')
  const { description, namespaces = ['ns'], webhooks = false, replies } = JSON.parse(head as string) as SuiteLine
  const reader = new StepReader()
  const steps = lines.map((line) => reader.read(JSON.parse(line) as StepLine))
  return { name, description, namespaces, webhooks, steps, ...(replies === undefined ? {} : { replies }) }
}

/** Remembers the bodies of lines, for those that are kept as edits of them. */
class StepReader {
  /** By line number; the suite's own line is the first. */
  readonly #sent: (Json | undefined)[] = [undefined, undefined]
  readonly #answered: (Json | undefined)[] = [undefined, undefined]
  #do = ''

  read({ do: what = this.#do, bodyLike, want: kept, ...rest }: StepLine): RecordedStep {
    this.#do = what
    const space = what.indexOf(' ')
    const body = whole(this.#sent, rest.body, bodyLike)
    this.#sent.push(body)
    const want = kept === undefined ? undefined : this.#answer(kept)
    if (want === undefined) this.#answered.push(undefined)
    return {
      ...rest,
      method: what.slice(0, space),
      path: what.slice(space + 1),
      ...(body === undefined ? {} : { body }),
      ...(want === undefined ? {} : { want }),
    }
  }

  #answer({ bodyLike, ...kept }: AnswerLine): RecordedAnswer {
    const body = whole(this.#answered, kept.body, bodyLike)
    this.#answered.push(body)
    return { contentType: 'application/json', warnings: 0, ...kept, ...(body === undefined ? {} : { body }) }
  }
}

function whole(
  bodies: readonly (Json | undefined)[],
  body: Json | undefined,
  like: Like | undefined,
): Json | undefined {
  if (like === undefined) return body
  const [line, ...edits] = like
  const from = bodies[line]
  if (from === undefined) throw new Error(`line ${line} has no body to be like`)
  return edited(from, edits)
}

/** What is kept one to a line, in the folder of recordings. */
export function recordedLines<T>(file: string): T[] {
  const lines = readFileSync(path.join(RECORDINGS, file), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as T)
}

/** A line of stored-objects.jsonl: an object as kube-apiserver stored it in etcd, and what it served of it. */
export interface StoredObject {
  /** Where it is served. */
  readonly path: string
  readonly key: string
  /** Base64 of the bytes. */
  readonly value: string
  /** The text that was served. */
  readonly object: string
}

/** A line of round-trip.jsonl: an object with every field of its type set, and the hash of its protobuf bytes. */
export interface RoundTripObject {
  readonly name: string
  readonly sha256: string
  readonly object: Json
}
