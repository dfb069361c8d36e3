import t from 'tap'
import { HandedDrafts } from '#keelson/cacher/feed/handed-drafts.js'
import type { RecordDraft } from '#keelson/protocol/record-draft.js'

const draft = (uid: string): RecordDraft => ({
  uid,
  labels: [],
  fields: [],
  body: Buffer.from('{}'),
  revisionOffset: 0,
})
const handed = (key: string, value: string, uid = value) => ({ key, value: Buffer.from(value), draft: draft(uid) })
const event = (key: string, value: string) => ({
  key,
  value: Buffer.from(value),
  modRevision: 5,
  createRevision: 5,
  version: 1,
  lease: 0n,
})

t.test('a draft is for the bytes that it was made of, once', async (t) => {
  const drafts = new HandedDrafts()
  drafts.add([handed('/a', 'one'), handed('/b', 'two')], 0)
  t.equal(drafts.take(event('/a', 'other')), undefined, 'somebody else wrote')
  t.equal(drafts.take(event('/a', 'one'))?.uid, 'one')
  t.equal(drafts.take(event('/a', 'one')), undefined)
  drafts.add([handed('/b', 'three')], 0)
  t.equal(drafts.take(event('/b', 'two')), undefined, 'the later write of a key counts')
  t.equal(drafts.take(event('/b', 'three'))?.uid, 'three')
  t.equal(drafts.size, 0)
})

t.test('what is never asked for does not stay', async (t) => {
  const drafts = new HandedDrafts()
  for (let i = 0; i < 10_000; i++) drafts.add([handed(`/${i}`, 'x')], 0)
  t.ok(drafts.size <= 2048)
  t.equal(drafts.take(event('/9999', 'x'))?.uid, 'x', 'the oldest go first')
})

t.test('drafts are bounded by their bytes too', async (t) => {
  const drafts = new HandedDrafts()
  const big = 'x'.repeat(2 ** 20)
  for (let i = 0; i < 100; i++) drafts.add([handed(`/big${i}`, `${i}${big}`, 'u')], 0)
  t.ok(drafts.bytes <= 32 * 2 ** 20, `${drafts.bytes} bytes are held`)
  t.equal(drafts.take(event('/big0', `0${big}`)), undefined, 'the oldest went')
  t.ok(drafts.take(event('/big99', `99${big}`)))
})

t.test('what a thread has handed goes with it', async (t) => {
  const drafts = new HandedDrafts()
  drafts.add([handed('/a', 'one'), handed('/b', 'two')], 1)
  drafts.add([handed('/c', 'three')], 2)
  drafts.add([handed('/b', 'four')], 2)
  drafts.forget(1)
  t.equal(drafts.take(event('/a', 'one')), undefined)
  t.equal(drafts.take(event('/b', 'four'))?.uid, 'four', 'another thread has written it since')
  t.equal(drafts.take(event('/c', 'three'))?.uid, 'three')
  t.equal(drafts.bytes, 0)
})
