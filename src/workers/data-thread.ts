/** Thread: data. The entry of the thread that does the work of `keelson data …`: one task, then it ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '../lib/assert.js'
import type { DataEvent, DataTask } from '../protocol/main-data.js'
import { runDataTask } from './data/data-tasks.js'

assert(parentPort !== null, 'the work of a data command is done in a thread of its own')
const HELD_MS = 60_000
const port = parentPort

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, path: file } = error as NodeJS.ErrnoException
  return code === 'ENOENT' && file !== undefined ? `${file}: there is no such file or folder` : error.message
}

const tell = (event: DataEvent): void => port.postMessage(event)
// What waits for a server that does not answer holds no thread: without this the thread would end in the middle, and say nothing.
const held = setInterval(() => undefined, HELD_MS)
try {
  await runDataTask(workerData as DataTask, tell)
} catch (error) {
  tell({ type: 'failed', message: messageOf(error) })
} finally {
  clearInterval(held)
}
