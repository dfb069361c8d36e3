import t from 'tap'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { signalOf } from '#keelson/registry/generic/strategy.js'
import { requestContext } from '../../support/request-context.js'

t.test('a signal is handed on when there is one', async (t) => {
  const signal = new Cancellation()
  t.equal(signalOf(requestContext({ signal })).signal, signal)
  t.same(Object.keys(signalOf(requestContext())), [])
})
