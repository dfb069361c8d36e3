/** Thread: main. LIST: a head, slices of shared memory with commas between them, and a tail. */
import { type ListOptions, parseListOptions } from '../../api/list-options.js'
import { encodeMessageList } from '../../api/protobuf/builtin.js'
import { decodeEnvelope, type TypeMeta } from '../../api/protobuf/envelope.js'
import { parseSelectors, type Selectors } from '../../api/selectors.js'
import { isStatusError } from '../../api/status.js'
import type { ArenaReader, RecordView, Snapshot } from '../../cacher/memory/shared-memory.js'
import { type KeyRange, keyRange } from '../../cacher/read/key-range.js'
import { selects } from '../../cacher/read/record-selectors.js'
import { arrive, openSnapshot, type WaitOptions } from '../../cacher/read/resolve.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { type Page, type PageOptions, scanPage } from '../../cacher/read/scan.js'
import { type Trigger, triggerOf } from '../../cacher/read/trigger.js'
import { type ListPosition, resolveListPosition } from '../../storage/contract/list-revision.js'
import { respondCompressed, wantsGzip } from '../http/compression.js'
import { askedRevision } from './asked-revision.js'
import type { ConversionItem } from './converter.js'
import { scopeOf } from './key-scope.js'
import { ListBody, type ListBodyOptions, type ListState, MARK_INTERVAL } from './list-body.js'
import type { ObjectForm } from './object-form.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import { readStatus } from './read-status.js'
import { recordItem } from './watch-frames.js'

const HEAD = { status: 200, contentType: 'application/json' }
/** The text between the columns of a Table and its first row. */
const ROWS = Buffer.from(',"rows":[')
const NOTHING = new Uint8Array(0)

/** Answers the list from memory; false when memory cannot, and the storage must be asked. */
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
      const marks: string[] = []
      let taken = 0
      const page = scanPage(pageOptions, (record) => {
        if (taken++ % MARK_INTERVAL === 0) marks.push(record.key)
        return record.body()
      })
      series.listed(page.fetched, page.items.length, page.index)
      const { revision } = snapshot
      await writeList(request, context, revision, page, {
        release,
        marks,
        reopen: (from, visit) =>
          scanAgain({ arena, revision, context, trigger, ...pageOptions, startKey: from }, visit),
      })
      return true
    }
    const page = scanPage(pageOptions, recordItem)
    series.listed(page.fetched, page.items.length, page.index)
    return await writeConvertedList(request, snapshot.revision, page, release, context, form)
  } catch (error) {
    // The list failed before its answer was under way, so nothing reads the snapshot any more.
    release()
    throw error
  }
}

/** The revision to read in memory, once memory has got there; undefined when the storage must answer. */
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

/** Releases the snapshot at the first call: when the answer is out, or when it cannot be made. */
function releaseOnce(snapshot: Snapshot): () => void {
  let held = true
  return () => {
    if (held) snapshot.release()
    held = false
  }
}

interface ScanAgainOptions {
  readonly arena: ArenaReader
  readonly revision: number
  readonly context: ReadContext
  readonly trigger: Trigger | undefined
  readonly within?: KeyRange
  readonly range: KeyRange
  readonly selectors: Selectors
  readonly startKey: string
}

/** Scans the same page of the same state again, from a key on; false when the state has left memory. */
function scanAgain(options: ScanAgainOptions, visit: (record: RecordView) => boolean): boolean {
  const { arena, revision, context, trigger, within, range, selectors, startKey } = options
  const snapshot = openSnapshot(arena, revision)
  if (snapshot === undefined) return false
  try {
    const rest = { startKey, endKey: (within ?? range).endKey }
    context.indexes.scan(arena, snapshot, trigger, rest, (record) => !selects(selectors, record) || visit(record))
  } finally {
    snapshot.release()
  }
  return true
}

async function writeList(
  request: ReadRequest,
  context: ReadContext,
  revision: number,
  { items, remaining, continueToken }: Page<Uint8Array>,
  state: ListState,
): Promise<void> {
  const { resource } = request
  const head = Buffer.from(resource.listHead(revision, continueToken, remaining))
  await writeJsonList(request, context, { head, bodies: items, skip: (body) => resource.itemSkip(body), state })
}

/** False when the objects cannot be converted here and the pool has to answer. */
async function writeConvertedList(
  request: ReadRequest,
  revision: number,
  { items, remaining, continueToken }: Page<ConversionItem>,
  release: () => void,
  context: ReadContext,
  { form, accepted, contentType, isText }: ObjectForm,
): Promise<boolean> {
  const { exchange, resource } = request
  const { converter } = context
  let shown: Uint8Array[]
  let columns: Uint8Array
  try {
    const converting = converter.convert(form, items)
    // The bodies that had to be converted are copies, so the pin is not held while the pool works.
    release()
    shown = await converting
    columns = form.shape === 'row' ? await converter.columns(form) : NOTHING
  } catch (error) {
    if (isStatusError(error)) throw error
    // As in get.ts: the pool answers the request as a whole, and tells the client what is wrong.
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
    if (shown.length === 0 && transformation?.as === 'PartialObjectMetadataList') {
      // Kubernetes shows a list of metadata that is empty as null.
      exchange.respond({ status: 200, contentType }, `${head.toString().slice(0, -1)}null}\n`)
      return true
    }
    const skip = transformation === undefined ? (body: Uint8Array) => resource.itemSkip(body) : () => 0
    await writeJsonList(request, context, { head, bodies: shown, skip, state: undefined })
    return true
  }
  const body = protobufList(list, revision, continueToken, remaining, shown)
  const head = { status: 200, contentType }
  if (wantsGzip(exchange, body.byteLength)) await respondCompressed(exchange, head, body)
  else {
    const { byteLength } = body
    const done = (): void => undefined
    exchange.respondSized(head, { totalBytes: byteLength, heldBytes: byteLength, next: once(body), done })
  }
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

/** `state` is the pinned state that the bodies lie in; undefined when they are this thread's own copies. */
async function writeJsonList(
  { exchange, resource }: ReadRequest,
  { slowLists }: ReadContext,
  options: Pick<ListBodyOptions, 'head' | 'bodies' | 'skip' | 'state'>,
): Promise<void> {
  const body = new ListBody(options)
  const { totalBytes } = body
  if (wantsGzip(exchange, totalBytes)) {
    const whole = Buffer.allocUnsafe(totalBytes)
    let at = 0
    for (let piece = body.next(); piece !== undefined; piece = body.next()) {
      whole.set(piece, at)
      at += piece.byteLength
    }
    await respondCompressed(exchange, HEAD, whole)
    return
  }
  const held = slowLists.hold(body, resource)
  exchange.respondSized(HEAD, {
    totalBytes,
    heldBytes: options.state === undefined ? totalBytes : 0,
    next: () => held.next(),
    done: () => held.finish(),
  })
  held.start(exchange)
}
