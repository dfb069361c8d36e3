/** A thread that waits for the clock: to answer each revision, with nothing else to do, or with a pin in its hands. */
import { parentPort, workerData } from 'node:worker_threads'
import { MemoryReader } from '#keelson/cacher/memory/memory-reader.js'
import type { Handoff } from '../memory/load.js'

const { handoff, mode } = workerData as { handoff: Handoff; mode: 'answer' | 'idle' | 'pin' }
const memory = MemoryReader.open(handoff)

if (mode === 'answer') {
  parentPort!.on('message', () => undefined)
  memory.clock.onAdvance((revision) => parentPort!.postMessage(revision))
  parentPort!.postMessage('ready')
} else if (mode === 'idle') {
  memory.clock.onAdvance(() => undefined)
  void memory.clock.reached(1_000_000)
} else {
  parentPort!.on('message', () => undefined)
  await memory.clock.reached(51)
  const snapshot = memory.arena('things')!.snapshot()
  parentPort!.postMessage(snapshot.size)
}
