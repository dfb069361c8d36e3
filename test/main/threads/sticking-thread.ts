/** A pool thread of the tests: does what the path of a document, or the name of what is written, tells it to. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemThreadId } from '#keelson/lib/thread-wait.js'
import type { EncodedResponse, PoolTask } from '#keelson/protocol/main-pool.js'
import { BEAT_MS, type PoolHandover, PoolPulse } from '#keelson/protocol/pool-pulse.js'
import type { PoolThreadData } from '#keelson/protocol/pool-start.js'
import { openTaskLine } from '#keelson/workers/pool-worker/task-line.js'

export interface StickingStart {
  /** How often each order was begun, over all threads. */
  readonly begun: SharedArrayBuffer
  /** Whether small requests come through shared memory. */
  readonly hasLine: boolean
}

const ORDERS = ['echo', 'stick', 'wait-once', 'block', 'exit-once']
export const timesBegun = (begun: SharedArrayBuffer, order: string): number =>
  Atomics.load(new Int32Array(begun), ORDERS.indexOf(order))

export default async function run({ place, task }: PoolHandover): Promise<unknown> {
  pulse?.begin(place)
  const order = orderOf(task)
  const before = Atomics.add(words!, ORDERS.indexOf(order), 1)
  if (order === 'stick') for (;;);
  if (order === 'exit-once' && before === 0) process.exit(3)
  if (order === 'wait-once' && before < 3) await new Promise(() => undefined)
  if (order === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  return task.type === 'write' ? response(order, task.input.body) : { order, body: 0 }
}

const response = (contentType: string, body: Uint8Array): EncodedResponse => ({
  status: 200,
  contentType,
  warnings: [],
  headers: [],
  body,
})

function orderOf(task: PoolTask): string {
  if (task.type === 'document') return task.input.path
  return task.type === 'write' ? task.input.info.name : ''
}

const start = workerData as (PoolThreadData & StickingStart) | null
const words = start === null ? undefined : new Int32Array(start.begun)
const pulse = start === null ? undefined : new PoolPulse(start.pulse)
if (pulse !== undefined) {
  if (start?.hasLine === true) openTaskLine((offer, transfer) => parentPort?.postMessage(offer, transfer), run)
  pulse.introduce(systemThreadId())
  pulse.beat()
  setInterval(pulse.beat, BEAT_MS).unref()
}
