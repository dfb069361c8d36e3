import { equals, makePod, namesOf, type Pod, versionOf } from '../pod.js'
import type { Subject } from '../subject.js'
import { behaviour } from '../suite.js'

const FUTURE = '9223372036854775807'

interface History {
  /** The store's revision before the first write. */
  readonly before: number
  /** What exists after each write, by the version of that write. */
  readonly states: { readonly revision: number; readonly pods: Pod[] }[]
}

/** Objects in three namespaces, one of them updated, one deleted. */
async function writeHistory(s: Subject): Promise<History> {
  const before = await s.storage.currentResourceVersion()
  const states: { revision: number; pods: Pod[] }[] = []
  const live = new Map<string, Pod>()
  const record = (revision: number) => {
    const pods = [...live.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pod]) => pod)
    states.push({ revision, pods })
  }
  const names = ['first/bar', 'second/bar', 'second/foo', 'third/barfoo', 'third/foo', 'second/baz']
  for (const key of names) {
    const [namespace, name] = key.split('/') as [string, string]
    const pod = await s.create(makePod(name, namespace, { nodeName: `node-${namespace}` }))
    live.set(key, pod)
    record(versionOf(pod))
  }
  const updated = await s.label(makePod('bar', 'first'), { updated: 'yes' })
  live.set('first/bar', updated)
  record(versionOf(updated))
  live.delete('second/baz')
  record(versionOf(await s.storage.delete('/pods/second/baz')))
  return { before, states }
}

const newest = (history: History) => history.states.at(-1)!

