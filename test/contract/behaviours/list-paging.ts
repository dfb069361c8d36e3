import type { ListResult } from '#keelson/storage/contract/interface.js'
import { equals, type ListFields, makePod, namesOf, type Pod } from '../pod.js'
import type { Subject } from '../subject.js'
import { behaviour } from '../suite.js'

const numbered = (count: number, namespace = 'ns') =>
  Array.from({ length: count }, (_, i) => makePod(`pod-${String(i).padStart(4, '0')}`, namespace))

async function createMany(s: Subject, pods: readonly Pod[]): Promise<void> {
  for (let i = 0; i < pods.length; i += 100) await Promise.all(pods.slice(i, i + 100).map((pod) => s.create(pod)))
}

/** Every page of a list, by following its tokens. */
async function pagesOf(s: Subject, key: string, fields: ListFields): Promise<ListResult<Pod>[]> {
  const pages = [await s.list(key, fields)]
  for (;;) {
    const { continueToken } = pages.at(-1)!
    if (continueToken === '') return pages
    const { resourceVersion, resourceVersionMatch, ...rest } = fields
    pages.push(await s.list(key, { ...rest, continueToken }))
  }
}

const encodeToken = (token: object) => Buffer.from(JSON.stringify(token)).toString('base64url')

export const listPaging = [
  behaviour('pages hold every object once, all at the version of the first', async (t, s) => {
    const pods = await s.createAll(numbered(7))
    const pages = await pagesOf(s, '/pods/', { limit: 3 })
    t.same(
      pages.map((page) => page.items.length),
      [3, 3, 1],
    )
    t.same(
      pages.flatMap((page) => page.items),
      pods,
    )
    t.equal(new Set(pages.map((page) => page.resourceVersion)).size, 1)
    t.same(
      pages.map((page) => page.remainingItemCount),
      [4, 1, undefined],
    )
  }),

  behaviour('a limit that takes in everything leaves no token', async (t, s) => {
    await s.createAll(numbered(3))
    for (const limit of [3, 4, 1000]) {
      const page = await s.list('/pods/', { limit })
      t.equal(page.items.length, 3)
      t.equal(page.continueToken, '')
      t.equal(page.remainingItemCount, undefined)
    }
  }),

  behaviour('a page costs one read', async (t, s) => {
    await s.createAll(numbered(5))
    const before = s.opened.reads.lists.length
    const first = await s.list('/pods/', { limit: 2 })
    await s.list('/pods/', { limit: 2, continueToken: first.continueToken })
    if (!s.cached) t.equal(s.opened.reads.lists.length - before, 2)
    else t.ok(s.opened.reads.lists.length - before <= 2)
  }),

  behaviour('a token may be followed with another limit, or with none', async (t, s) => {
    await s.createAll(numbered(6))
    const first = await s.list('/pods/', { limit: 2 })
    const rest = await s.list('/pods/', { continueToken: first.continueToken })
    t.equal(rest.items.length, 4)
    t.equal(rest.continueToken, '')
    t.equal(rest.resourceVersion, first.resourceVersion)
    const two = await s.list('/pods/', { limit: 1, continueToken: first.continueToken, resourceVersion: '0' })
    t.same(namesOf(two.items), ['ns/pod-0002'])
    t.equal(two.remainingItemCount, 3)
  }),

  behaviour('tokens are those of Kubernetes: base64url JSON with the version and the next key', async (t, s) => {
    await s.createAll(numbered(3))
    const first = await s.list('/pods/ns', { limit: 1 })
    t.match(first.continueToken, /^[A-Za-z0-9_-]+$/)
    const token: unknown = JSON.parse(Buffer.from(first.continueToken, 'base64url').toString())
    t.same(token, { v: 'meta.k8s.io/v1', rv: first.resourceVersion, start: 'pod-0000\0' })
    const made = encodeToken({ v: 'meta.k8s.io/v1', rv: first.resourceVersion, start: 'ns/pod-0002' })
    t.same(namesOf((await s.list('/pods/', { continueToken: made })).items), ['ns/pod-0002'])
  }),

  behaviour('a token that no server made is refused', async (t, s) => {
    await s.createAll(numbered(2))
    const version = 'meta.k8s.io/v1'
    const tokens = {
      'not base64url': '%%%',
      'not JSON': Buffer.from('{').toString('base64url'),
      'another version': encodeToken({ v: 'meta.k8s.io/v9', rv: 1, start: 'a' }),
      'no version of the store': encodeToken({ v: version, rv: 0, start: 'a' }),
      'no start': encodeToken({ v: version, rv: 1, start: '' }),
      'out of its prefix': encodeToken({ v: version, rv: 1, start: '../secrets/a' }),
      'a way out inside': encodeToken({ v: version, rv: 1, start: 'ns/../../secrets/a' }),
      'a double slash': encodeToken({ v: version, rv: 1, start: 'ns//a' }),
    }
    for (const [why, continueToken] of Object.entries(tokens)) {
      await t.rejects(s.list('/pods/', { continueToken, limit: 1 }), { code: 'invalid-request' }, why)
    }
  }),

  behaviour('a token together with a version is refused, with version 0 it is not', async (t, s) => {
    await s.createAll(numbered(2))
    const { continueToken, resourceVersion } = await s.list('/pods/', { limit: 1 })
    const both = s.list('/pods/', { limit: 1, continueToken, resourceVersion: String(resourceVersion) })
    await t.rejects(both, { code: 'invalid-request' })
    t.equal((await s.list('/pods/', { limit: 1, continueToken, resourceVersion: '0' })).items.length, 1)
  }),

  behaviour('what is created, changed and deleted between pages does not show in later pages', async (t, s) => {
    const pods = await s.createAll(numbered(4))
    const first = await s.list('/pods/', { limit: 2 })
    await s.create(makePod('pod-0002-and-a-half', 'ns'))
    await s.label(pods[3]!, { changed: 'yes' })
    await s.storage.delete('/pods/ns/pod-0002')
    const second = await s.list('/pods/', { limit: 10, continueToken: first.continueToken })
    t.same(second.items, pods.slice(2))
    t.equal(second.resourceVersion, first.resourceVersion)
    t.equal(second.continueToken, '')
  }),

  behaviour('pages of a list at an exact version are of that version', async (t, s) => {
    const pods = await s.createAll(numbered(4))
    const { resourceVersion } = await s.list('/pods/')
    await s.create(makePod('a-new-one', 'ns'))
    const exact = { limit: 2, resourceVersion: String(resourceVersion), resourceVersionMatch: 'Exact' } as const
    const pages = await pagesOf(s, '/pods/', exact)
    t.same(
      pages.flatMap((page) => page.items),
      pods,
    )
    t.same(
      pages.map((page) => page.resourceVersion),
      [resourceVersion, resourceVersion],
    )
  }),

  behaviour('pages begun at version 0 or not older than a version hold every object once', async (t, s) => {
    const pods = await s.createAll(numbered(5))
    const { resourceVersion } = await s.list('/pods/')
    for (const version of ['0', String(resourceVersion)]) {
      const fields = { limit: 2, resourceVersion: version, resourceVersionMatch: 'NotOlderThan' } as const
      const pages = await pagesOf(s, '/pods/', fields)
      t.same(
        pages.flatMap((page) => page.items),
        pods,
      )
    }
  }),

  behaviour(
    'a rare match is found by reading in growing chunks, and leaves no token when it is the last',
    async (t, s) => {
      const pods = numbered(1000)
      pods[999]!.metadata!.labels = { rare: 'yes' }
      await createMany(s, pods)
      const before = s.opened.reads.lists.length
      const page = await s.list('/pods/', { limit: 1, label: equals('rare', 'yes') })
      t.same(namesOf(page.items), ['ns/pod-0999'])
      t.equal(page.continueToken, '')
      t.equal(page.remainingItemCount, undefined)
      t.ok(s.opened.reads.lists.length - before <= 10, '1 + 2 + 4 + … reads 1,000 keys in 10 reads')
    },
  ),

  behaviour('pages with a selector hold every match once and tell no remaining count', async (t, s) => {
    const pods = numbered(30)
    for (const [i, pod] of pods.entries()) if (i % 4 === 1) pod.metadata!.labels = { chosen: 'yes' }
    await s.createAll(pods)
    const pages = await pagesOf(s, '/pods/', { limit: 3, label: equals('chosen', 'yes') })
    t.same(
      namesOf(pages.flatMap((page) => page.items)),
      pods.filter((_, i) => i % 4 === 1).map((pod) => `ns/${pod.metadata!.name}`),
    )
    for (const page of pages) t.equal(page.remainingItemCount, undefined)
    t.ok(pages.every((page) => page.items.length <= 3))
    t.equal(new Set(pages.map((page) => page.resourceVersion)).size, 1)
  }),

  behaviour(
    'a page with a selector that is full in the middle of what was read goes on right after it',
    async (t, s) => {
      await s.createAll([
        makePod('a', 'ns'),
        makePod('b', 'ns', { labels: { x: '1' } }),
        makePod('c', 'ns', { labels: { x: '1' } }),
        makePod('d', 'ns'),
        makePod('e', 'ns', { labels: { x: '1' } }),
      ])
      const pages = await pagesOf(s, '/pods/', { limit: 1, label: equals('x', '1') })
      t.same(
        pages.map((page) => namesOf(page.items)),
        [['ns/b'], ['ns/c'], ['ns/e']],
      )
    },
  ),

  behaviour('a token with version -1 goes on at the newest version', async (t, s) => {
    await s.createAll(numbered(3))
    const later = await s.create(makePod('pod-0001-later', 'ns'))
    const revision = await s.increaseRevision()
    const continueToken = encodeToken({ v: 'meta.k8s.io/v1', rv: -1, start: 'ns/pod-0001' })
    const page = await s.list('/pods/', { continueToken, limit: 2 })
    t.same(namesOf(page.items), ['ns/pod-0001', 'ns/pod-0001-later'])
    t.same(page.items[1], later)
    t.equal(page.resourceVersion, revision)
    t.equal(page.remainingItemCount, 1)
    const next = await s.list('/pods/', { continueToken: page.continueToken })
    t.equal(next.resourceVersion, revision)
  }),

  behaviour(
    'an expired token fails as too old and is exchanged for one that goes on at the newest version',
    async (t, s) => {
      await s.createAll(numbered(3))
      const first = await s.list('/pods/', { limit: 1 })
      const updated = await s.label(makePod('pod-0002', 'ns'), { state: 'new' })
      const compacted = await s.compactAll()
      const expired = await s.list('/pods/', { continueToken: first.continueToken }).catch((error: unknown) => error)
      if (s.cached && !(expired instanceof Error)) {
        // The window still has the state of the first page: better than an exchange, if it is that state.
        t.equal((expired as ListResult<Pod>).resourceVersion, first.resourceVersion)
        t.same(namesOf((expired as ListResult<Pod>).items), ['ns/pod-0001', 'ns/pod-0002'])
        return
      }
      t.match(expired, { code: 'too-old', fields: { continueToken: String } })
      const { continueToken } = (expired as { fields: { continueToken: string } }).fields
      const second = await s.list('/pods/', { continueToken, limit: 1 })
      t.same(namesOf(second.items), ['ns/pod-0001'])
      t.ok(second.resourceVersion >= compacted)
      const third = await s.list('/pods/', { continueToken: second.continueToken, limit: 1 })
      t.same(third.items, [updated])
      t.equal(third.resourceVersion, second.resourceVersion)
      t.equal(third.continueToken, '')
    },
  ),
]
