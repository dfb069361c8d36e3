import t from 'tap'
import { goText } from '#keelson/workers/endpoints/patch/go-text.js'

t.test('trees as Go prints them', async (t) => {
  t.equal(goText(undefined), '<nil>')
  t.equal(goText(null), '<nil>')
  t.equal(goText('x'), 'x')
  t.equal(goText(2n ** 60n), '1152921504606846976')
  t.equal(goText(true), 'true')
  t.equal(goText([1, 'a', [null]]), '[1 a [<nil>]]')
  t.equal(goText({ b: { c: [] }, a: 1 }), 'map[a:1 b:map[c:[]]]')
})
