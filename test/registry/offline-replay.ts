/**
 * Replays recorded answers of a real server against the rules of resources, without a server: bytes are decoded,
 * defaulted and taken through the strategy, and what comes out is compared with the recording.
 * As a script: node build/test/registry/offline-replay.js [pattern] [how many misses to show].
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { Catalogue, type ResourceInfo } from '#keelson/api/catalogue.js'
import { decodeJson } from '#keelson/api/json/decode.js'
import { encodeText } from '#keelson/api/json/encode.js'
import { type KubeObject, metadataOf } from '#keelson/api/object.js'
import type { StructSchema } from '#keelson/api/schema.js'
import { isStatusError } from '#keelson/api/status.js'
import { beforeCreate, beforeUpdate } from '#keelson/registry/generic/before-write.js'
import type { ResourceRules } from '#keelson/registry/generic/resource-rules.js'
import { RulesStrategy } from '#keelson/registry/generic/rules-strategy.js'
import type { RequestContext } from '#keelson/registry/generic/strategy.js'
import { fillSystemFields } from '#keelson/registry/generic/system-fields.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { admitLikeRecordedServer } from './recorded-admission.js'

export const CONFORMANCE = '../shared/conformance'
export const available = (): boolean => existsSync(CONFORMANCE)

interface Step {
  readonly id: string
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly save?: unknown
}

interface Cause {
  readonly field?: string
  readonly reason?: string
}

interface Answer {
  readonly id: string
  readonly status: number
  readonly body?: { kind?: string; reason?: string; details?: { causes?: Cause[] }; [field: string]: unknown }
  readonly warnings?: readonly string[]
}

export interface SuiteScore {
  readonly name: string
  steps: number
  status: number
  reason: number
  body: number
  /** Answers that the decoder alone decides. */
  decode: number
  readonly misses: string[]
}

const NOW = Date.parse('2026-01-01T00:00:00Z')
const NAMESPACE = 'c-offline'
const NAMESPACE_VARIABLE = /\$\{ns\}/g
const schemas = new BuiltinSchemas()
const catalogue = Catalogue.builtin()

interface Target {
  readonly info: ResourceInfo
  readonly schema: StructSchema
  readonly rules: ResourceRules
  readonly strategy: RulesStrategy
}

export function suiteNames(pattern: RegExp): string[] {
  return readdirSync(path.join(CONFORMANCE, 'suites'))
    .map((file) => file.replace(/\.json$/, ''))
    .filter((name) => pattern.test(name))
    .sort()
}

/** vary-core.v1.pods, edit-apps.v1.deployments */
function targetOf(suite: string): Target {
  const [, home] = /^[a-z]+-(.*)$/.exec(suite)!
  const parts = home!.split('.')
  const resource = parts.pop()!
  const version = parts.pop()!
  const group = parts.join('.') === 'core' ? '' : parts.join('.')
  const info = catalogue.find(group, version, resource)
  if (info === undefined) throw new Error(`no resource ${resource} in ${group}/${version}`)
  const rules = rulesOf({ group, resource })
  const shape = {
    kind: { group, kind: info.kind },
    namespaceScoped: info.namespaced,
    hasStatus: info.subresources.some(({ name }) => name === 'status'),
  }
  return { info, rules, schema: schemas.kind(group, version, info.kind)!, strategy: new RulesStrategy(shape, rules) }
}

function readJson<T>(folder: string, name: string): T {
  return JSON.parse(readFileSync(path.join(CONFORMANCE, folder, `${name}.json`), 'utf8')) as T
}

