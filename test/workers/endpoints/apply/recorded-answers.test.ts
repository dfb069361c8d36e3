import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import {
  difference,
  type FieldSet,
  intersection,
  LEAF,
  namedFields,
  pathsOf,
  recursiveDifference,
} from '#keelson/api/managed-fields/field-set.js'
import { pathText } from '#keelson/api/managed-fields/path-element.js'
import type { Json, JsonObject, ManagedFieldsEntry } from '#keelson/api/object.js'
import type { StructSchema } from '#keelson/api/schema.js'
import { isStatusError } from '#keelson/api/status.js'
import { presence } from '#keelson/workers/endpoints/apply/compare.js'
import { FieldManager } from '#keelson/workers/endpoints/apply/field-manager.js'
import { managerOrUserAgent } from '#keelson/workers/endpoints/apply/manager-name.js'
import { TypedError } from '#keelson/workers/endpoints/apply/typed-error.js'
import type { FieldFilter } from '#keelson/workers/endpoints/apply/updater.js'
import { applyJsonPatch } from '#keelson/workers/endpoints/patch/json-patch.js'
import { isObject, jsonEqual } from '#keelson/workers/endpoints/patch/json-tree.js'
import { applyMergePatch } from '#keelson/workers/endpoints/patch/merge-patch.js'
import { isPatchError, patchStatusError } from '#keelson/workers/endpoints/patch/patch-error.js'
import { applyStrategicMergePatch } from '#keelson/workers/endpoints/patch/strategic-merge-patch.js'
import type { Json as Body } from '../../../support/recordings/edits.js'
import { withoutMessages } from '../../../support/recordings/words.js'
import { type RecordedWrite, recordedWrites } from './recorded-answers.js'

const schemas = new BuiltinSchemas()
const NOW = Date.parse('2026-01-02T03:04:05Z')

function schemaOf(object: JsonObject): StructSchema {
  const [group, version] = String(object['apiVersion']).includes('/')
    ? String(object['apiVersion']).split('/', 2)
    : ['', String(object['apiVersion'])]
  const schema = schemas.kind(group!, version!, String(object['kind']))
  if (schema === undefined) throw new Error(`no schema of ${object['apiVersion']} ${object['kind']}`)
  return schema
}

const metadataOf = (object: JsonObject): JsonObject => object['metadata'] as JsonObject

const entriesOf = (object: JsonObject): ManagedFieldsEntry[] =>
  (metadataOf(object)['managedFields'] ?? []) as unknown as ManagedFieldsEntry[]

function withoutManagers(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = metadataOf(object)
  return { ...object, metadata }
}

/** Entries by who they are of; times only as there or not there, for the recording hides them. */
function byManager(entries: readonly ManagedFieldsEntry[]): Record<string, Json> {
  return Object.fromEntries(
    entries.map(({ manager, operation, apiVersion, subresource, time, fieldsV1 }) => [
      `${manager} ${operation} ${apiVersion} ${subresource ?? ''}`,
      { timed: time !== undefined, fields: fieldsV1 ?? {} },
    ]),
  )
}

function managerFor(write: RecordedWrite, object: JsonObject): FieldManager {
  const { apiVersion, kind } = object as { apiVersion: string; kind: string }
  const subresource = write.path.endsWith('/status') ? 'status' : ''
  const reset: FieldFilter = (set) => recursiveDifference(set, resetFields(write))
  return new FieldManager({
    apiVersion,
    kind,
    schema: schemaOf(object),
    subresource,
    resetFields: new Map([[apiVersion, reset]]),
  })
}

const nameOf = (write: RecordedWrite): string =>
  managerOrUserAgent(write.query.get('fieldManager') ?? undefined, 'replay/1.0')

/** Everything in `some` is in `all`: what the server added is not ours to compute here. */
function within(some: Json | undefined, all: Json | undefined): boolean {
  if (Array.isArray(some) && Array.isArray(all))
    return some.length === all.length && some.every((item, i) => within(item, all[i]))
  if (isObject(some) && isObject(all))
    return Object.keys(some).every((key) => isZero(some[key]) || within(some[key], all[key]))
  return isHidden(all) || jsonEqual(some, all)
}

/** The server leaves out what is not set. */
const isZero = (value: Json | undefined): boolean => value === null || value === 0 || value === '' || value === false

