import { makePod, type Pod, versionOf } from '../pod.js'
import type { Subject } from '../subject.js'
import { behaviour } from '../suite.js'

const KEY = '/pods/ns/foo'

/** An object, and a copy of it from before its last change. */
async function staleAndLive(s: Subject, stale: Pod, live: Pod): Promise<{ stale: Pod; live: Pod }> {
  const first = await s.create(stale)
  const second = await s.storage.guaranteedUpdate(KEY, () => ({ object: structuredClone(live) }))
  return { stale: first, live: second }
}

export const deletion = [
  behaviour('delete gives the last state with the version of the deletion', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns', { labels: { a: 'b' } }))
    const deleted = await s.storage.delete(KEY)
    t.ok(versionOf(deleted) > versionOf(created))
    t.match(deleted, { metadata: { name: 'foo', uid: created.metadata?.uid, labels: { a: 'b' } } })
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('delete of a missing key fails', async (t, s) => {
    await t.rejects(s.storage.delete('/pods/ns/none'), { code: 'key-not-found' })
  }),

  behaviour('delete with the right uid deletes; with another it fails and nothing is gone', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns', { uid: 'A' }))
    const wrong = s.storage.delete(KEY, { preconditions: { uid: 'B' } })
    await t.rejects(wrong, { code: 'invalid-object', message: /B.*A/ })
    t.same(await s.storage.get(KEY), created)
    await s.storage.delete(KEY, { preconditions: { uid: 'A' } })
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('delete honours a precondition on the version', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const updated = await s.label(created, { a: 'b' })
    const old = { resourceVersion: String(versionOf(created)) }
    await t.rejects(s.storage.delete(KEY, { preconditions: old }), { code: 'invalid-object' })
    await s.storage.delete(KEY, { preconditions: { resourceVersion: String(versionOf(updated)) } })
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('delete asks the validation, whose refusal is final', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    let calls = 0
    const refused = s.storage.delete(KEY, {
      validateDeletion: (object) => {
        calls++
        t.same(object, created)
        throw new Error('not today')
      },
    })
    await t.rejects(refused, { message: 'not today' })
    t.equal(calls, 1)
    t.same(await s.storage.get(KEY), created)
  }),

  behaviour('delete with a current copy deletes without reading', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const before = s.opened.reads.gets
    const deleted = await s.storage.delete(KEY, { cachedExistingObject: structuredClone(created) })
    t.ok(versionOf(deleted) > versionOf(created))
    if (!s.cached) t.equal(s.opened.reads.gets, before)
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('delete leaves the copy it was given as it was', async (t, s) => {
    const copy = await s.create(makePod('foo', 'ns'))
    const before = structuredClone(copy)
    await s.storage.delete(KEY, { cachedExistingObject: copy })
    t.same(copy, before)
  }),

  behaviour('delete with a stale copy deletes the live object and gives that', async (t, s) => {
    const { stale, live } = await staleAndLive(
      s,
      makePod('foo', 'ns'),
      makePod('foo', 'ns', { labels: { new: 'yes' } }),
    )
    const deleted = await s.storage.delete(KEY, { cachedExistingObject: stale })
    t.equal(deleted.metadata?.labels?.['new'], 'yes')
    t.ok(versionOf(deleted) > versionOf(live))
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('delete with a copy of a deleted object fails as not found', async (t, s) => {
    const copy = await s.create(makePod('foo', 'ns'))
    await s.storage.delete(KEY)
    await t.rejects(s.storage.delete(KEY, { cachedExistingObject: copy }), { code: 'key-not-found' })
  }),

  behaviour('an update between validation and deletion is validated again', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const validated: number[] = []
    let updated: Pod | undefined
    const deleted = await s.storage.delete(KEY, {
      validateDeletion: async (object) => {
        validated.push(versionOf(object))
        updated ??= await s.label(created, { meanwhile: 'yes' })
      },
    })
    t.same(validated, [versionOf(created), versionOf(updated!)])
    t.equal(deleted.metadata?.labels?.['meanwhile'], 'yes')
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('a refusal on a current copy is final; on a stale one the live object is asked too', async (t, s) => {
    const current = await s.create(makePod('foo', 'ns'))
    let calls = 0
    const refuse = () => {
      calls++
      throw new Error('no')
    }
    const onCurrent = s.storage.delete(KEY, { cachedExistingObject: current, validateDeletion: refuse })
    await t.rejects(onCurrent, { message: 'no' })
    t.equal(calls, 1)

    await s.label(current, { a: 'b' })
    calls = 0
    const onStale = s.storage.delete(KEY, { cachedExistingObject: current, validateDeletion: refuse })
    await t.rejects(onStale, { message: 'no' })
    t.ok(calls === 1 || calls === 2)

    calls = 0
    await s.storage.delete(KEY, {
      cachedExistingObject: current,
      validateDeletion: (object) => {
        calls++
        if (object.metadata?.labels?.['a'] !== 'b') throw new Error('only the stale one is refused')
      },
    })
    t.ok(calls === 1 || calls === 2)
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('when only the stale copy passes the validation the object stays', async (t, s) => {
    const { stale, live } = await staleAndLive(
      s,
      makePod('foo', 'ns'),
      makePod('foo', 'ns', { labels: { keep: 'yes' } }),
    )
    const refused = s.storage.delete(KEY, {
      cachedExistingObject: stale,
      validateDeletion: (object) => {
        if (object.metadata?.labels?.['keep'] === 'yes') throw new Error('kept')
      },
    })
    await t.rejects(refused, { message: 'kept' })
    t.same(await s.storage.get(KEY), live)
  }),

  behaviour('when only the stale copy fails the uid precondition the object is deleted', async (t, s) => {
    const { stale } = await staleAndLive(s, makePod('foo', 'ns', { uid: 'A' }), makePod('foo', 'ns', { uid: 'B' }))
    await s.storage.delete(KEY, { cachedExistingObject: stale, preconditions: { uid: 'B' } })
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('when only the stale copy passes the uid precondition the object stays', async (t, s) => {
    const { stale, live } = await staleAndLive(
      s,
      makePod('foo', 'ns', { uid: 'A' }),
      makePod('foo', 'ns', { uid: 'B' }),
    )
    const refused = s.storage.delete(KEY, { cachedExistingObject: stale, preconditions: { uid: 'A' } })
    await t.rejects(refused, { code: 'invalid-object' })
    t.same(await s.storage.get(KEY), live)
  }),

  behaviour('of many deletes of one object exactly one succeeds', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => s.storage.delete(KEY)))
    t.equal(attempts.filter((attempt) => attempt.status === 'fulfilled').length, 1)
    for (const attempt of attempts) {
      if (attempt.status === 'rejected') t.match(attempt.reason, { code: 'key-not-found' })
    }
  }),
]
