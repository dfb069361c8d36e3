/** Thread: main. GET of one object: a lookup and a write. */
import { newBadRequest, newNotFound } from '../../api/status.js'
import type { ArenaReader } from '../../cacher/shared-memory.js'
import type { ReadContext, ReadRequest } from '../read-context.js'
import { waitUntilFresh } from './fresh.js'

const NEWLINE = 10
const DECIMAL = /^\d+$/

/** Gives a promise only when it must wait; the commonest path is synchronous. */
export function getObject(request: ReadRequest, arena: ArenaReader, context: ReadContext): Promise<void> | undefined {
  const wanted = request.query.size === 0 ? '' : (request.query.get('resourceVersion') ?? '')
  if (wanted === '0') {
    writeObject(request, arena)
    return undefined
  }
  if (wanted !== '') {
    if (!DECIMAL.test(wanted))
      throw newBadRequest(`invalid resource version: ${JSON.stringify(wanted)} is not a number`)
    const revision = Number(wanted)
    return waitUntilFresh(context, revision).then(() => whenReady(request, arena, context))
  }
  const fence = context.cache.fence()
  if (fence === true) {
    writeObject(request, arena)
    return undefined
  }
  return fence.then((passed) => (passed ? whenReady(request, arena, context) : context.answerFromPool(request)))
}

/** Memory may have gone while something was waited for. */
function whenReady(request: ReadRequest, arena: ArenaReader, context: ReadContext): Promise<void> | undefined {
  if (!arena.ready()) return context.answerFromPool(request)
  writeObject(request, arena)
  return undefined
}

function writeObject({ exchange, info, resource }: ReadRequest, arena: ArenaReader): void {
  const snapshot = arena.snapshot()
  try {
    const record = snapshot.get(resource.key(info.namespace, info.name))
    if (record === undefined) throw newNotFound({ group: info.apiGroup, resource: info.resource }, info.name)
    const body = record.body()
    const answer = Buffer.allocUnsafe(body.byteLength + 1)
    answer.set(body)
    answer[body.byteLength] = NEWLINE
    exchange.respond({ status: 200, contentType: 'application/json' }, answer)
  } finally {
    snapshot.release()
  }
}
