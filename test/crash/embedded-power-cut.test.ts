/**
 * A kill leaves what was written in the system's cache; a power cut does not. Here every write of a run is recorded, and the
 * file is put together as a disk may hold it after a cut at any moment: what was synced, and of the rest any sectors.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { LmdbFile } from '#keelson/storage/embedded/file/lmdb-file.js'
import { checkStore } from '#keelson/storage/embedded/file/store-check.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { type Ack, runWithFault } from './embedded-faults.js'
import { compileFaults } from './fault-library.js'
import { readTrace, type TracedCall } from './write-trace.js'

const GROUPS = 30
const SECTOR = 512
/** Every so many images are also opened by the engine, which takes longer. */
const OPENED = 40

const compiled = compileFaults(t)
const skip = 'skip' in compiled ? compiled.skip : false
const library = 'library' in compiled ? compiled.library : ''

/** The disk: what is on it for certain, and what it may still lose. */
class Disk {
  #durable: Buffer = Buffer.alloc(0)
  #pending: TracedCall[] = []

  take(call: TracedCall): void {
    if (call.op === 's') {
      for (const write of this.#pending) this.#durable = laid(this.#durable, write, () => true)
      this.#pending = []
    } else if (call.op === 'd') this.#durable = laid(this.#durable, call, () => true)
    else if (call.op === 'w') this.#pending.push(call)
  }

  /** What the disk may hold after a cut: of what was not synced, the sectors that `kept` takes. */
  image(kept: () => boolean): Buffer {
    return this.#pending.reduce<Buffer>((image, write) => laid(image, write, kept), Buffer.from(this.#durable))
  }
}

function laid(image: Buffer, { offset, bytes }: TracedCall, kept: () => boolean): Buffer {
  const end = offset + bytes.length
  const target = end > image.length ? Buffer.concat([image, Buffer.alloc(end - image.length)]) : image
  for (let at = 0; at < bytes.length; at += SECTOR) if (kept()) bytes.copy(target, offset + at, at, at + SECTOR)
  return target
}

/** Throws unless the image is sound and holds all that was acknowledged before the cut. */
function verifyImage(file: string, acks: readonly Ack[]): void {
  const opened = LmdbFile.open(file)
  try {
    const live = new Map<string, string>()
    const revisions = new Map<string, number>()
    const report = checkStore(opened, {
      onLive: (kv) => {
        live.set(kv.key, Buffer.from(kv.value).toString())
        revisions.set(kv.key, kv.modRevision)
      },
    })
    if (report.problemCount > 0) throw new Error(report.problems[0])
    const last = Math.max(1, ...acks.map(({ revision }) => revision))
    if (report.state!.revision < last) throw new Error(`the store is at ${report.state!.revision}, after ${last}`)
    const newest = new Map(acks.toSorted((a, b) => a.revision - b.revision).map((ack) => [ack.key, ack]))
    for (const [key, ack] of newest) {
      const isOvertaken = (revisions.get(key) ?? report.state!.revision) > last
      if (!isOvertaken && (live.get(key) ?? null) !== ack.value) throw new Error(`${key} is not what was acknowledged`)
    }
  } finally {
    opened.close()
  }
}

t.setTimeout(900_000)

t.test('whatever a power cut leaves, the store is sound and has all that was acknowledged', { skip }, async (t) => {
  const folder = temporaryFolder(t, 'power-cut')
  const trace = path.join(folder, 'trace')
  await runWithFault(t, { library, at: 0, action: 'kill', groups: GROUPS, trace })
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  writeFileSync(path.join(dataDir, 'keelson.json'), '{"format":"keelson-embedded","version":2,"initialised":true}\n')
  const file = path.join(dataDir, 'data.mdb')
  const disk = new Disk()
  const acks: Ack[] = []
  let started = false
  let images = 0
  let seed = 11
  const random = (): boolean => {
    seed = (seed * 48271) % 2147483647
    return seed % 2 === 0
  }
  for (const call of readTrace(readFileSync(trace))) {
    if (call.name === 'acks') {
      const note = JSON.parse(call.bytes.toString()) as Partial<Ack> & { started?: boolean }
      started ||= note.started === true
      if (note.revision !== undefined) acks.push(note as Ack)
    } else if (call.name === 'data.mdb') disk.take(call)
    if (!started || call.name !== 'data.mdb') continue
    for (const kept of [() => false, () => true, random]) {
      writeFileSync(file, disk.image(kept))
      try {
        verifyImage(file, acks)
      } catch (error) {
        t.fail(`image ${images}: ${String(error)}`)
      }
      if (images++ % OPENED === 0) await (await EmbeddedEngine.open({ dataDir })).close()
    }
  }
  t.ok(acks.length > GROUPS * 2 && images > 200, `${images} images, ${acks.length} acknowledgements`)
})
