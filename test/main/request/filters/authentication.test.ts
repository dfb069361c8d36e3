import t from 'tap'
import { InvalidCredentials } from '#keelson/auth/interface.js'
import { frontEnd, message, turn } from '../front-end-fixture.js'

t.test('nobody, and who is wrong about themselves, get 401', async (t) => {
  for (const authenticate of [
    () => undefined,
    async () => undefined,
    () => {
      throw new InvalidCredentials('expired')
    },
    async () => {
      throw new InvalidCredentials('expired')
    },
  ]) {
    const { send, ran } = frontEnd({ authenticator: { authenticate } })
    const port = send({ rawPath: '/x' })
    await turn()
    t.equal(port.status, '401 Unauthorized')
    t.equal(message(port), 'Unauthorized')
    t.same(ran, [])
  }
})
