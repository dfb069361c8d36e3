/** Thread: main. GET of one object: a lookup and a write. */
import { newBadRequest, newNotFound } from '../../api/status.js'
import type { ArenaReader, Snapshot } from '../../cacher/memory/shared-memory.js'
import { isStorageError } from '../../storage/contract/errors.js'
import { revisionProblem } from './asked-revision.js'
import { waitUntilFresh } from './fresh.js'
import type { ObjectForm } from './object-form.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import { recordItem } from './watch-frames.js'

const NEWLINE = 10
const JSON_HEAD = { status: 200, contentType: 'application/json' }

/** Gives a promise only when it must wait; the commonest path is synchronous. */
export function getObject(
  request: ReadRequest,
  arena: ArenaReader,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<void> | undefined {
  const wanted = request.query.size === 0 ? '' : (request.query.get('resourceVersion') ?? '')
  if (wanted === '0') {
    return writeObject(request, arena, context, form)
  }
  if (wanted !== '') {
    const problem = revisionProblem(wanted)
    if (problem !== undefined) throw newBadRequest(`invalid resource version: ${problem}`)
    const revision = Number(wanted)
    return waitUntilFresh(context, revision, context.metrics.lists(request.resource)).then(() =>
      whenReady(request, arena, context, form),
    )
  }
  const fence = context.cache.fence()
  if (fence === true) {
    return writeObject(request, arena, context, form)
  }
  return fence.then((passed) => (passed ? whenReady(request, arena, context, form) : context.answerFromPool(request)))
}

function writeObject(
  request: ReadRequest,
  arena: ArenaReader,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<void> | undefined {
  const snapshot = snapshotOf(arena)
  if (snapshot === undefined) return context.answerFromPool(request)
  return form === undefined ? writeStored(request, snapshot) : writeConverted(request, snapshot, context, form)
}

/** Memory may have gone while something was waited for. */
function whenReady(
  request: ReadRequest,
  arena: ArenaReader,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<void> | undefined {
  return arena.ready() ? writeObject(request, arena, context, form) : context.answerFromPool(request)
}

/** Undefined: the owner, which waits for nobody, took the memory back after it was looked at. */
function snapshotOf(arena: ArenaReader): Snapshot | undefined {
  try {
    return arena.snapshot()
  } catch (error) {
    if (isStorageError(error, 'not-ready')) return undefined
    throw error
  }
}

function writeStored({ exchange, info, resource }: ReadRequest, snapshot: Snapshot): undefined {
  try {
    const record = snapshot.get(resource.key(info.namespace, info.name))
    if (record === undefined) throw newNotFound({ group: info.apiGroup, resource: info.resource }, info.name)
    exchange.respond(JSON_HEAD, withNewline(record.body()))
  } finally {
    snapshot.release()
  }
}

async function writeConverted(
  request: ReadRequest,
  snapshot: Snapshot,
  { converter, answerFromPool }: ReadContext,
  { form, contentType, isText }: ObjectForm,
): Promise<void> {
  const { exchange, info, resource } = request
  let shown: Uint8Array[] | Promise<Uint8Array[]>
  try {
    const record = snapshot.get(resource.key(info.namespace, info.name))
    if (record === undefined) throw newNotFound({ group: info.apiGroup, resource: info.resource }, info.name)
    shown = converter.convert(form, [recordItem(record)])
  } finally {
    snapshot.release()
  }
  let bytes: Uint8Array | undefined
  try {
    bytes = (await shown)[0]
  } catch {
    // The pool may know already that the resource is not served any more; it says so, or what else is wrong.
    return answerFromPool(request)
  }
  exchange.respond({ status: 200, contentType }, isText ? withNewline(bytes!) : bytes!)
}

/** Small answers are put together in one place: they are copied on their way out before the next one is. */
const SCRATCH_BYTES = 64 * 1024
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)

function withNewline(body: Uint8Array): Uint8Array {
  const size = body.byteLength + 1
  const answer = size <= SCRATCH_BYTES ? new Uint8Array(scratch.buffer, 0, size) : Buffer.allocUnsafe(size)
  answer.set(body)
  answer[size - 1] = NEWLINE
  return answer
}
