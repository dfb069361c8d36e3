import { makePod, newPod, type Pod, podCodec, versionOf } from '../pod.js'
import { behaviour } from '../suite.js'

const KEY = '/pods/ns/foo'
const withNote = (pod: Pod, note: string): { object: Pod } => ({ object: { ...pod, spec: { ...pod.spec, note } } })

export const update = [
  behaviour('an update is made from the current state and gives the new one', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns', { labels: { a: 'b' } }))
    const updated = await s.storage.guaranteedUpdate(KEY, (current, meta) => {
      t.same(current, created)
      t.equal(meta.resourceVersion, versionOf(created))
      return withNote(current, 'changed')
    })
    t.ok(versionOf(updated) > versionOf(created))
    t.match(updated, { metadata: { labels: { a: 'b' } }, spec: { note: 'changed' } })
    t.same(await s.storage.get(KEY), updated)
  }),

  behaviour('an update of a missing key fails, or starts from an empty object when that is ignored', async (t, s) => {
    const never = () => t.fail('there is nothing to update') as never
    await t.rejects(s.storage.guaranteedUpdate(KEY, never), { code: 'key-not-found' })
    const made = await s.storage.guaranteedUpdate(
      KEY,
      (current, meta) => {
        t.same(current, newPod())
        t.equal(meta.resourceVersion, 0)
        return { object: makePod('foo', 'ns') }
      },
      { ignoreNotFound: true },
    )
    t.same(await s.storage.get(KEY), made)
  }),

  behaviour('an update that changes nothing writes nothing', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const before = await s.opened.kv.currentRevision()
    const same = await s.storage.guaranteedUpdate(KEY, (current) => ({ object: current }))
    t.same(same, created)
    t.equal(await s.opened.kv.currentRevision(), before)
  }),

  behaviour('an update that changes nothing rewrites what an old key encrypted', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    s.opened.transformer.rotate('two:')
    const rewritten = await s.storage.guaranteedUpdate(KEY, (current) => ({ object: current }))
    t.ok(versionOf(rewritten) > versionOf(created))
    const { kv } = await s.opened.kv.get(s.storedKey(KEY))
    t.match(Buffer.from(kv!.value).toString(), /^two:/)
    const again = await s.storage.guaranteedUpdate(KEY, (current) => ({ object: current }))
    t.equal(versionOf(again), versionOf(rewritten))
  }),

  behaviour('what an old key encrypted is rewritten even when the caller brings a copy', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    s.opened.transformer.rotate('two:')
    const rewritten = await s.storage.guaranteedUpdate(KEY, (current) => ({ object: current }), {
      cachedExistingObject: structuredClone(created),
    })
    t.ok(versionOf(rewritten) > versionOf(created))
  }),

  behaviour('whether something changed is judged by stored bytes, not by decoded objects', async (t, s) => {
    const pod = makePod('foo', 'ns')
    await s.create(pod)
    const spaced = JSON.stringify(pod, undefined, 2)
    const revision = await s.writeRaw(KEY, s.opened.transformer.seal(spaced))
    const updated = await s.storage.guaranteedUpdate(KEY, (current) => ({ object: current }))
    t.ok(versionOf(updated) > revision)
    const { kv } = await s.opened.kv.get(s.storedKey(KEY))
    const canonical = Buffer.from(podCodec.encode(structuredClone(pod))).toString()
    t.equal(Buffer.from(kv!.value).toString(), s.opened.transformer.seal(canonical))
  }),

  behaviour('a copy that equals the outcome does not hide stored bytes that differ', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    await s.writeRaw(KEY, s.opened.transformer.seal(JSON.stringify(makePod('foo', 'ns', { note: 'live' }))))
    const updated = await s.storage.guaranteedUpdate(KEY, () => ({ object: makePod('foo', 'ns') }), {
      cachedExistingObject: structuredClone(created),
    })
    t.equal(updated.spec?.note, undefined)
    t.same(await s.storage.get(KEY), updated)
    t.ok(versionOf(updated) > versionOf(created))
  }),

  behaviour('an update honours a uid precondition', async (t, s) => {
    await s.create(makePod('foo', 'ns', { uid: 'A' }))
    const refused = s.storage.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'), { preconditions: { uid: 'B' } })
    await t.rejects(refused, { code: 'invalid-object' })
    const updated = await s.storage.guaranteedUpdate(KEY, (pod) => withNote(pod, 'y'), { preconditions: { uid: 'A' } })
    t.equal(updated.spec?.note, 'y')
  }),

  behaviour('an update honours a version precondition', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const preconditions = { resourceVersion: String(versionOf(created)) }
    await s.storage.guaranteedUpdate(KEY, (pod) => withNote(pod, 'first'), { preconditions })
    const late = s.storage.guaranteedUpdate(KEY, (pod) => withNote(pod, 'second'), { preconditions })
    await t.rejects(late, { code: 'invalid-object' })
    t.equal((await s.storage.get(KEY)).spec?.note, 'first')
  }),

  behaviour('a uid precondition fails on an object that does not exist yet', async (t, s) => {
    const made = s.storage.guaranteedUpdate(KEY, () => ({ object: makePod('foo', 'ns') }), {
      ignoreNotFound: true,
      preconditions: { uid: 'A' },
    })
    await t.rejects(made, { code: 'invalid-object' })
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('an object gets the TTL that an update gives it', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const updated = await s.storage.guaranteedUpdate(KEY, (pod) => ({ ...withNote(pod, 'brief'), ttlSeconds: 1 }))
    const watch = await s.watch(KEY, { recursive: false, resourceVersion: String(versionOf(updated)) })
    await s.opened.passTime(3)
    t.equal((await watch.nextObject()).type, 'DELETED')
  }),

  behaviour('an update without TTL keeps the one that is there, and 0 removes it', async (t, s) => {
    await s.create(makePod('foo', 'ns'), 600)
    const leaseOf = async () => (await s.opened.kv.get(s.storedKey(KEY))).kv!.lease
    const first = await leaseOf()
    t.not(first, 0n)
    await s.storage.guaranteedUpdate(KEY, (pod) => withNote(pod, 'kept'))
    t.equal(await leaseOf(), first)
    await s.storage.guaranteedUpdate(KEY, (pod) => ({ object: pod, ttlSeconds: 0 }))
    t.equal(await leaseOf(), 0n)
  }),

  behaviour('the loser of a race runs again on what the winner wrote', async (t, s) => {
    await s.create(makePod('foo', 'ns', { note: '' }))
    let runs = 0
    const slow = s.storage.guaranteedUpdate(KEY, async (pod) => {
      if (++runs === 1) await s.storage.guaranteedUpdate(KEY, (current) => withNote(current, `${current.spec?.note}a`))
      return withNote(pod, `${pod.spec?.note}b`)
    })
    t.equal((await slow).spec?.note, 'ab')
    t.equal(runs, 2)
  }),

  behaviour('of many updates at once none is lost', async (t, s) => {
    await s.create(makePod('foo', 'ns', { note: '0' }))
    const increment = () => s.storage.guaranteedUpdate(KEY, (pod) => withNote(pod, String(Number(pod.spec?.note) + 1)))
    await Promise.all(Array.from({ length: 20 }, increment))
    t.equal((await s.storage.get(KEY)).spec?.note, '20')
  }),

  behaviour('an object that is deleted during an update is not brought back', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const late = s.storage.guaranteedUpdate(KEY, async (pod) => {
      await s.storage.delete(KEY).catch(() => undefined)
      return withNote(pod, 'late')
    })
    await t.rejects(late, { code: 'key-not-found' })
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
  }),

  behaviour('an update with a current copy does not read', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const before = s.opened.reads.gets
    const updated = await s.storage.guaranteedUpdate(KEY, (pod) => withNote(pod, 'fast'), {
      cachedExistingObject: structuredClone(created),
    })
    t.equal(updated.spec?.note, 'fast')
    if (!s.cached) t.equal(s.opened.reads.gets, before)
  }),

  behaviour(
    'a failure on a stale copy is tried again on the live object; on a current one it is final',
    async (t, s) => {
      const stale = await s.create(makePod('foo', 'ns'))
      const live = await s.label(stale, { a: 'b' })
      const seen: number[] = []
      const updated = await s.storage.guaranteedUpdate(
        KEY,
        (pod) => {
          seen.push(versionOf(pod))
          if (pod.metadata?.labels?.['a'] !== 'b') throw new Error('not labelled')
          return withNote(pod, 'labelled')
        },
        { cachedExistingObject: structuredClone(stale) },
      )
      t.equal(updated.spec?.note, 'labelled')
      t.equal(seen.at(-1), versionOf(live))

      let runs = 0
      const failing = s.storage.guaranteedUpdate(
        KEY,
        () => {
          runs++
          throw new Error('never')
        },
        { cachedExistingObject: structuredClone(updated) },
      )
      await t.rejects(failing, { message: 'never' })
      t.equal(runs, 1)
    },
  ),

  behaviour('a write on a stale copy is made again on the live object', async (t, s) => {
    const stale = await s.create(makePod('foo', 'ns'))
    await s.label(stale, { live: 'yes' })
    const updated = await s.storage.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'), {
      cachedExistingObject: structuredClone(stale),
    })
    t.match(updated, { metadata: { labels: { live: 'yes' } }, spec: { note: 'x' } })
  }),
]
