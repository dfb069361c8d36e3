import t from 'tap'
import { wideFault, wideKinds } from './wide-objects.js'

const ITEMS = 6_000
/** Of all kinds together, one in so many fields; wide-objects.long.ts has all of them. */
const ONE_IN = 48

const fields = wideKinds().flatMap((kind) => kind.fields().map((field) => ({ kind, field })))
const sample = fields.filter((_, i) => i % ONE_IN === 0)

t.test('however wide an object is, time and answer grow with it', (t) => {
  t.ok(sample.length > 40)
  for (const { kind, field } of sample)
    t.equal(wideFault(kind, field, ITEMS), undefined, `${kind.info.resource}: ${field.path.join('.')}`)
  t.end()
})
