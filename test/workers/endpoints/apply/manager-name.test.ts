import t from 'tap'
import { managerOrUserAgent } from '#keelson/workers/endpoints/apply/manager-name.js'

t.test('the manager is what the request says, or the program before the slash', async (t) => {
  t.equal(managerOrUserAgent('me', 'kubectl/v1.36'), 'me')
  t.equal(managerOrUserAgent('', 'kubectl/v1.36 (linux/amd64)'), 'kubectl')
  t.equal(managerOrUserAgent(undefined, 'curl'), 'curl')
  t.equal(managerOrUserAgent(undefined, undefined), '')
  t.equal(managerOrUserAgent(undefined, 'a\u0000b\tc é/1'), 'abc é')
  t.equal(managerOrUserAgent(undefined, 'é'.repeat(100)), 'é'.repeat(64))
})
