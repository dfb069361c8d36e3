/**
 * Question: what do shared memory's reads and writes cost with 100,000 objects of 4 KB in one arena?
 * Workload: pods in 100 namespaces; one thread writes and reads, so that no figure hides a wait.
 */

import type { SharedArenaReader } from '#keelson/cacher/memory/arena-reader.js'
import { FieldIndex } from '#keelson/cacher/memory/field-index.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { ArenaWriter, EventCursor } from '#keelson/cacher/memory/shared-memory.js'
import { TriggerIndex } from '#keelson/cacher/memory/trigger-index.js'
import type { RecordDraft } from '#keelson/protocol/record-draft.js'

export interface BenchRow {
  readonly name: string
  readonly figure: string
  readonly note?: string
}

const OBJECTS = 100_000
const BODY_BYTES = 4096

const keyOf = (n: number): string =>
  `/registry/pods/namespace-${n % 100}/deployment-${Math.imul(n, 0x9e3779b1) >>> 0}-${(n % 9973).toString(36)}`

function draftOf(n: number): RecordDraft {
  const before = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod","resourceVersion":"'
  const body = Buffer.alloc(BODY_BYTES, 'x')
  body.write(before)
  const labels = ['app', 'web', 'pod-template-hash', '5d4f8c7b9', 'tier', n % 2 === 0 ? 'front' : 'back']
  const fields = ['metadata.name', 'pod', 'metadata.namespace', 'default', 'spec.nodeName', `node-${n % 500}`]
  return { uid: 'a8a7e1f2-0c1d-4a53-9d4c-9a5c2f1f6d11', labels, fields, body, revisionOffset: before.length }
}

/** Processor time of this process so far, in microseconds: other work on the machine does not count. */
function cpu(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Median of several rounds, in microseconds of processor time an operation. */
function measure(operations: number, work: () => void, rounds = 5): number {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = cpu()
    work()
    times.push((cpu() - start) / operations)
  }
  return times.sort((a, b) => a - b)[rounds >> 1]!
}

/** What was read is used, so that none of it can be left out. */
const checked = (sum: number): string => (sum > 0 ? '' : 'nothing was read')

const micro = (value: number): string => `${value.toFixed(2)} µs`

class MemoryBench {
  readonly owner = new MemoryOwner()
  readonly writer: ArenaWriter = this.owner.createArena('pods')
  readonly arena: SharedArenaReader = this.owner.localReader().arena('pods')!
  readonly keys = Array.from({ length: OBJECTS }, (_, n) => keyOf(n))
  readonly drafts = Array.from({ length: 64 }, (_, n) => draftOf(n))
  revision = 0
  #at = 0

