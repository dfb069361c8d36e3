/** A thread that counts what it is told to, and may end at any moment. */
import { parentPort } from 'node:worker_threads'
import { processFamilies } from '#keelson/metrics/families.js'
import { threadRecorder } from '#keelson/metrics/thread-recorder.js'

const port = parentPort!
const recorder = threadRecorder((line, transfer) => port.postMessage(line, transfer))
port.on('message', (count: number) => {
  for (let i = 0; i < count; i++) {
    recorder.series(processFamilies.poolTasks, 'write').add(1)
    recorder.series(processFamilies.poolDuration, 'write').observe(0.001)
  }
  recorder.series(processFamilies.poolQueue).set(count)
  port.postMessage({ type: 'counted' })
})
