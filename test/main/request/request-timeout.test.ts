import t from 'tap'
import { Exchange } from '#keelson/main/http/exchange.js'
import { NonResourcePaths } from '#keelson/main/paths/non-resource-paths.js'
import type { Leave } from '#keelson/main/request/request-gate.js'
import { FakePort, requestHead } from '../http/fake-port.js'
import { frontEnd, message, turn } from './front-end-fixture.js'

t.test('a request that takes too long gets 504, when the client says so sooner', async (t) => {
  for (const [query, limitMs] of [
    ['', 60_000],
    ['timeout=2s', 2000],
    ['timeout=0s', 60_000],
    ['timeout=1h', 60_000],
  ] as const) {
    const { send, clock } = frontEnd()
    const port = send({ rawPath: '/never', query })
    await clock.advance(limitMs - 1)
    t.equal(port.status, '', query)
    await clock.advance(1)
    t.equal(port.status, '504 Gateway Timeout', query)
    t.match(JSON.parse(port.body), {
      reason: 'Timeout',
      message: 'Timeout: request did not complete within the allotted timeout',
    })
  }
  const { send, ran } = frontEnd()
  const bad = send({ rawPath: '/x', query: 'timeout=soon' })
  t.equal(bad.status, '400 Bad Request')
  t.equal(message(bad), 'invalid timeout specified in the request URL - time: invalid duration "soon"')
  t.same(ran, [])
})

t.test('who waits at the gate for too long does not run when its turn comes', async (t) => {
  let admit: (leave: Leave) => void = () => t.fail('nobody came')
  let left = 0
  const gate = {
    enter: (): Promise<Leave> =>
      new Promise<Leave>((resolve) => {
        admit = resolve
      }),
  }
  const { send, ran, clock } = frontEnd({ gate })
  const port = send({ rawPath: '/x' })
  await clock.advance(60_000)
  t.equal(port.status, '504 Gateway Timeout')
  admit(() => left++)
  await turn()
  t.equal(left, 1)
  t.same(ran, [])
})

t.test('an answer that its client does not take is broken off in the end', async (t) => {
  const paths = new NonResourcePaths()
  let released = 0
  paths.exact('/large', (exchange) => {
    exchange.respondSized(
      { status: 200, contentType: 'text/plain' },
      {
        totalBytes: 1000,
        heldBytes: 0,
        next: () => Buffer.alloc(100),
        done: () => released++,
      },
    )
    return undefined
  })
  const { server, clock } = frontEnd({ nonResourcePaths: paths })
  const port = new FakePort()
  port.room = 10
  server.handle(new Exchange(requestHead({ rawPath: '/large' }), port))
  await clock.advance(60_000)
  t.ok(port.closed)
  t.equal(released, 1)
})
