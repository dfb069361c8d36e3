import t from 'tap'
import { ageOf } from '#keelson/registry/generic/table-columns.js'

const S = 1000

t.test('an object without a time has no known age', async (t) => {
  t.equal(ageOf({}, 0), '<unknown>')
  t.equal(ageOf({ metadata: { creationTimestamp: null } }, 0), '<unknown>')
  t.equal(ageOf({ metadata: { creationTimestamp: '1970-01-01T00:00:00Z' } }, 5 * S), '5s')
})
