/**
 * Replays recorded answers of a real server against the rules of resources, without a server: bytes are decoded,
 * defaulted and taken through the strategy, and what comes out is compared with the recording.
 * As a script: node build/test/registry/offline-replay.js [pattern] [how many misses to show].
 */
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
import type { Json } from '../support/recordings/edits.js'
import { causesOf, firstDifference } from '../support/recordings/grade.js'
import { type RecordedStep, recordedSuite, recordedSuiteNames } from '../support/recordings/recording.js'
import { requestContext } from '../support/request-context.js'
import { admitLikeRecordedServer } from './recorded-admission.js'

interface Answer {
  readonly status: number
  readonly body?: { kind?: string; reason?: string; [field: string]: unknown }
  readonly warnings?: number
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

export function replaySuite(name: string): SuiteScore {
  const target = targetOf(name)
  const score: SuiteScore = { name, steps: 0, status: 0, reason: 0, body: 0, decode: 0, misses: [] }
  const stored = new Map<string, KubeObject>()
  for (const step of recordedSuite(name).steps) {
    const want = step.want as Answer | undefined
    if (want === undefined || step.body === undefined || !replayable(step)) continue
    const got = answer(target, step, stored)
    if (want.status === 0 || want.status === 400 || got.status === 400) {
      score.decode++
      if (want.status !== got.status && want.status !== 0)
        score.misses.push(`DECODE ${step.id}: want ${want.status} ${describe(want)} got ${got.status} ${describe(got)}`)
      continue
    }
    grade(score, step.id ?? '', want, got)
  }
  return score
}

const replayable = ({ method, path: url }: RecordedStep): boolean =>
  (method === 'POST' || method === 'PUT') && !/\/(status|scale|eviction|binding|resize|token)(\?|$)/.test(url)

function grade(score: SuiteScore, id: string, want: Answer, got: Answer): void {
  score.steps++
  if (want.status !== got.status) {
    score.misses.push(`${id}: status want ${want.status} ${describe(want)} got ${got.status} ${describe(got)}`)
    return
  }
  score.status++
  const [causes, found] = [causesOf(want.body), causesOf(got.body)]
  if (causes !== found || want.body?.reason !== got.body?.reason) {
    score.misses.push(`${id}: causes want [${causes}] got [${found}]`)
    return
  }
  score.reason++
  const difference = firstDifference(comparable(want), comparable(got), '')
  if (difference === undefined) score.body++
  else score.misses.push(`${id}: ${difference}`)
}

function describe({ body }: Answer): string {
  return body?.kind === 'Status' ? `${body.reason} [${causesOf(body)}] ${String(body['message']).slice(0, 300)}` : ''
}

/** What the recording and the offline answer can have in common: managers and words are another part's. */
function comparable({ body, warnings = 0 }: Answer): Json {
  if (body?.kind === 'Status') return { warnings }
  const { metadata, ...rest } = body as KubeObject
  const { managedFields: _, ...others } = metadata ?? {}
  return { body: normalize({ ...rest, metadata: others }) as Json, warnings }
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

/** What the server would say. Throws nothing that is a Status. */
function answer(target: Target, step: RecordedStep, stored: Map<string, KubeObject>): Answer {
  const url = new URL(step.path.replace(NAMESPACE_VARIABLE, NAMESPACE), 'http://localhost')
  const warnings: string[] = []
  const dryRun = url.searchParams.has('dryRun')
  const context = requestContext({
    namespace: target.info.namespaced ? NAMESPACE : '',
    resource: target.info.resource,
    apiGroup: target.info.group,
    apiVersion: target.info.version,
    dryRun,
    now: () => NOW,
    addWarning: (text) => void warnings.push(text),
  })
  try {
    const object = decode(target, step, url, warnings)
    if (object === undefined) return { status: 400, body: { kind: 'Status', reason: 'BadRequest' } }
    const status = step.method === 'POST' ? 201 : 200
    const done = step.method === 'POST' ? create(target, object, context) : update(target, object, stored, context)
    const key = metadataOf(done).name ?? ''
    if (!dryRun) {
      metadataOf(done).resourceVersion = String(stored.size + 1)
      stored.set(key, done)
    }
    const body = JSON.parse(encodeText(done, target.schema)) as NonNullable<Answer['body']>
    return { status, body, warnings: warnings.length }
  } catch (error) {
    if (!isStatusError(error)) return { status: 500, body: { kind: 'Status', message: String((error as Error).stack) } }
    return {
      status: error.status.code ?? 500,
      body: error.status as unknown as NonNullable<Answer['body']>,
      warnings: warnings.length,
    }
  }
}

function decode(
  { info, schema, rules }: Target,
  step: RecordedStep,
  url: URL,
  warnings: string[],
): KubeObject | undefined {
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
  for (const name of recordedSuiteNames(pattern)) {
    const score = replaySuite(name)
    const part = (n: number) => `${n} (${((100 * n) / Math.max(1, score.steps)).toFixed(1)} %)`
    console.log(
      `${name}: ${score.steps} answers, status ${part(score.status)}, reason ${part(score.reason)}, body ${part(score.body)}, ${score.decode} by the decoder`,
    )
    for (const miss of score.misses.slice(0, show)) console.log(`    ${miss}`)
  }
}
