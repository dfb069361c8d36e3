import t from 'tap'
import { wideFault, wideKinds, wideUpdateFault } from './wide-objects.js'

const ITEMS = 10_000

for (const kind of wideKinds()) {
  t.test(`however wide an object of ${kind.info.resource} is, time and answer grow with it`, (t) => {
    for (const field of kind.fields()) t.equal(wideFault(kind, field, ITEMS), undefined, field.path.join('.'))
    t.end()
  })
  t.test(`however wide an object of ${kind.info.resource} is that is written again, too`, (t) => {
    for (const field of kind.fields()) t.equal(wideUpdateFault(kind, field, ITEMS), undefined, field.path.join('.'))
    t.end()
  })
}