/** Values that differ from run to run are replaced in the recording. */
const isHidden = (value: Json | undefined): boolean => typeof value === 'string' && /^<[a-z]+>$/.test(value)

/** What the server sets itself, or the recording has replaced. */
function comparable(object: JsonObject): JsonObject {
  const { managedFields: _m, generation: _g, resourceVersion: _r, ...metadata } = metadataOf(object)
  const { status: _s, ...rest } = object
  return { ...rest, metadata }
}

/** What the strategies of these kinds reset on such a write. */
function resetFields(write: RecordedWrite): FieldSet {
  const isRequest = write.path.includes('/certificatesigningrequests')
  if (write.path.endsWith('/status')) return isRequest ? namedFields('status.conditions') : LEAF
  return isRequest ? namedFields('spec', 'status') : namedFields('status')
}

/** Answers in which somebody else has had a hand: controllers inside the server, admission, a strategy. */
const NOT_ARITHMETIC = new Set([
  'edit-core.v1.namespaces spec:removed',
  'edit-core.v1.namespaces spec:null',
  'edit-core.v1.namespaces spec:emptyobj',
  'edit-core.v1.namespaces spec.finalizers:removed',
  'life-apiextensions.k8s.io.v1.customresourcedefinitions patch-merge',
  'life-apiextensions.k8s.io.v1.customresourcedefinitions status-patch',
  'life-apps.v1.daemonsets patch-json',
  'vary-core.v1.nodes rich:spec.taints:emptylist',
  'vary-core.v1.services rich:spec.ipFamilies:emptylist',
  'vary-core.v1.services rich:spec.ipFamilies:null',
  // An empty list when the owner was noted, null once it had been through storage.
  'vary-storage.k8s.io.v1.csinodes rich:spec.drivers:emptylist',
])

/** Undefined behaviour of the request, such as a null in a list, leaves nothing to compare. */
function sentFields(write: RecordedWrite): FieldSet {
  try {
    return presence(schemaOf(write.answer), write.body as JsonObject)
  } catch (error) {
    if (error instanceof TypedError) return LEAF
    throw error
  }
}

const texts = (set: FieldSet): string[] => pathsOf(set).map(pathText)

t.test('a create owns what the recorded server says it owns', async (t) => {
  let creates = 0
  for (const write of recordedWrites(/^(life|vary)-|^(apply|patches)$/)) {
    if (write.method !== 'POST' || write.status !== 201 || !isObject(write.answer['metadata'])) continue
    if (NOT_ARITHMETIC.has(`${write.suite} ${write.id}`)) continue
    creates++
    const answer = managerFor(write, write.answer).update(undefined, withoutManagers(write.answer), nameOf(write), {
      now: NOW,
    })
    const ours = (entriesOf(answer)[0]?.fieldsV1 ?? LEAF) as FieldSet
    const theirs = (entriesOf(write.answer)[0]?.fieldsV1 ?? LEAF) as FieldSet
    const missing = texts(difference(theirs, ours))
    // The answer also holds what admission and the strategy added after the owner was noted.
    const sent = sentFields(write)
    const extra = texts(intersection(difference(ours, theirs), sent))
    if (missing.length > 0 || extra.length > 0) t.fail(`${write.suite} ${write.id}`, { missing, extra })
  }
  t.ok(creates > 1000, `${creates} creates`)
})

/** Objects as the last answer left them, by path. */
class Live {
  readonly #objects = new Map<string, JsonObject>()

  of(write: RecordedWrite): JsonObject | undefined {
    return this.#objects.get(this.#key(write))
  }

  note(write: RecordedWrite): void {
    if (write.status < 300 && !write.query.has('dryRun')) this.#objects.set(this.#key(write), write.answer)
  }

  #key({ suite, method, path, answer }: RecordedWrite): string {
    const bare = path.replace(/\/(status|scale)$/, '')
    return method === 'POST' ? `${suite} ${bare}/${String(metadataOf(answer)['name'])}` : `${suite} ${bare}`
  }
}

function patched(write: RecordedWrite, live: JsonObject): Json {
  if (write.mediaType === 'application/json-patch+json') return applyJsonPatch(live, write.body)
  if (write.mediaType === 'application/merge-patch+json') return applyMergePatch(live, write.body)
  return applyStrategicMergePatch(live, write.body, schemaOf(live))
}

