/**
 * How many durable writes a second does the embedded engine take, by number in flight, in its own thread and from another?
 * New keys, values of 2 KB, every write acknowledged after its sync; data in the folder for temporary files.
 */
import { once } from 'node:events'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { KvServer } from '#keelson/storage/embedded/kv-server.js'
import { type WriterPlan, writesPerSecond } from './embedded-writer.js'

const IN_FLIGHT = [1, 8, 64, 256]
const VALUE_BYTES = 2048
const DURATION_MS = 1500

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keelson-bench-'))
  try {
    const rows = [
      { name: 'disk: fdatasync of one page', figure: `${format(syncsPerSecond(dataDir))}/s`, note: dataDir },
    ]
    const engine = await EmbeddedEngine.open({ dataDir: path.join(dataDir, 'data') })
    const plan = (name: string, inFlight: number): WriterPlan => ({
      name: `${name}-${inFlight}`,
      inFlight,
      valueBytes: VALUE_BYTES,
      durationMs: DURATION_MS,
    })
    // The first run pays for compilation and an empty file.
    await writesPerSecond(engine, plan('warm-up', 64))
    for (const inFlight of IN_FLIGHT)
      rows.push(row('engine', inFlight, await writesPerSecond(engine, plan('direct', inFlight))))
    for (const inFlight of IN_FLIGHT)
      rows.push(row('engine from another thread', inFlight, await fromAnotherThread(engine, plan('remote', inFlight))))
    await engine.close()
    return rows
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const row = (name: string, inFlight: number, rate: number): { name: string; figure: string; note: string } => ({
  name: `${name}: durable 2 KB writes, ${inFlight} in flight`,
  figure: `${format(rate)}/s`,
  note: `${((1000 * inFlight) / rate).toFixed(2)} ms each`,
})

const format = (rate: number): string => Math.round(rate).toLocaleString('en-US')

async function fromAnotherThread(engine: EmbeddedEngine, plan: WriterPlan): Promise<number> {
  const server = new KvServer(engine)
  const { port1, port2 } = new MessageChannel()
  server.serve(port1)
  const worker = new Worker(new URL('./embedded-writer.js', import.meta.url), {
    workerData: { port: port2, plan },
    transferList: [port2],
  })
  // Listened for from the start: it may end before anybody waits for it.
  const ended = once(worker, 'exit')
  const [rate] = (await once(worker, 'message')) as [number]
  await ended
  server.stop()
  return rate
}

/** The limit of the disk below: a commit of LMDB needs two of these. */
function syncsPerSecond(folder: string): number {
  const file = openSync(path.join(folder, 'sync'), 'w')
  const page = Buffer.alloc(4096)
  const started = performance.now()
  let done = 0
  for (; performance.now() - started < 500; done++) {
    writeSync(file, page, 0, page.length, (done % 64) * page.length)
    fdatasyncSync(file)
  }
  closeSync(file)
  return (done * 1000) / (performance.now() - started)
}
