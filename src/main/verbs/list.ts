/** Thread: main. LIST: a head, slices of shared memory with commas between them, and a tail. */
import { type ListOptions, parseListOptions } from '../../api/list-options.js'
import { encodeMessageList } from '../../api/protobuf/builtin.js'
import { decodeEnvelope, type TypeMeta } from '../../api/protobuf/envelope.js'
import { parseSelectors, type Selectors } from '../../api/selectors.js'
import { newBadRequest } from '../../api/status.js'
import { SharedCopier } from '../../cacher/memory/shared-copier.js'
import type { ArenaReader, RecordView, Snapshot } from '../../cacher/memory/shared-memory.js'
import { decodeContinue, encodeContinue, NEWEST_REVISION } from '../../storage/contract/continue-token.js'
import { isStorageError } from '../../storage/contract/errors.js'
import { respondCompressed, wantsGzip } from '../http/compression.js'
import type { Exchange } from '../http/exchange.js'
import { revisionProblem } from './asked-revision.js'
import type { ConversionItem } from './converter.js'
import { passed, tooLarge, waitUntilFresh } from './fresh.js'
import { triggerOf } from './hub-members.js'
import { scopeOf } from './key-scope.js'
import type { ObjectForm } from './object-form.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import { recordItem } from './watch-frames.js'

const HEAD = { status: 200, contentType: 'application/json' }
const TAIL = Buffer.from(']}\n')
/** Between the columns of a Table and its first row. */
const ROWS = Buffer.from(',"rows":[')
const COMMA = 44
const BRACE = 123
/** Pieces that a list is written in: large enough to cost few calls, small enough to let others go in between. */
const PIECE_BYTES = 64 * 1024
const NOTHING = new Uint8Array(0)

interface ListPosition {
  /** Exactly this revision; undefined: the newest. */
  readonly revision: number | undefined
  readonly startKey: string
  /** Wait for this revision first. */
  readonly minimumRevision: number
  /** Everything acknowledged must be in it. */
  readonly consistent: boolean
  readonly limit: number
}

/** False when memory cannot answer it and storage must be asked. */
export async function listObjects(
  request: ReadRequest,
  arena: ArenaReader,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<boolean> {
  const { resource, info } = request
  const options = parseListOptions(request.query, false)
  const selectors = parseSelectors(options, resource.selectableFields)
  const scope = scopeOf(resource, info.namespace, selectors.field)
  const position = listPosition(options, resource.rootKey(info.namespace))
  const series = context.metrics.lists(resource)
  if (position.consistent && !(await passed(context, series))) return false
  if (position.minimumRevision > 0) await waitUntilFresh(context, position.minimumRevision, series)
  const snapshot = snapshotAt(arena, position.revision)
  if (snapshot === undefined) return false
  const trigger = triggerOf(selectors, resource.indexedFields)
  const start = later(position.startKey, scope.start)
  const scan: Scan = {
    end: scope.end,
    run: (visit) => context.indexes.scan(arena, snapshot, trigger, { start, end: scope.end }, visit),
  }
  const tokenFor = (nextKey: string | undefined): string =>
    nextKey === undefined ? '' : encodeContinue(nextKey, resource.rootKey(info.namespace), snapshot.revision)
  if (form === undefined) {
    const items = collect(snapshot, scan, position, selectors, (record) => record.body())
    series.listed(items.fetched, items.found.length, items.index)
    await writeList(request, snapshot, items, tokenFor(items.nextKey))
  } else {
    const items = collect(snapshot, scan, position, selectors, recordItem)
    series.listed(items.fetched, items.found.length, items.index)
    return writeConvertedList(request, snapshot, items, tokenFor(items.nextKey), context, form)
  }
  return true
}

function listPosition(options: ListOptions, rootKey: string): ListPosition {
  const { resourceVersion, resourceVersionMatch, continueToken, limit } = options
  const newest = { revision: undefined, startKey: rootKey, minimumRevision: 0, consistent: true, limit }
  if (continueToken !== '') {
    const { startKey, revision } = decodeToken(continueToken, rootKey)
    if (resourceVersion !== '' && resourceVersion !== '0')
      throw newBadRequest('specifying resource version is not allowed when using continue')
    return revision === NEWEST_REVISION ? { ...newest, startKey } : { ...newest, startKey, revision, consistent: false }
  }
  if (resourceVersion === '') return newest
  const problem = revisionProblem(resourceVersion)
  if (problem !== undefined) throw newBadRequest(`invalid resource version: ${problem}`)
  const asked = Number(resourceVersion)
  // Whatever is at hand, whole: a limit would make a page of what may be old.
  if (asked === 0) return { ...newest, consistent: false, limit: 0 }
  const exact = resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit > 0)
  if (exact) return { ...newest, revision: asked, minimumRevision: asked, consistent: false }
  return { ...newest, minimumRevision: asked, consistent: false }
}

