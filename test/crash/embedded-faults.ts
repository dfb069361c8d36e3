import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { type FaultAction, faultEnvironment } from './fault-library.js'

const CHILD = fileURLToPath(new URL('./embedded-fault-child.js', import.meta.url))

export interface Ack {
  readonly revision: number
  readonly key: string
  /** Null: deleted. */
  readonly value: string | null
}

export interface Note extends Partial<Ack> {
  readonly started?: boolean
  readonly ended?: boolean
  /** A write that was refused for certain, for want of space. */
  readonly refused?: boolean
}

export interface FaultRun {
  readonly dataDir: string
  readonly notes: readonly Note[]
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  readonly said: string
}

export interface FaultRunOptions {
  readonly library: string
  readonly at: number
  readonly action: FaultAction
  readonly calls?: number
  readonly groups: number
  readonly trace?: string
}

/** Runs the writer in a folder of its own with one fault, to its end. */
export async function runWithFault(t: Test, options: FaultRunOptions): Promise<FaultRun> {
  const folder = temporaryFolder(t, 'fault')
  const dataDir = path.join(folder, 'store')
  mkdirSync(dataDir)
  // Acknowledgements are no calls of the engine, but what is traced shows where among them they came.
  const acks = path.join(options.trace === undefined ? folder : dataDir, 'acks')
  const store = path.join(dataDir, 'data')
  const env = { ...process.env, ...faultEnvironment(options.library, { ...options, folder: dataDir }) }
  const child = spawn(process.execPath, [CHILD, store, acks, String(options.groups)], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('close', (...ended) => resolve(ended)),
  )
  return { dataDir: store, notes: notesIn(acks), signal, code, said }
}

function notesIn(file: string): Note[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Note)
}

export const acksOf = (notes: readonly Note[]): Ack[] =>
  notes.filter((note): note is Ack => note.revision !== undefined)

/** Opens the store: everything acknowledged must be there, no revision is given out twice, refused writes are not there. */
export async function verify(run: FaultRun): Promise<void> {
  const acks = acksOf(run.notes)
  const last = Math.max(1, ...acks.map(({ revision }) => revision))
  if (new Set(acks.map(({ revision }) => revision)).size !== acks.length) throw new Error('a revision was used twice')
  const engine = await EmbeddedEngine.open({ dataDir: run.dataDir })
  try {
    const revision = await engine.currentRevision()
    if (revision < last) throw new Error(`revision ${last} was acknowledged; the store is at ${revision}`)
    const newest = new Map<string, Ack>()
    for (const ack of acks) if ((newest.get(ack.key)?.revision ?? 0) < ack.revision) newest.set(ack.key, ack)
    for (const [key, ack] of newest) {
      const { kv } = await engine.get(key)
      // A write whose acknowledgement did not come may have come after the last one that did.
      if (kv === undefined ? ack.value === null : kv.modRevision > last) continue
      if (kv !== undefined && kv.modRevision === ack.revision && Buffer.from(kv.value).toString() === ack.value)
        continue
      if (kv === undefined && revision > last) continue
      throw new Error(`${key} is not what was acknowledged at revision ${ack.revision}`)
    }
    for (const { kvs } of [await engine.list('/k/')])
      for (const kv of kvs)
        if (run.notes.some((note) => note.refused === true && note.value === Buffer.from(kv.value).toString()))
          throw new Error(`${kv.key} holds a write that was refused`)
    const next = await engine.optimisticPut('/after', Buffer.from('x'), 0)
    if (next.revision <= last) throw new Error(`revision ${next.revision} was used again`)
  } finally {
    await engine.close()
  }
}