export function replaySuite(name: string): SuiteScore {
  const target = targetOf(name)
  const { steps } = readJson<{ steps: Step[] }>('suites', name)
  const answers = new Map(readJson<Answer[]>('golden', name).map((answer) => [answer.id, answer]))
  const score: SuiteScore = { name, steps: 0, status: 0, reason: 0, body: 0, decode: 0, misses: [] }
  const stored = new Map<string, KubeObject>()
  for (const step of steps) {
    const want = answers.get(step.id)
    if (want === undefined || step.body === undefined || !replayable(step)) continue
    const got = answer(target, step, stored)
    if (want.status === 0 || want.status === 400 || got.status === 400) {
      score.decode++
      if (want.status !== got.status && want.status !== 0)
        score.misses.push(`DECODE ${step.id}: want ${want.status} ${describe(want)} got ${got.status} ${describe(got)}`)
      continue
    }
    grade(score, step.id, want, got)
  }
  return score
}

const replayable = ({ method, path: url }: Step): boolean =>
  (method === 'POST' || method === 'PUT') && !/\/(status|scale|eviction|binding|resize|token)(\?|$)/.test(url)

function grade(score: SuiteScore, id: string, want: Answer, got: Answer): void {
  score.steps++
  if (want.status !== got.status) {
    score.misses.push(`${id}: status want ${want.status} ${describe(want)} got ${got.status} ${describe(got)}`)
    return
  }
  score.status++
  if (causesOf(want) !== causesOf(got) || want.body?.reason !== got.body?.reason) {
    score.misses.push(`${id}: causes want [${causesOf(want)}] got [${causesOf(got)}]`)
    return
  }
  score.reason++
  const difference =
    firstDifference(comparable(want), comparable(got), '') ??
    ((want.warnings ?? []).length === (got.warnings ?? []).length
      ? undefined
      : `warnings want ${JSON.stringify(want.warnings ?? [])} got ${JSON.stringify(got.warnings ?? [])}`)
  if (difference === undefined) score.body++
  else score.misses.push(`${id}: ${difference}`)
}

function describe({ body }: Answer): string {
  return body?.kind === 'Status'
    ? `${body.reason} [${causesOf({ id: '', status: 0, body })}] ${String(body['message']).slice(0, 300)}`
    : ''
}

const causesOf = ({ body }: Answer): string =>
  (body?.details?.causes ?? [])
    .map(({ field = '', reason = '' }) => `${field}|${reason}`)
    .sort()
    .join('; ')

/** What the recording and the offline answer can have in common: managers and words are another part's. */
function comparable({ body }: Answer): unknown {
  if (body?.kind === 'Status') return undefined
  const copy = structuredClone(body) as KubeObject
  delete metadataOf(copy).managedFields
  return normalize(copy)
}

function normalize(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => normalize(item, key))
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([name, item]) => [name, normalize(item, name)]))
  }
  if (typeof value !== 'string')
    return (key === 'nodePort' || key === 'healthCheckNodePort') && value !== 0 ? '<port>' : value
  if (value === '') return value
  if (key === 'uid') return '<uid>'
  if (key === 'resourceVersion') return '<rv>'
  if ((key === 'clusterIP' || key === 'clusterIPs') && value !== 'None') return '<ip>'
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)) return '<time>'
  return value.replace(NAMESPACE_VARIABLE, NAMESPACE).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
}

function firstDifference(want: unknown, got: unknown, at: string): string | undefined {
  if (want === got) return undefined
  if (want !== null && got !== null && typeof want === 'object' && typeof got === 'object') {
    for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) {
      const [a, b] = [want as Record<string, unknown>, got as Record<string, unknown>].map((side) => side[key])
      const difference = firstDifference(a, b, `${at}.${key}`)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  const text = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value).slice(0, 200))
  return `${at}: want ${text(want)} got ${text(got)}`
}

