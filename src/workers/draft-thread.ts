/** Thread: draft. The entry of a thread that makes drafts of stored objects for the owner, while that lists a large resource. */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '../lib/assert.js'
import {
  type DraftAnswer,
  type DraftPage,
  type DraftThreadData,
  packDrafts,
  unpackBytes,
} from '../protocol/owner-drafts.js'
import type { RecordDraft } from '../protocol/record-draft.js'
import { storedDrafts } from './scheme/stored-drafts.js'

assert(parentPort !== null, 'drafts are made in a thread of their own')
const port = parentPort
const makersOf = storedDrafts((workerData as DraftThreadData).options)

/** What is wrong with an object that cannot be read, the owner finds out itself. */
function readable(make: () => RecordDraft): RecordDraft | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

port.on('message', ({ resource, values }: DraftPage) => {
  const recordDraft = makersOf(resource)
  const drafts = packDrafts(unpackBytes(values).map((data) => readable(() => recordDraft(data))))
  const { bodies, revisionOffsets, counts } = drafts
  const transfer = [bodies.bytes, bodies.ends, revisionOffsets, counts].map(({ buffer }) => buffer)
  port.postMessage({ type: 'drafts', ...drafts } satisfies DraftAnswer, transfer)
})
port.postMessage({ type: 'ready' } satisfies DraftAnswer)
