import t from 'tap'
import { FollowingEpoch, isFollowing } from '#keelson/cacher/clock/following-epoch.js'
import { Cacher } from '#keelson/cacher/feed/cacher.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { identityTransformer } from '#keelson/storage/contract/transformer.js'
import { FakeClock } from '../../support/fake-clock.js'
import { MemoryKV } from '../../support/memory-kv.js'
import { jsonDraft } from '../../support/plain-object.js'
import { until } from '../../support/until.js'
import { GatedKV } from './gated-kv.js'

t.test('a thread that was told an older revision than it had seen makes the owner list again, once', async (t) => {
  const clock = new FakeClock()
  const kv = new GatedKV(new MemoryKV(clock))
  const cacher = new Cacher({ kv, prefix: '/registry/', progressTrusted: () => true, clock, logger: nullLogger })
  t.teardown(() => cacher.stop())
  void cacher.addResource({
    resource: 'pods',
    keyPrefix: '/registry/pods/',
    transformer: identityTransformer,
    recordDraft: jsonDraft,
  })
  cacher.start()
  await cacher.synced
  const epoch = new FollowingEpoch(cacher.connect().following)
  const seen = epoch.current()
  t.ok(isFollowing(seen), 'readers see that the clock follows')
  t.equal(kv.lists.length, 1)

  cacher.hearWentBack(3, seen - 2)
  t.ok(cacher.following, 'what was seen in an earlier epoch has been listed anew since')
  t.equal(epoch.current(), seen)

  cacher.hearWentBack(3, seen)
  t.notOk(cacher.following, 'at once: no read passes from here on')
  t.notOk(isFollowing(epoch.current()), 'and readers see it')
  // A second thread tells the same.
  cacher.hearWentBack(3, seen)
  await until(
    async () => {
      await clock.advance(100)
      return cacher.following
    },
    { what: 'the owner to follow again' },
  )
  t.ok(isFollowing(epoch.current()))
  t.not(epoch.current(), seen, 'a reader that waited meanwhile sees that it was another time')
  t.equal(kv.lists.length, 2)
})