/** What the server would say. Throws nothing that is a Status. */
function answer(target: Target, step: Step, stored: Map<string, KubeObject>): Answer {
  const url = new URL(step.path.replace(NAMESPACE_VARIABLE, NAMESPACE), 'http://localhost')
  const warnings: string[] = []
  const dryRun = url.searchParams.has('dryRun')
  const context: RequestContext = {
    namespace: target.info.namespaced ? NAMESPACE : '',
    resource: target.info.resource,
    subresource: '',
    verb: 'update',
    apiGroup: target.info.group,
    apiVersion: target.info.version,
    user: { name: 'admin', uid: '', groups: [], extra: {} },
    dryRun,
    now: () => NOW,
    addWarning: (text) => warnings.push(text),
  }
  try {
    const object = decode(target, step, url, warnings)
    if (object === undefined) return { id: step.id, status: 400, body: { kind: 'Status', reason: 'BadRequest' } }
    const status = step.method === 'POST' ? 201 : 200
    const done = step.method === 'POST' ? create(target, object, context) : update(target, object, stored, context)
    const key = metadataOf(done).name ?? ''
    if (!dryRun) {
      metadataOf(done).resourceVersion = String(stored.size + 1)
      stored.set(key, done)
    }
    const body = JSON.parse(encodeText(done, target.schema)) as NonNullable<Answer['body']>
    return { id: step.id, status, body, warnings }
  } catch (error) {
    if (!isStatusError(error))
      return { id: step.id, status: 500, body: { kind: 'Status', message: String((error as Error).stack) } }
    return {
      id: step.id,
      status: error.status.code ?? 500,
      body: error.status as unknown as NonNullable<Answer['body']>,
      warnings,
    }
  }
}

function decode({ info, schema, rules }: Target, step: Step, url: URL, warnings: string[]): KubeObject | undefined {
  const text = JSON.stringify(step.body).replace(NAMESPACE_VARIABLE, NAMESPACE)
  let decoded: ReturnType<typeof decodeJson>
  try {
    decoded = decodeJson(Buffer.from(text), schema)
  } catch (error) {
    if (error instanceof Error && /Decode|Syntax/.test(error.name)) return undefined
    throw error
  }
  if (decoded.strictErrors.length > 0 && url.searchParams.get('fieldValidation') === 'Strict') return undefined
  if (url.searchParams.get('fieldValidation') !== 'Ignore') warnings.push(...decoded.strictErrors)
  const { object } = decoded
  if ((object.kind ?? info.kind) !== info.kind) return undefined
  if (step.method === 'PUT' && (metadataOf(object).name ?? '') !== url.pathname.split('/').at(-1)) return undefined
  const namespace = metadataOf(object).namespace ?? ''
  if (info.namespaced && namespace !== '' && namespace !== NAMESPACE) return undefined
  rules.setDefaults?.(object)
  return object
}

function create({ info, strategy, rules }: Target, object: KubeObject, context: RequestContext): KubeObject {
  admitLikeRecordedServer(info.resource, object)
  fillSystemFields(object, NOW)
  const metadata = metadataOf(object)
  if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '')
    metadata.name = strategy.generateName(metadata.generateName!)
  beforeCreate(strategy, object, context)
  metadata.resourceVersion = context.dryRun ? '' : '1'
  if (metadata.resourceVersion === '') delete metadata.resourceVersion
  rules.setDefaults?.(object)
  return object
}

function update(
  target: Target,
  object: KubeObject,
  stored: Map<string, KubeObject>,
  context: RequestContext,
): KubeObject {
  const old = stored.get(metadataOf(object).name ?? '')
  if (old === undefined) throw new Error(`${metadataOf(object).name} was not created`)
  metadataOf(object).resourceVersion ??= metadataOf(old).resourceVersion!
  admitLikeRecordedServer(target.info.resource, object, old)
  beforeUpdate(target.strategy, object, structuredClone(old), context)
  target.rules.setDefaults?.(object)
  return object
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pattern = new RegExp(process.argv[2] ?? '^(vary|edit)-')
  const show = Number(process.argv[3] ?? 10)
  for (const name of suiteNames(pattern)) {
    const score = replaySuite(name)
    const part = (n: number) => `${n} (${((100 * n) / Math.max(1, score.steps)).toFixed(1)} %)`
    console.log(
      `${name}: ${score.steps} answers, status ${part(score.status)}, reason ${part(score.reason)}, body ${part(score.body)}, ${score.decode} by the decoder`,
    )
    for (const miss of score.misses.slice(0, show)) console.log(`    ${miss}`)
  }
}
