import t from 'tap'
import { parseListOptions } from '#keelson/api/list-options.js'
import { SharedSelectors } from '#keelson/main/verbs/shared-selectors.js'

const FIELDS = ['metadata.name']
const options = (labelSelector: string, fieldSelector = '') =>
  parseListOptions(new URLSearchParams({ labelSelector, fieldSelector }), true)
const LONG = `a in (${Array.from({ length: 200 }, (_, i) => `x${i}`).join(',')})`

t.test('watches that ask for the same at length share one selector', async (t) => {
  const shared = new SharedSelectors()
  const one = shared.of(options(LONG), FIELDS)
  t.equal(shared.of(options(LONG), FIELDS), one)
  t.not(shared.of(options(`${LONG},b`), FIELDS), one)
  t.not(shared.of(options(LONG, 'metadata.name=a'), FIELDS), one)
  t.equal(shared.of(options(`${LONG},b`), FIELDS).label.toString(), `${one.label},b`)
})

t.test('what cannot be understood is refused each time', async (t) => {
  const shared = new SharedSelectors()
  for (let i = 0; i < 2; i++)
    t.throws(() => shared.of(options(LONG, 'spec.other=a'), FIELDS), { message: /not a known field selector/ })
  t.throws(() => shared.of(options(LONG, 'metadata.name=a'), []), { message: /not a known field selector/ })
})
