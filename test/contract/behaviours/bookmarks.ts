import { makePod, nameOf, versionOf } from '../pod.js'
import type { Subject, Watching } from '../subject.js'
import { behaviour } from '../suite.js'

/** Asks for progress until a bookmark with at least this version has come; gives the versions of all. */
async function bookmarksUpTo(s: Subject, watch: Watching, revision: number): Promise<number[]> {
  const versions: number[] = []
  let reached = false
  const reading = (async () => {
    while (!reached) {
      const { resourceVersion } = await watch.nextBookmark()
      versions.push(resourceVersion)
      reached = resourceVersion >= revision
    }
  })()
  // A report may be lost on the way to a watch that is not established yet: it is asked for again.
  while (!reached) {
    await s.storage.requestWatchProgress()
    await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 20))])
  }
  await reading
  return versions
}

export const bookmarks = [
  behaviour('progress of the store arrives as a bookmark with its version, where it is asked for', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/', {
      resourceVersion: String(start),
      progressNotify: true,
      allowWatchBookmarks: true,
    })
    await s.create(makePod('foo', 'ns'))
    t.equal((await watch.nextObject()).type, 'ADDED')
    const revision = await s.increaseRevision()
    if (!(await s.opened.progressOnDemand())) {
      await s.storage.requestWatchProgress()
      t.comment('this engine reports progress at its own intervals only')
      return
    }
    const versions = await bookmarksUpTo(s, watch, revision)
    t.ok(versions.at(-1)! >= revision)
  }),

  behaviour(
    'versions of events and bookmarks never go back, and an event is newer than the bookmark before it',
    async (t, s) => {
      const start = await s.storage.currentResourceVersion()
      const watch = await s.watch('/pods/ns', {
        resourceVersion: String(start),
        progressNotify: true,
        allowWatchBookmarks: true,
      })
      const writing = (async () => {
        for (let i = 0; i < 60; i++) {
          await s.create(makePod(`pod-${i}`, i % 3 === 0 ? 'other' : 'ns'))
          if (i % 5 === 0) await s.storage.requestWatchProgress()
        }
        return s.create(makePod('end', 'ns'))
      })()
      let last = start
      let lastWasBookmark = true
      for (;;) {
        const event = await watch.next()
        if (event.type === 'ERROR') throw event.error
        const { resourceVersion } = event
        if (event.type === 'BOOKMARK') t.ok(resourceVersion >= last, `bookmark ${resourceVersion} after ${last}`)
        else t.ok(resourceVersion > last, `event ${resourceVersion} after ${lastWasBookmark ? 'bookmark ' : ''}${last}`)
        last = resourceVersion
        lastWasBookmark = event.type === 'BOOKMARK'
        if (event.type !== 'BOOKMARK' && nameOf(event.object) === 'end') break
      }
      t.equal(last, versionOf(await writing))
    },
  ),

  behaviour('who did not ask for bookmarks gets none', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/ns', { resourceVersion: String(start), deadline: s.opened.now() + 3000 })
    await s.create(makePod('foo', 'other'))
    await s.storage.requestWatchProgress()
    await s.opened.passTime(2)
    await s.create(makePod('end', 'ns'))
    const event = await watch.next()
    t.match(event, { type: 'ADDED', object: { metadata: { name: 'end' } } })
  }),

  behaviour('who asked for bookmarks gets one before the deadline, from a storage that makes them', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const watch = await s.watch('/pods/ns/foo', {
      recursive: false,
      resourceVersion: String(versionOf(created)),
      allowWatchBookmarks: true,
      deadline: s.opened.now() + 3000,
    })
    const elsewhere = await s.create(makePod('foo', 'other'))
    if (!s.cached) {
      // As in Kubernetes: only the cacher makes bookmarks of its own.
      await s.storage.delete('/pods/ns/foo')
      t.equal((await watch.next()).type, 'DELETED')
      return
    }
    await s.opened.passTime(3)
    const bookmark = await watch.next()
    t.match(bookmark, { type: 'BOOKMARK', initialEventsEnd: false })
    if (bookmark.type === 'BOOKMARK') t.ok(bookmark.resourceVersion >= versionOf(elsewhere))
  }),

  behaviour('a request for progress is harmless where nobody watches', async (t, s) => {
    await s.storage.requestWatchProgress()
    await s.create(makePod('foo', 'ns'))
    await s.storage.requestWatchProgress()
    t.equal((await s.list('/pods/')).items.length, 1)
  }),
]
