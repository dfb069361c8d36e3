/** Thread: main. GET of one object: a lookup and a write. */
import { newNotFound } from '../../api/status.js'
import type { Snapshot } from '../../cacher/memory/shared-memory.js'
import { arrive, NEWEST, openSnapshot, resolveGet } from '../../cacher/read/resolve.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { askedRevision } from './asked-revision.js'
import type { ObjectForm } from './object-form.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import { readStatus } from './read-status.js'
import { recordItem } from './watch-frames.js'

const NEWLINE = 10
const JSON_HEAD = { status: 200, contentType: 'application/json' }

/** Gives a promise only when it must wait; the commonest path is synchronous, and makes nothing but the answer. */
export function getObject(
  request: ReadRequest,
  view: ResourceView,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<void> | undefined {
  const wanted = request.query.size === 0 ? '' : (request.query.get('resourceVersion') ?? '')
  const position = resolveGet(wanted, askedRevision)
  const wait =
    position.minimumRevision === 0
      ? context
      : { clock: context.clock, observer: context.metrics.lists(request.resource) }
  const arrived = arrive(view, position, wait)
  if (arrived === true) return writeObject(request, view, context, form)
  return arrived.then(
    (inMemory) => (inMemory ? writeObject(request, view, context, form) : context.answerFromPool(request)),
    (error: unknown) => {
      throw readStatus(error)
    },
  )
}

function writeObject(
  request: ReadRequest,
  view: ResourceView,
  context: ReadContext,
  form: ObjectForm | undefined,
): Promise<void> | undefined {
  // The owner waits for nobody: memory may have gone since it was looked at.
  const snapshot = openSnapshot(view.arena(), NEWEST.revision)
  if (snapshot === undefined) return context.answerFromPool(request)
  return form === undefined ? writeStored(request, snapshot) : writeConverted(request, snapshot, context, form)
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
