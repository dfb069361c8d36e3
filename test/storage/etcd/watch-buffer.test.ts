import { test } from 'tap'
import type { KvEvent } from '#keelson/storage/contract/kv.js'
import type { WatchResponse } from '#keelson/storage/etcd/messages.js'
import { WatchBuffer } from '#keelson/storage/etcd/watch-buffer.js'

const event = (modRevision: number, key: string): KvEvent => ({
  type: 'put',
  kv: { key, value: new Uint8Array(), modRevision, createRevision: modRevision, version: 1, lease: 0n },
  prev: undefined,
})

const response = (events: KvEvent[], fragment = false): WatchResponse => ({
  revision: 1000,
  watchId: 0,
  created: false,
  canceled: false,
  compactRevision: 0,
  cancelReason: '',
  fragment,
  events,
})

function drain(buffer: WatchBuffer): string[] {
  const batches: string[] = []
  for (let batch = buffer.shift(); batch !== undefined; batch = buffer.shift())
    batches.push(`${batch.revision}: ${batch.events.map((e) => `${e.kv.key}${e.kv.modRevision}`).join(' ')}`)
  return batches
}

test('a revision that spans fragments is delivered whole, and complete ones before it at once', async (t) => {
  const buffer = new WatchBuffer(5)
  buffer.pushEvents(response([event(5, 'a'), event(6, 'a'), event(6, 'b')], true), 100)
  t.strictSame(drain(buffer), ['5: a5'])
  t.equal(buffer.nextRevision, 6)
  buffer.pushEvents(response([event(6, 'c')], true), 100)
  t.strictSame(drain(buffer), [])
  buffer.pushEvents(response([event(6, 'd'), event(7, 'a')]), 100)
  t.strictSame(drain(buffer), ['7: a6 b6 c6 d6 a7'])
  t.equal(buffer.nextRevision, 8)
})

test('what was incomplete when the stream broke is taken from its beginning', async (t) => {
  const buffer = new WatchBuffer(5)
  buffer.pushEvents(response([event(5, 'a'), event(5, 'b')], true), 100)
  buffer.dropIncomplete()
  t.equal(buffer.nextRevision, 5)
  buffer.pushEvents(response([event(5, 'a'), event(5, 'b'), event(5, 'c')]), 100)
  t.strictSame(drain(buffer), ['5: a5 b5 c5'])
})

test('what was delivered already is not delivered again', async (t) => {
  const buffer = new WatchBuffer(5)
  buffer.pushEvents(response([event(5, 'a')]), 10)
  buffer.pushEvents(response([event(4, 'a'), event(5, 'a'), event(6, 'a')]), 10)
  buffer.pushEvents(response([event(6, 'a')]), 10)
  t.strictSame(drain(buffer), ['5: a5', '6: a6'])
})

test('progress moves the point of resumption, forwards only', async (t) => {
  const buffer = new WatchBuffer(5)
  buffer.pushProgress(3, true)
  t.equal(buffer.nextRevision, 5)
  buffer.pushProgress(9, true)
  buffer.pushProgress(12, true)
  t.equal(buffer.nextRevision, 13)
  t.strictSame(drain(buffer), ['12: '], 'the newest report stands for those before it')
  buffer.pushProgress(20, false)
  t.equal(buffer.nextRevision, 21)
  t.strictSame(drain(buffer), [])
})

test('bytes are counted while they are held', async (t) => {
  const buffer = new WatchBuffer(1)
  buffer.pushEvents(response([event(1, 'a')]), 70)
  buffer.pushEvents(response([event(2, 'a')]), 30)
  t.equal(buffer.bytes, 100)
  buffer.shift()
  t.equal(buffer.bytes, 30)
  buffer.shift()
  t.equal(buffer.bytes, 0)
})