function decodeToken(token: string, rootKey: string): { startKey: string; revision: number } {
  try {
    return decodeContinue(token, rootKey)
  } catch (error) {
    if (isStorageError(error, 'invalid-request')) throw newBadRequest(error.message)
    throw error
  }
}

/** Undefined when the revision has left memory, or memory has gone while the fence was waited for: storage has it. */
function snapshotAt(arena: ArenaReader, revision: number | undefined): Snapshot | undefined {
  try {
    return arena.snapshot(revision)
  } catch (error) {
    if (isStorageError(error, 'too-old') || isStorageError(error, 'not-ready')) return undefined
    if (isStorageError(error, 'too-large')) throw tooLarge(revision ?? 0, error.fields.currentRevision ?? 0)
    throw error
  }
}

interface Items<T> {
  /** Over shared memory, valid while the snapshot is held. */
  readonly found: T[]
  /** Where the next page starts. */
  readonly nextKey: string | undefined
  readonly remaining: number | undefined
  /** Records that were looked at. */
  readonly fetched: number
  /** The field by which they were found; '' when all were looked at. */
  readonly index: string
}

/** What may be in the list: the range, or what an index knows of it. */
interface Scan {
  readonly end: string
  /** Gives the field of the index that served, or ''. */
  run(visit: (record: RecordView) => boolean | undefined): string
}

function collect<T>(
  snapshot: Snapshot,
  scan: Scan,
  position: ListPosition,
  selectors: Selectors,
  take: (record: RecordView) => T,
): Items<T> {
  const { limit } = position
  const unselected = selectors.label.empty() && selectors.field.empty()
  const found: T[] = []
  let fetched = 0
  let lastKey: string | undefined
  let nextKey: string | undefined
  const visit = (record: RecordView): boolean | undefined => {
    fetched++
    if (limit > 0 && found.length === limit) {
      // With a selector a page ends after its last item; whether anything follows must be looked for.
      if (unselected || (selectors.label.matches(record.labels) && selectors.field.matches(record.fields))) {
        nextKey = `${lastKey}\0`
        return false
      }
      return undefined
    }
    if (!unselected && !(selectors.label.matches(record.labels) && selectors.field.matches(record.fields)))
      return undefined
    found.push(take(record))
    if (limit > 0 && found.length === limit) lastKey = record.key
    return undefined
  }
  const index = scan.run(visit)
  const remaining = nextKey !== undefined && unselected ? snapshot.count(nextKey, scan.end) : undefined
  return { found, nextKey, remaining, fetched, index }
}

function later(key: string, other: string): string {
  if (key > other) return key
  return other
}

async function writeList(
  { exchange, resource }: ReadRequest,
  snapshot: Snapshot,
  { found, remaining }: Items<Uint8Array>,
  continueToken: string,
): Promise<void> {
  const head = Buffer.from(resource.listHead(snapshot.revision, continueToken, remaining))
  await writeJsonList(
    exchange,
    head,
    found,
    (body) => resource.itemSkip(body),
    () => snapshot.release(),
  )
}

