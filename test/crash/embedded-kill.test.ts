import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { KeyValue } from '#keelson/storage/contract/kv.js'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'

const ROUNDS = 200
const CHILD = fileURLToPath(new URL('./embedded-kill-child.js', import.meta.url))

interface Ack {
  readonly revision: number
  readonly key: string
  /** The value without its padding; null: deleted. */
  readonly value: string | null
}

type Writer = ReturnType<typeof startWriter>

/** Loads the program and waits for its turn: starting one takes longer than its round. */
const startWriter = (dataDir: string, round: number) =>
  spawn(process.execPath, [CHILD, dataDir, String(round)], { stdio: ['pipe', 'pipe', 'pipe'] })

/** Lets the writer write, kills it `afterMs` after its first acknowledgement, and gives all that it reported. */
async function writeUntilKilled(writer: Writer, afterMs: number): Promise<{ start: number; acks: Ack[] }> {
  let output = ''
  let errors = ''
  let killer: NodeJS.Timeout | undefined
  writer.stdout.on('data', (chunk: Buffer) => {
    output += chunk
    if (output.includes('"revision"')) killer ??= setTimeout(() => writer.kill('SIGKILL'), afterMs)
  })
  writer.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => writer.once('close', (_, signal) => resolve(signal)))
  writer.stdin.write('go')
  const signal = await ended
  clearTimeout(killer)
  if (signal !== 'SIGKILL') throw new Error(`the writer ended by itself: ${errors}`)
  const lines = output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Ack & { start?: number })
  return { start: lines[0]!.start!, acks: lines.slice(1) }
}

/** Applies the log after `since` to a state, checking that revisions follow one another without a gap. */
async function replay(
  engine: EmbeddedEngine,
  since: number,
  state: Map<string, KeyValue>,
): Promise<Map<number, string | null>> {
  const until = await engine.currentRevision()
  const seen = new Map<number, string | null>()
  const watch = engine.watch({ key: '/k/', prefix: true, startRevision: since + 1 })
  let revision = since
  while (revision < until) {
    for (const { type, kv, prev } of (await watch.next())!.events) {
      if (kv.modRevision !== ++revision) throw new Error(`the log jumps from ${revision - 1} to ${kv.modRevision}`)
      if (prev?.modRevision !== state.get(kv.key)?.modRevision) throw new Error(`wrong previous state at ${revision}`)
      if (type === 'put') state.set(kv.key, kv)
      else state.delete(kv.key)
      seen.set(revision, type === 'put' ? Buffer.from(kv.value).toString().replace(/x*$/, '') : null)
    }
  }
  watch.close()
  return seen
}

const describe = (kv: KeyValue): string =>
  `${kv.key} ${kv.modRevision} ${kv.createRevision} ${kv.version} ${Buffer.from(kv.value)}`

// About a minute of starting processes when nothing else runs; a busy machine may take several.
t.setTimeout(900_000)

t.test(`${ROUNDS} kills lose no acknowledged write and reuse no revision`, async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keelson-kill-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const acknowledged = new Map<number, Ack>()
  const state = new Map<string, KeyValue>()
  let replayed = 1
  let seed = 20260101
  let next = startWriter(dataDir, 0)
  t.teardown(() => next.kill('SIGKILL'))
  for (let round = 0; round < ROUNDS; round++) {
    seed = (seed * 48271) % 2147483647
    const writer = next
    if (round + 1 < ROUNDS) next = startWriter(dataDir, round + 1)
    const { start, acks } = await writeUntilKilled(writer, seed % 60)
    if (start < replayed) t.fail(`round ${round} started at revision ${start}, after ${replayed}`)
    for (const ack of acks) {
      if (ack.revision <= start) t.fail(`revision ${ack.revision} is from before round ${round}`)
      if (acknowledged.has(ack.revision)) t.fail(`revision ${ack.revision} was used twice`)
      acknowledged.set(ack.revision, ack)
    }
    const engine = await EmbeddedEngine.open({ dataDir })
    const since = Math.max(replayed, engine.compactedRevision())
    // Compaction keeps hundreds of revisions, so a round's writes may have left the log already: start from the state then.
    if (since > replayed) {
      state.clear()
      for (const kv of (await engine.list('/k/', { revision: since })).kvs) state.set(kv.key, kv)
    }
    const log = await replay(engine, since, state)
    replayed = await engine.currentRevision()
    for (const ack of acks) {
      if (ack.revision > replayed) t.fail(`acknowledged revision ${ack.revision} of round ${round} is lost`)
      if (ack.revision > since && log.get(ack.revision) !== ack.value)
        t.fail(`revision ${ack.revision} does not hold what was acknowledged`)
    }
    const now = (await engine.list('/k/')).kvs
    const expected = [...state.values()].map(describe).sort()
    if (JSON.stringify(now.map(describe).sort()) !== JSON.stringify(expected))
      t.fail(`the log does not replay to the state after round ${round}`)
    await engine.close()
  }
  t.ok(acknowledged.size > ROUNDS * 10, `${acknowledged.size} writes were acknowledged`)
  t.comment(`${acknowledged.size} acknowledged writes, last revision ${replayed}`)
})
