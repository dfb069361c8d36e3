import t from 'tap'
import { WebhookTransport } from '#keelson/admission/webhooks/webhook-transport.js'
import { FakeClock } from '../../support/fake-clock.js'

t.test('a call ends when its time is over, also while there is no connection yet', async (t) => {
  const clock = new FakeClock()
  let waiting = 0
  const transport = new WebhookTransport({
    resolve: () => new Promise(() => undefined),
    users: { byName: {}, current: '' },
    egress: {},
    clock,
    onCall: (change) => {
      waiting += change
    },
  })
  t.teardown(() => transport.close())
  const clientConfig = { service: { namespace: 'default', name: 'nowhere' } }
  const call = (signal?: AbortSignal): Promise<unknown> =>
    transport.post({ clientConfig, body: '{}', timeoutMs: 2000, signal }).catch((error: unknown) => error)
  const late = call()
  t.equal(waiting, 1)
  await clock.advance(2000)
  t.match(await late, { message: /context deadline exceeded/ })
  const cancel = new AbortController()
  const cancelled = call(cancel.signal)
  cancel.abort()
  t.match(await cancelled, { message: /context canceled/ })
  t.match(await call(cancel.signal), { message: /context canceled/ }, 'nobody waits for it from the beginning')
  t.equal(waiting, 0)
})
