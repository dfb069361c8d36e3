import { readdirSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { systemThreadId, threadWaitMs } from '#keelson/lib/thread-wait.js'

const skip = process.platform === 'linux' ? false : 'only Linux counts it'

t.test('a thread knows its number, and what it waited for a processor is told by it', { skip }, async (t) => {
  const own = systemThreadId()
  t.ok(readdirSync('/proc/self/task').includes(String(own)))
  const module = new URL('../../../dist/lib/thread-wait.js', import.meta.url).href
  const source = `import(${JSON.stringify(module)}).then(({ systemThreadId }) => require('node:worker_threads').parentPort.postMessage(systemThreadId()))`
  const worker = new Worker(source, { eval: true })
  const other = await new Promise<number>((resolve) => worker.once('message', resolve))
  t.ok(other > 0 && other !== own, 'another thread has another number')
  const waited = (): number => threadWaitMs(own) ?? 0
  t.ok(waited() >= 0)
  // More threads than processors, all busy: some of them must wait.
  const before = waited()
  const busy = Array.from({ length: 16 }, () => new Worker('for (;;);', { eval: true }))
  while (waited() - before < 20);
  await Promise.all([...busy, worker].map((one) => one.terminate()))
  t.equal(threadWaitMs(other), 0, 'of a thread that is gone nothing is known')
  t.equal(threadWaitMs(0), 0)
})