/** False: the pool has to answer. */
async function writeConvertedList(
  request: ReadRequest,
  snapshot: Snapshot,
  { found, remaining }: Items<ConversionItem>,
  continueToken: string,
  { converter }: ReadContext,
  { form, accepted, contentType, isText }: ObjectForm,
): Promise<boolean> {
  const { exchange, resource } = request
  const { revision } = snapshot
  let shown: Uint8Array[]
  let columns: Uint8Array
  try {
    shown = await converter.convert(form, found)
    columns = form.shape === 'row' ? await converter.columns(form) : NOTHING
  } catch {
    // As for one object: the pool says what is wrong.
    return false
  } finally {
    snapshot.release()
  }
  const { transformation } = accepted
  const list =
    transformation === undefined
      ? { kind: resource.listKind, apiVersion: resource.apiVersion }
      : { kind: transformation.as, apiVersion: `meta.k8s.io/${transformation.version}` }
  if (isText) {
    const head =
      form.shape === 'row'
        ? Buffer.concat([Buffer.from(resource.tableHead(revision, continueToken, remaining, list)), columns, ROWS])
        : Buffer.from(resource.listHead(revision, continueToken, remaining, list))
    const skip = transformation === undefined ? (body: Uint8Array) => resource.itemSkip(body) : () => 0
    await writeJsonList(exchange, head, shown, skip, () => undefined)
    return true
  }
  const body = protobufList(list, revision, continueToken, remaining, shown)
  const head = { status: 200, contentType }
  if (wantsGzip(exchange, body.byteLength)) await respondCompressed(exchange, head, body)
  else exchange.respondSized(head, body.byteLength, once(body), () => undefined)
  return true
}

function once(body: Uint8Array): () => Uint8Array | undefined {
  let rest: Uint8Array | undefined = body
  return () => {
    const piece = rest
    rest = undefined
    return piece
  }
}

function protobufList(
  list: TypeMeta,
  revision: number,
  continueToken: string,
  remaining: number | undefined,
  items: readonly Uint8Array[],
): Buffer {
  const metadata = {
    resourceVersion: String(revision),
    ...(continueToken === '' ? {} : { continue: continueToken }),
    ...(remaining === undefined || remaining <= 0 ? {} : { remainingItemCount: remaining }),
  }
  return encodeMessageList(
    { ...list, metadata },
    items.map((item) => decodeEnvelope(item).raw),
  )
}

/** `release`: what the bodies lie in is not needed any more. */
async function writeJsonList(
  exchange: Exchange,
  head: Uint8Array,
  bodies: readonly Uint8Array[],
  skip: (body: Uint8Array) => number,
  release: () => void,
): Promise<void> {
  let total = head.byteLength + TAIL.byteLength + Math.max(0, bodies.length - 1)
  const skips = bodies.map(skip)
  for (const [i, body] of bodies.entries()) total += body.byteLength - skips[i]!
  const next = pieces(head, bodies, skips, total)
  if (wantsGzip(exchange, total)) {
    const whole = Buffer.allocUnsafe(total)
    let at = 0
    for (let piece = next(); piece !== undefined; piece = next()) {
      whole.set(piece, at)
      at += piece.byteLength
    }
    release()
    await respondCompressed(exchange, HEAD, whole)
    return
  }
  exchange.respondSized(HEAD, total, next, release)
}

/** The list in pieces, all made in one buffer: a piece is out before the next one is made. */
function pieces(
  head: Uint8Array,
  bodies: readonly Uint8Array[],
  skips: readonly number[],
  total: number,
): () => Uint8Array | undefined {
  const buffer = Buffer.allocUnsafe(Math.min(total, PIECE_BYTES))
  const copier = new SharedCopier()
  let index = -1
  let pending: Uint8Array | undefined = head
  let brace = false
  let comma = false
  return () => {
    let at = 0
    for (;;) {
      if (pending === undefined) {
        index++
        if (index < bodies.length) {
          const body: Uint8Array = bodies[index]!
          const skip = skips[index]!
          comma = index > 0
          brace = skip > 0
          pending = skip > 0 ? body.subarray(skip + 1) : body
        } else if (index === bodies.length) pending = TAIL
        else return at === 0 ? undefined : buffer.subarray(0, at)
      }
      if ((comma || brace) && at + 2 > buffer.byteLength) return buffer.subarray(0, at)
      if (comma) buffer[at++] = COMMA
      if (brace) buffer[at++] = BRACE
      comma = false
      brace = false
      const room = buffer.byteLength - at
      if (pending.byteLength > room) {
        copier.copy(pending.subarray(0, room), buffer, at)
        pending = pending.subarray(room)
        return buffer
      }
      copier.copy(pending, buffer, at)
      at += pending.byteLength
      pending = undefined
    }
  }
}