const PATCHES = /^application\/(json-patch|merge-patch|strategic-merge-patch)\+json$/

t.test('patches give what the recorded server gives, and own what they change', async (t) => {
  const live = new Live()
  let patches = 0
  for (const write of recordedWrites(/^life-|^(apply|patches)$/)) {
    const before = live.of(write)
    live.note(write)
    if (write.method !== 'PATCH' || !PATCHES.test(write.mediaType) || before === undefined) continue
    const name = `${write.suite} ${write.id}`
    if (NOT_ARITHMETIC.has(name)) continue
    try {
      const result = patched(write, before) as JsonObject
      if (write.status >= 300) continue
      patches++
      const status = write.path.endsWith('/status')
      const part = status ? result['status'] : comparable(result)
      const whole = status ? write.answer['status'] : comparable(write.answer)
      if (!within(part, whole)) t.fail(`${name}: the object`, { result: part, recorded: whole })
    } catch (error) {
      if (!isPatchError(error)) throw error
      t.equal(patchStatusError(error).code, write.status, `${name}: ${error.message}`)
      continue
    }
    const cleared =
      name === 'apply clear'
        ? { ...write.answer, metadata: { ...metadataOf(write.answer), managedFields: [{}] } }
        : withoutManagers(write.answer)
    const answer = managerFor(write, before).update(before, cleared, nameOf(write), { now: NOW })
    const [ours, theirs] = [byManager(entriesOf(answer)), byManager(entriesOf(write.answer))]
    if (!jsonEqual(ours, theirs)) t.fail(`${name}: the managers`, { ours, theirs })
  }
  t.ok(patches > 100, `${patches} patches`)
})

t.test('apply merges, conflicts and prunes as the recorded server does', async (t) => {
  const live = new Live()
  let applies = 0
  for (const write of recordedWrites(/^life-|^(apply|patches)$/)) {
    const before = live.of(write)
    live.note(write)
    if (write.mediaType !== 'application/apply-patch+yaml' || !write.query.has('fieldManager')) continue
    if (['long-manager', 'name-mismatch'].includes(write.id)) continue
    applies++
    const name = `${write.suite} ${write.id}`
    const force = write.query.get('force') === 'true'
    const typed = before ?? (write.body as JsonObject)
    try {
      const result = managerFor(write, typed).apply(before, write.body as JsonObject, nameOf(write), {
        force,
        now: NOW,
      })
      if (write.status >= 300) {
        t.fail(`${name}: should fail`, { recorded: write.answer })
        continue
      }
      const [ours, theirs] = [byManager(entriesOf(result.object)), byManager(entriesOf(write.answer))]
      if (!jsonEqual(ours, theirs)) t.fail(`${name}: the managers`, { ours, theirs })
      if (!within(comparable(result.object), comparable(write.answer)))
        t.fail(`${name}: the object`, { ours: result.object })
      const again = managerFor(write, typed).apply(result.object, write.body as JsonObject, nameOf(write), {
        force,
        now: NOW + 5000,
      })
      if (again.changed) t.fail(`${name}: applied twice`, { again: again.object })
    } catch (error) {
      if (!isStatusError(error)) throw error
      t.same(withoutMessages({ ...error.status } as unknown as Body), write.answer, name)
    }
  }
  t.ok(applies > 100, `${applies} applies`)
})

t.test('a PUT owns what it changes, as the recorded server says', async (t) => {
  const live = new Live()
  let puts = 0
  for (const write of recordedWrites(/^(edit|life)-|^apply$/)) {
    const before = live.of(write)
    live.note(write)
    if (write.method !== 'PUT' || write.status >= 300 || before === undefined) continue
    if (NOT_ARITHMETIC.has(`${write.suite} ${write.id}`)) continue
    puts++
    const answer = managerFor(write, before).update(before, withoutManagers(write.answer), nameOf(write), { now: NOW })
    const [ours, theirs] = [byManager(entriesOf(answer)), byManager(entriesOf(write.answer))]
    if (!jsonEqual(ours, theirs)) t.fail(`${write.suite} ${write.id}`, { ours, theirs })
  }
  t.ok(puts > 500, `${puts} puts`)
})