export const list = [
  behaviour(
    'a list holds everything below its key, in the order of keys, at the version of the store',
    async (t, s) => {
      const history = await writeHistory(s)
      const all = await s.list('/pods/')
      t.same(all.items, newest(history).pods)
      t.equal(all.resourceVersion, newest(history).revision)
      t.equal(all.continueToken, '')
      t.equal(all.remainingItemCount, undefined)
      t.same(namesOf((await s.list('/pods/second')).items), ['second/bar', 'second/foo'])
    },
  ),

  behaviour('a list of nothing is empty and has the version of the store', async (t, s) => {
    const history = await writeHistory(s)
    const none = await s.list('/pods/none')
    t.same(none.items, [])
    t.equal(none.resourceVersion, newest(history).revision)
  }),

  behaviour('a list without a version is linearizable', async (t, s) => {
    for (let i = 0; i < 10; i++) {
      const created = await s.create(makePod(`pod-${i}`, 'ns'))
      const { items, resourceVersion } = await s.list('/pods/ns')
      t.equal(items.length, i + 1)
      t.ok(resourceVersion >= versionOf(created))
    }
  }),

  behaviour('a list has the version of the whole store, also when only another resource moved it', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    for (let i = 0; i < 3; i++) {
      const revision = await s.increaseRevision()
      t.equal((await s.list('/pods/ns')).resourceVersion, revision)
      t.equal((await s.list('/pods/none')).resourceVersion, revision)
    }
  }),

  behaviour('a list has the version of the whole store, also when somebody writes outside its prefix', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const revision = await s.increaseRevisionOutside()
    const { resourceVersion } = await s.list('/pods/ns')
    // To learn that it is current, a cacher on an etcd whose progress reports come too early writes a mark.
    if (s.cached && !(await s.opened.progressOnDemand())) t.ok(resourceVersion >= revision)
    else t.equal(resourceVersion, revision)
  }),

  behaviour(
    'a list at version 0 is never newer than the store, and never older than a consistent list before it',
    async (t, s) => {
      await s.create(makePod('foo', 'ns'))
      const revision = await s.increaseRevision()
      const first = await s.list('/pods/', { resourceVersion: '0' })
      t.ok(first.resourceVersion <= revision)
      if (!s.cached) t.equal(first.resourceVersion, revision)
      const consistent = await s.list('/pods/')
      const second = await s.list('/pods/', { resourceVersion: '0' })
      t.ok(second.resourceVersion >= consistent.resourceVersion)
      t.same(second.items, consistent.items)
    },
  ),

  behaviour('a list at an exact version gives the state as of that version, for every version', async (t, s) => {
    const history = await writeHistory(s)
    for (const { revision, pods } of history.states) {
      const exact = await s.list('/pods/', { resourceVersion: String(revision), resourceVersionMatch: 'Exact' })
      t.same(exact.items, pods, `at ${revision}`)
      t.equal(exact.resourceVersion, revision)
    }
  }),

  behaviour('a list at an exact version before the first write is empty', async (t, s) => {
    await s.increaseRevision()
    const history = await writeHistory(s)
    const exact = await s.list('/pods/', { resourceVersion: String(history.before), resourceVersionMatch: 'Exact' })
    t.same(exact.items, [])
    t.equal(exact.resourceVersion, history.before)
  }),

  behaviour('a list at an exact version of a namespace holds that namespace only', async (t, s) => {
    const { states } = await writeHistory(s)
    const third = states[2]!
    const exact = await s.list('/pods/second', {
      resourceVersion: String(third.revision),
      resourceVersionMatch: 'Exact',
    })
    t.same(namesOf(exact.items), ['second/bar', 'second/foo'])
  }),

  behaviour('a list not older than a version is at that version or later', async (t, s) => {
    const history = await writeHistory(s)
    for (const { revision } of history.states) {
      const fresh = await s.list('/pods/', { resourceVersion: String(revision), resourceVersionMatch: 'NotOlderThan' })
      t.ok(fresh.resourceVersion >= revision)
      const state = history.states.findLast((state) => state.revision <= fresh.resourceVersion)!
      t.same(fresh.items, state.pods)
    }
  }),

  behaviour('a list not older than the newest version of the store waits for it or reads it', async (t, s) => {
    const pod = await s.create(makePod('foo', 'ns'))
    const revision = await s.increaseRevision()
    const fresh = await s.list('/pods/', { resourceVersion: String(revision), resourceVersionMatch: 'NotOlderThan' })
    t.same(fresh.items, [pod])
    t.ok(fresh.resourceVersion >= revision)
  }),

  behaviour('without a match rule a version means not older, and with a limit it means exact', async (t, s) => {
    const { states } = await writeHistory(s)
    const old = states[1]!
    const legacy = await s.list('/pods/', { resourceVersion: String(old.revision) })
    t.ok(legacy.resourceVersion >= old.revision)
    const limited = await s.list('/pods/', { resourceVersion: String(old.revision), limit: 10 })
    t.equal(limited.resourceVersion, old.revision)
    t.same(limited.items, old.pods)
  }),

  behaviour('a list at a version in the future fails as too large, whatever the match rule', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const rules = ['', 'NotOlderThan', 'Exact'] as const
    await Promise.all([
      // A cacher waits a while for the version to come, so they wait together.
      ...rules.map((resourceVersionMatch) =>
        t.rejects(s.list('/pods/', { resourceVersion: FUTURE, resourceVersionMatch }), { code: 'too-large' }),
      ),
      t.rejects(s.list('/pods/', { resourceVersion: FUTURE, limit: 1 }), { code: 'too-large' }),
    ])
  }),

  behaviour('a list at an exact version just ahead of the store fails as too large', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const next = (await s.storage.currentResourceVersion()) + 1
    const list = s.list('/pods/', { resourceVersion: String(next), resourceVersionMatch: 'Exact' })
    await t.rejects(list, { code: 'too-large' })
  }),

  behaviour('a malformed version or an unknown match rule is refused', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    await t.rejects(s.list('/pods/', { resourceVersion: 'abc' }), { code: 'invalid-request' })
    const match = 'Invalid' as 'Exact'
    for (const resourceVersion of ['0', '1']) {
      const list = s.list('/pods/', { resourceVersion, resourceVersionMatch: match })
      await t.rejects(list, { code: 'invalid-request' })
    }
  }),

  behaviour('a list at a compacted version fails as too old', async (t, s) => {
    const { states } = await writeHistory(s)
    const compacted = await s.compactAll()
    const old = states[0]!
    const exact = s.list('/pods/', { resourceVersion: String(old.revision), resourceVersionMatch: 'Exact' })
    if (s.cached) {
      // What the cacher still holds in its window it may serve, if it serves it right.
      const outcome = await exact.catch((error: unknown) => error)
      if (outcome instanceof Error) t.match(outcome, { code: 'too-old' })
      else t.same((outcome as { items: Pod[] }).items, old.pods)
    } else {
      await t.rejects(exact, { code: 'too-old', fields: { resourceVersion: old.revision } })
    }
    t.same((await s.list('/pods/')).items, states.at(-1)!.pods)
    const atCompaction = { resourceVersion: String(compacted), resourceVersionMatch: 'Exact' } as const
    t.same((await s.list('/pods/', atCompaction)).items, states.at(-1)!.pods)
  }),

  behaviour('the store tells the version up to which history is gone', async (t, s) => {
    await writeHistory(s)
    const compacted = await s.compactAll()
    t.equal(s.storage.compactRevision(), compacted)
  }),

  behaviour('what a list says at its version, a list at exactly that version says again', async (t, s) => {
    await writeHistory(s)
    let writes = 0
    s.opened.transformer.remote = true
    const writing = (async () => {
      while (writes < 10) await s.create(makePod(`late-${writes++}`, 'second'))
    })()
    const first = await s.list('/pods/')
    const fresh = await s.list('/pods/', {
      resourceVersion: String(first.resourceVersion),
      resourceVersionMatch: 'NotOlderThan',
    })
    await writing
    for (const seen of [first, fresh]) {
      const again = await s.list('/pods/', {
        resourceVersion: String(seen.resourceVersion),
        resourceVersionMatch: 'Exact',
      })
      t.same(again.items, seen.items)
    }
  }),

  behaviour('a list of one key holds that object or nothing', async (t, s) => {
    const { states } = await writeHistory(s)
    const one = await s.list('/pods/second/foo', { recursive: false })
    t.same(namesOf(one.items), ['second/foo'])
    t.equal(one.resourceVersion, states.at(-1)!.revision)
    const none = await s.list('/pods/second/none', { recursive: false })
    t.same(none.items, [])
    t.equal(none.resourceVersion, states.at(-1)!.revision)
    t.same((await s.list('/pods/second', { recursive: false })).items, [], 'a namespace is no object')
  }),

  behaviour('a list of one key follows the rules of versions', async (t, s) => {
    const old = await s.create(makePod('foo', 'ns'))
    await s.create(makePod('foobar', 'ns'))
    const current = await s.label(old, { a: 'b' })
    const at = (pod: Pod) => String(versionOf(pod))
    const one = { recursive: false } as const
    const list = (fields: Parameters<typeof s.list>[1]) => s.list('/pods/ns/foo', { ...one, ...fields })
    t.same((await list({ resourceVersion: at(old), resourceVersionMatch: 'Exact' })).items, [old])
    t.same((await list({ resourceVersion: at(current), resourceVersionMatch: 'Exact' })).items, [current])
    t.same((await list({ resourceVersion: at(current), resourceVersionMatch: 'NotOlderThan' })).items, [current])
    t.same((await list({ resourceVersion: at(current) })).items, [current])
    const notOlder = await list({ resourceVersion: at(old), resourceVersionMatch: 'NotOlderThan' })
    t.ok([versionOf(old), versionOf(current)].includes(versionOf(notOlder.items[0]!)))
    const any = await list({ resourceVersion: '0' })
    t.ok(any.items.length <= 1)
    await Promise.all([
      t.rejects(list({ resourceVersion: FUTURE }), { code: 'too-large' }),
      t.rejects(list({ resourceVersion: FUTURE, resourceVersionMatch: 'Exact' }), { code: 'too-large' }),
    ])
    const gone = await s.storage.delete('/pods/ns/foo')
    t.same((await list({ resourceVersion: at(gone), resourceVersionMatch: 'Exact' })).items, [])
    t.same((await list({ resourceVersion: at(current), resourceVersionMatch: 'Exact' })).items, [current])
  }),

  behaviour('a list of one key applies the selector', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const list = (name: string) => s.list('/pods/ns/foo', { recursive: false, field: equals('metadata.name', name) })
    t.same(namesOf((await list('foo')).items), ['ns/foo'])
    t.same((await list('bar')).items, [])
  }),

  behaviour('prefixes end at slashes: foo never takes in foobar', async (t, s) => {
    await s.createAll(['foo', 'foobar', 'foo-bar', 'foo0'].map((namespace) => makePod('pod', namespace)))
    const names = async (key: string, recursive: boolean) => namesOf((await s.list(key, { recursive })).items)
    t.same(await names('/pods/foo', true), ['foo/pod'])
    t.same(await names('/pods/foo/', true), ['foo/pod'])
    t.same(await names('/pods/foo', false), [])
    t.same(await names('/pods/foo/pod', false), ['foo/pod'])
    t.equal((await names('/pods', true)).length, 4)
    t.equal((await names('/pods/', true)).length, 4)
  }),

  behaviour('nothing lies below an object, nor below the beginning of its name', async (t, s) => {
    await s.createAll(['foo', 'foo.bar'].map((namespace) => makePod('pod', namespace)))
    const names = async (key: string) => namesOf((await s.list(key)).items)
    t.same(await names('/pods/foo'), ['foo/pod'])
    t.same(await names('/pods/foo/pod'), [])
    t.same(await names('/pods/foo/po'), [])
    t.equal((await names('/pods/')).length, 2)
  }),

  behaviour('a list holds what its label selector selects', async (t, s) => {
    await s.createAll([
      makePod('a', 'ns', { labels: { app: 'web' } }),
      makePod('b', 'ns', { labels: { app: 'db' } }),
      makePod('c', 'ns'),
      makePod('a', 'other', { labels: { app: 'web' } }),
    ])
    t.same(namesOf((await s.list('/pods/', { label: equals('app', 'web') })).items), ['ns/a', 'other/a'])
    t.same(namesOf((await s.list('/pods/ns', { label: equals('app', 'web') })).items), ['ns/a'])
    const none = await s.list('/pods/ns', { label: equals('app', 'mail') })
    t.same(none.items, [])
    t.equal(none.resourceVersion, await s.storage.currentResourceVersion())
  }),

  behaviour('a list holds what its field selector selects, over all namespaces and in one', async (t, s) => {
    await s.createAll([
      makePod('a', 'one', { nodeName: 'n1' }),
      makePod('b', 'one', { nodeName: 'n2' }),
      makePod('a', 'two', { nodeName: 'n1' }),
      makePod('c', 'two'),
    ])
    const names = async (key: string, field: string, value: string) =>
      namesOf((await s.list(key, { field: equals(field, value) })).items)
    t.same(await names('/pods/', 'spec.nodeName', 'n1'), ['one/a', 'two/a'])
    t.same(await names('/pods/one', 'spec.nodeName', 'n1'), ['one/a'])
    t.same(await names('/pods/', 'spec.nodeName', ''), ['two/c'])
    t.same(await names('/pods/', 'metadata.name', 'a'), ['one/a', 'two/a'])
    t.same(await names('/pods/two', 'metadata.name', 'b'), [])
    t.same(await names('/pods/', 'metadata.namespace', 'two'), ['two/a', 'two/c'])
    t.same(await names('/pods/one', 'metadata.namespace', 'two'), [])
    await s.storage.guaranteedUpdate('/pods/one/b', (pod) => ({ object: { ...pod, spec: { nodeName: 'n1' } } }))
    t.same(await names('/pods/', 'spec.nodeName', 'n1'), ['one/a', 'one/b', 'two/a'])
    t.same(await names('/pods/', 'spec.nodeName', 'n2'), [])
  }),

  behaviour('label and field selector must both select', async (t, s) => {
    await s.createAll([
      makePod('a', 'ns', { labels: { app: 'web' }, nodeName: 'n1' }),
      makePod('b', 'ns', { labels: { app: 'web' }, nodeName: 'n2' }),
      makePod('c', 'ns', { labels: { app: 'db' }, nodeName: 'n1' }),
    ])
    const both = await s.list('/pods/', { label: equals('app', 'web'), field: equals('spec.nodeName', 'n1') })
    t.same(namesOf(both.items), ['ns/a'])
  }),
]
