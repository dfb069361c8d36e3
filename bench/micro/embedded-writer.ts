/** Creates keys through a KV with many in flight; run in the owner's thread, or as a worker thread over a port. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { KV } from '#keelson/storage/contract/kv.js'
import { RemoteKV } from '#keelson/storage/embedded/remote-kv.js'

export interface WriterPlan {
  /** Tells the keys of one run from another's. */
  readonly name: string
  readonly inFlight: number
  readonly valueBytes: number
  readonly durationMs: number
}

/** Acknowledged writes a second. */
export async function writesPerSecond(kv: KV, plan: WriterPlan): Promise<number> {
  const { name, inFlight, valueBytes, durationMs } = plan
  const started = performance.now()
  let done = 0
  const writer = async (id: number): Promise<void> => {
    for (let i = 0; performance.now() - started < durationMs; i++) {
      const key = `/registry/configmaps/${name}/${id}-${i}`
      const { succeeded } = await kv.optimisticPut(key, new Uint8Array(valueBytes), 0)
      if (!succeeded) throw new Error(`${key} exists`)
      done++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, id) => writer(id)))
  return (done * 1000) / (performance.now() - started)
}

const given = workerData as { port: MessagePort; plan: WriterPlan } | null
if (parentPort !== null && given?.plan !== undefined) {
  const kv = new RemoteKV({ port: given.port })
  kv.start()
  parentPort.postMessage(await writesPerSecond(kv, given.plan))
  await kv.close()
}
