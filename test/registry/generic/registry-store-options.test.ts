import t from 'tap'
import { writerOf } from '#keelson/registry/generic/registry-store-options.js'
import { requestContext } from '../../support/request-context.js'

t.test('the storage tells a request what it has printed, unless the answer will be another object', (t) => {
  const onPrinted = (): void => undefined
  t.same(writerOf({}, requestContext()), {})
  t.equal(writerOf({}, { ...requestContext(), onPrinted }).onPrinted, onPrinted)
  t.same(writerOf({ decorate: () => undefined }, { ...requestContext(), onPrinted }), {})
  const { signal } = new AbortController()
  t.equal(writerOf({}, { ...requestContext(), signal }).signal, signal)
  t.end()
})
