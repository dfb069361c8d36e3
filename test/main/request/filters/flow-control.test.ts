import t from 'tap'
import { NonResourcePaths } from '#keelson/main/paths/non-resource-paths.js'
import { type GatedRequest, type Leave, RequestRefused } from '#keelson/main/request/request-gate.js'
import { ALICE, frontEnd, turn } from '../front-end-fixture.js'

t.test('a place is held as long as the request, however it ends', async (t) => {
  let inside = 0
  const gate = {
    enter: (): Leave => {
      inside++
      return () => inside--
    },
  }
  const { send } = frontEnd({ gate })
  send({ rawPath: '/x' })
  t.equal(inside, 0, 'answered')
  send({ rawPath: '/apis/none/v1/things' })
  t.equal(inside, 0, 'not found')
  const refusing = frontEnd({
    gate: {
      enter: () => {
        throw new RequestRefused(1)
      },
    },
  })
  const port = refusing.send({ rawPath: '/x' })
  t.equal(port.status, '429 Too Many Requests')
  t.equal(port.body, 'Too many requests, please try again later.\n')
  t.same(
    port.headers.find(([name]) => name === 'Content-Type'),
    ['Content-Type', 'text/plain; charset=utf-8'],
  )
  t.same(
    port.headers.find(([name]) => name === 'Retry-After'),
    ['Retry-After', '1'],
  )
  t.same(refusing.ran, [])
})

t.test('who went away while waiting at the gate does not run and gives its place back at once', async (t) => {
  let admit: (leave: Leave) => void = () => t.fail('nobody came')
  let left = 0
  let told = 0
  const gate = {
    enter: (request: GatedRequest): Promise<Leave> => {
      request.onGone(() => told++)
      return new Promise<Leave>((resolve) => {
        admit = resolve
      })
    },
  }
  const { send, ran } = frontEnd({ gate })
  const gone = send({ rawPath: '/x' })
  gone.abort()
  t.equal(told, 1, 'the queue can forget it')
  admit(() => left++)
  await turn()
  t.equal(left, 1)
  t.same(ran, [])
  const patient = send({ rawPath: '/x' })
  admit(() => left++)
  await turn()
  t.equal(patient.body, 'ok')
  t.equal(left, 2)
})

t.test('the body of a request that waits is not lost', async (t) => {
  let decide: () => void = () => t.fail('nobody asked')
  let body = ''
  const paths = new NonResourcePaths()
  paths.exact('/post', async (exchange) => {
    body = Buffer.from(await exchange.readBody(1000)).toString()
    exchange.respond({ status: 200, contentType: 'text/plain' }, 'ok')
  })
  const { send } = frontEnd({
    nonResourcePaths: paths,
    authenticator: {
      authenticate: () =>
        new Promise((resolve) => {
          decide = () => resolve({ user: ALICE })
        }),
    },
  })
  for (const contentLength of ['5', '100000']) {
    const port = send({ method: 'POST', rawPath: '/post', contentLength })
    t.equal(port.paused, contentLength === '100000', 'what is large waits in the socket')
    port.send('hel', false)
    decide()
    await turn()
    t.equal(port.paused, false)
    port.send('lo', true)
    await turn()
    t.equal(body, 'hello')
    t.equal(port.body, 'ok')
  }
})
