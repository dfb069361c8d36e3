import t from 'tap'
import { PrefixRouter } from '#keelson/cacher/feed/prefix-router.js'

t.test('the longest registered prefix wins, whatever was asked before', async (t) => {
  const router = new PrefixRouter<string>()
  router.add('/registry/services/', 'services')
  router.add('/registry/services/specs/', 'specs')
  router.add('/registry/pods/', 'pods')
  t.equal(router.route('/registry/services/a'), 'services')
  t.equal(router.route('/registry/services/specs/a'), 'specs')
  t.equal(router.route('/registry/pods/default/a'), 'pods')
  t.equal(router.route('/registry/podsecurity/a'), undefined)
  t.equal(router.route('/registry/pods'), undefined)
  router.remove('/registry/pods/')
  t.equal(router.route('/registry/pods/default/a'), undefined)
})

t.test('a prefix is registered once', async (t) => {
  const router = new PrefixRouter<string>()
  router.add('/registry/pods/', 'pods')
  t.throws(() => router.add('/registry/pods/', 'others'), /twice/)
})
