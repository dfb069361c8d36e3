import t from 'tap'
import { managerOrUserAgent, validateFieldManager } from '#keelson/workers/endpoints/apply/manager-name.js'

t.test('the manager is what the request says, or the program before the slash', async (t) => {
  t.equal(managerOrUserAgent('me', 'kubectl/v1.36'), 'me')
  t.equal(managerOrUserAgent('', 'kubectl/v1.36 (linux/amd64)'), 'kubectl')
  t.equal(managerOrUserAgent(undefined, 'curl'), 'curl')
  t.equal(managerOrUserAgent(undefined, undefined), '')
  t.equal(managerOrUserAgent(undefined, 'a\u0000b\tc é/1'), 'abc é')
  t.equal(managerOrUserAgent(undefined, 'é'.repeat(100)), 'é'.repeat(64))
})

t.test('a field manager is checked', async (t) => {
  t.same(validateFieldManager('', false), [])
  t.match(validateFieldManager('', true), [{ type: 'FieldValueRequired', field: 'fieldManager' }])
  t.match(validateFieldManager('x'.repeat(129), false), [{ type: 'FieldValueTooLong' }])
  t.match(validateFieldManager('a\nb', false), [{ type: 'FieldValueInvalid' }])
  t.same(validateFieldManager('x'.repeat(128), true), [])
})