  /** Keys in an order that no cache foresees. */
  next(): string {
    this.#at = (this.#at + 7919) % OBJECTS
    return this.keys[this.#at]!
  }

  put(key: string, n: number): void {
    const revision = ++this.revision
    this.writer.put(key, this.drafts[n % 64]!, revision, revision)
    this.writer.publish(revision)
    this.owner.clock.advance(revision)
  }

  fill(): BenchRow {
    const start = cpu()
    for (const [n, key] of this.keys.entries()) this.put(key, n)
    this.writer.setReady(true)
    const each = (cpu() - start) / OBJECTS
    return { name: 'insert an object and publish it, from 0 to 100,000', figure: micro(each) }
  }

  apply(): BenchRow {
    const work = () => {
      for (let i = 0; i < 10_000; i++) this.put(this.next(), this.#at)
    }
    return { name: 'apply an update and publish it', figure: micro(measure(10_000, work)), note: 'aim: under 15 µs' }
  }

  churn(): BenchRow {
    const work = () => {
      for (let i = 0; i < 5_000; i++) {
        const key = this.next()
        const revision = ++this.revision
        this.writer.delete(key, revision)
        this.writer.publish(revision)
        this.owner.clock.advance(revision)
        this.put(key, this.#at)
      }
    }
    return { name: 'delete or create an object and publish it', figure: micro(measure(10_000, work)) }
  }

  lookup(): BenchRow[] {
    let bytes = 0
    const held = this.arena.snapshot()
    const inSnapshot = () => {
      for (let i = 0; i < 100_000; i++) bytes += held.get(this.next())!.modRevision
    }
    const find = measure(100_000, inSnapshot)
    held.release()
    const whole = () => {
      for (let i = 0; i < 100_000; i++) {
        const snapshot = this.arena.snapshot()
        bytes += snapshot.get(this.next())!.body().length
        snapshot.release()
      }
    }
    return [
      { name: 'look up a key in a snapshot', figure: micro(find), note: 'aim: under 5 µs' },
      {
        name: 'snapshot, look up, body, release (a GET)',
        figure: micro(measure(100_000, whole)),
        note: checked(bytes),
      },
    ]
  }

  list(): BenchRow[] {
    let bytes = 0
    const snapshot = this.arena.snapshot()
    const work = () => {
      let left = 10_000
      snapshot.scan('/registry/pods/namespace-3', '', (record) => {
        bytes += record.body().length
        return --left > 0
      })
    }
    const all = measure(1, work)
    const select = () =>
      snapshot.scan('', '', (record) => {
        if (record.fields.get('spec.nodeName') === 'node-7') bytes++
        return true
      })
    const selecting = measure(OBJECTS, select)
    const count = () => {
      for (let i = 0; i < 1000; i++)
        bytes += snapshot.count('/registry/pods/namespace-3/', '/registry/pods/namespace-30')
    }
    const counting = measure(1000, count)
    snapshot.release()
    return [
      {
        name: 'list 10,000 objects (a view of each body)',
        figure: `${(all / 1000).toFixed(2)} ms`,
        note: checked(bytes),
      },
      { name: 'read a field of each of 100,000 objects', figure: `${micro(selecting)} each` },
      { name: 'count a namespace', figure: micro(counting) },
    ]
  }

  fanOut(): BenchRow {
    const cursors: EventCursor[] = Array.from({ length: 1000 }, () => this.arena.cursor(this.revision))
    let seen = 0
    const work = () => {
      this.put(this.next(), this.#at)
      for (const cursor of cursors)
        cursor.advance((event) => {
          seen += event.record.body().length
          return true
        })
    }
    const each = measure(1, () => {
      for (let i = 0; i < 20; i++) work()
    })
    return {
      name: 'one event to 1,000 cursors',
      figure: `${(each / 20 / 1000).toFixed(3)} ms`,
      note: `${(each / 20_000).toFixed(2)} µs a cursor${checked(seen)}`,
    }
  }

  triggers(): BenchRow {
    const index = new TriggerIndex<number>('spec.nodeName')
    for (let n = 0; n < 5000; n++) index.add(`node-${n}`, n)
    const cursor = this.arena.cursor(this.revision)
    let told = 0
    const work = () => {
      for (let i = 0; i < 5000; i++) this.put(this.next(), this.#at)
      const start = cpu()
      cursor.advance((event) => {
        index.visit(event, () => told++)
        return true
      })
      return cpu() - start
    }
    const times = Array.from({ length: 5 }, work).sort((a, b) => a - b)
    const each = times[2]! / 5000
    return {
      name: 'one event to whom it concerns of 5,000 watchers, each of one node',
      figure: micro(each),
      note: `${told} told of 25000 events`,
    }
  }

  indexedList(): BenchRow {
    const index = new FieldIndex({ arena: this.arena, field: 'spec.nodeName' })
    let found = 0
    const work = () => {
      const snapshot = this.arena.snapshot()
      index.scan(snapshot, 'node-7', { startKey: '', endKey: '' }, () => found++ >= 0)
      snapshot.release()
    }
    work()
    const each = measure(100, () => {
      for (let i = 0; i < 100; i++) work()
    })
    return { name: 'list the pods of one node by its index', figure: micro(each), note: `${found / 501} pods` }
  }

  relist(): BenchRow {
    const sorted = [...this.keys].sort()
    const revision = ++this.revision
    const entries = sorted.map((key, n) => ({
      key,
      draft: this.drafts[n % 64]!,
      modRevision: revision,
      createRevision: 1,
    }))
    const each = measure(
      OBJECTS,
      () => {
        this.writer.replace(entries, this.revision)
        this.writer.publish(this.revision)
        this.owner.clock.advance(this.revision)
      },
      3,
    )
    return { name: 'relist 100,000 objects that have not changed', figure: `${micro(each)} each` }
  }

  memory(): BenchRow {
    const { segmentBytes, usedBytes, windowBytes, objects, events } = this.writer.memory()
    const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
    const note = `${mega(usedBytes)} used, ${mega(windowBytes)} of it for a window of ${events} events`
    return { name: `memory for ${objects} objects of 4 KB`, figure: mega(segmentBytes), note }
  }
}

function encode(): BenchRow {
  const owner = new MemoryOwner()
  const writer = owner.createArena('one', { maxEvents: 64 })
  const draft = draftOf(1)
  let revision = 0
  const work = () => {
    for (let i = 0; i < 10_000; i++) {
      writer.put('/registry/pods/default/pod', draft, ++revision, 1)
      writer.publish(revision)
    }
  }
  work()
  const each = measure(10_000, work)
  owner.close()
  return { name: 'encode a record of 4 KB (put and publish in an arena of one)', figure: micro(each) }
}

export async function run(): Promise<BenchRow[]> {
  const bench = new MemoryBench()
  const rows = [
    encode(),
    bench.fill(),
    bench.apply(),
    bench.churn(),
    ...bench.lookup(),
    ...bench.list(),
    bench.fanOut(),
  ]
  rows.push(bench.triggers(), bench.indexedList(), bench.memory(), bench.relist())
  bench.owner.close()
  return rows
}
