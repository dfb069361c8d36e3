/** Thread: main. LIST: a head, slices of shared memory with commas between them, and a tail. */
import { type ListOptions, parseListOptions } from '../../api/list-options.js'
import { encodeMessageList } from '../../api/protobuf/builtin.js'
import { decodeEnvelope, type TypeMeta } from '../../api/protobuf/envelope.js'
import { parseSelectors } from '../../api/selectors.js'
import { SharedCopier } from '../../cacher/memory/shared-copier.js'
import type { Snapshot } from '../../cacher/memory/shared-memory.js'
import { keyRange } from '../../cacher/read/key-range.js'
import { arrive, openSnapshot, type WaitOptions } from '../../cacher/read/resolve.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { type Page, type PageOptions, scanPage } from '../../cacher/read/scan.js'
import { triggerOf } from '../../cacher/read/trigger.js'
import { type ListPosition, resolveListPosition } from '../../storage/contract/list-revision.js'
import { respondCompressed, wantsGzip } from '../http/compression.js'
import type { Exchange } from '../http/exchange.js'
import { askedRevision } from './asked-revision.js'
import type { ConversionItem } from './converter.js'
import { scopeOf } from './key-scope.js'
import type { ObjectForm } from './object-form.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import { readStatus } from './read-status.js'
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

/** False when memory cannot answer it and storage must be asked. */
export async function listObjects(
  request: ReadRequest,
  view: ResourceView,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<boolean> {
  const { resource, info } = request
  const options = parseListOptions(request.query, false)
  const selectors = parseSelectors(options, resource.selectableFields)
  const range = keyRange(resource.rootKey(info.namespace), true)
  const series = context.metrics.lists(resource)
  const position = await arrivedAt(view, range.startKey, options, { clock: context.clock, observer: series })
  const arena = view.arena()
  const snapshot = position && openSnapshot(arena, position.revision)
  if (arena === undefined || snapshot === undefined) return false
  const release = releaseOnce(snapshot)
  try {
    const trigger = triggerOf(selectors, resource.indexedFields)
    const { startKey, memoryLimit: limit } = position!
    const pageOptions: PageOptions = {
      snapshot,
      range,
      within: scopeOf(resource, info.namespace, selectors.field),
      startKey,
      selectors,
      limit,
      scan: (within, visit) => context.indexes.scan(arena, snapshot, trigger, within, visit),
    }
    if (form === undefined) {
      const page = scanPage(pageOptions, (record) => record.body())
      series.listed(page.fetched, page.items.length, page.index)
      await writeList(request, snapshot.revision, page, release)
      return true
    }
    const page = scanPage(pageOptions, recordItem)
    series.listed(page.fetched, page.items.length, page.index)
    return await writeConvertedList(request, snapshot.revision, page, release, context, form)
  } catch (error) {
    // Whatever failed before the answer was under way: nothing reads the state any more.
    release()
    throw error
  }
}

/** Undefined: the storage must answer. */
async function arrivedAt(
  view: ResourceView,
  rootKey: string,
  options: ListOptions,
  wait: WaitOptions,
): Promise<ListPosition | undefined> {
  try {
    const position = resolveListPosition(rootKey, { ...options, recursive: true }, askedRevision)
    const arrived = arrive(view, position, wait)
    return arrived === true || (await arrived) ? position : undefined
  } catch (error) {
    throw readStatus(error)
  }
}

/** What the answer is made of is let go when it is out, or when it cannot be made. */
function releaseOnce(snapshot: Snapshot): () => void {
  let held = true
  return () => {
    if (held) snapshot.release()
    held = false
  }
}

async function writeList(
  { exchange, resource }: ReadRequest,
  revision: number,
  { items, remaining, continueToken }: Page<Uint8Array>,
  release: () => void,
): Promise<void> {
  const head = Buffer.from(resource.listHead(revision, continueToken, remaining))
  await writeJsonList(exchange, head, items, (body) => resource.itemSkip(body), release)
}

/** False: the pool has to answer. */
async function writeConvertedList(
  request: ReadRequest,
  revision: number,
  { items, remaining, continueToken }: Page<ConversionItem>,
  release: () => void,
  { converter }: ReadContext,
  { form, accepted, contentType, isText }: ObjectForm,
): Promise<boolean> {
  const { exchange, resource } = request
  let shown: Uint8Array[]
  let columns: Uint8Array
  try {
    shown = await converter.convert(form, items)
    columns = form.shape === 'row' ? await converter.columns(form) : NOTHING
  } catch {
    // As for one object: the pool says what is wrong.
    return false
  } finally {
    release()
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
