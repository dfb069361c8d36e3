import t from 'tap'
import { Lifecycle } from '#keelson/lib/lifecycle.js'

t.test('closes in reverse order, once, and reports every failure', async (t) => {
  const order: string[] = []
  const lifecycle = new Lifecycle()
  lifecycle.own('first', { close: () => void order.push('first') })
  lifecycle.own('broken', {
    close: () => {
      order.push('broken')
      throw new Error('no')
    },
  })
  lifecycle.own('last', { close: () => void order.push('last') })
  await t.rejects(lifecycle.close(), { message: 'closing broken failed' })
  await t.rejects(lifecycle.close(), { message: 'closing broken failed' })
  t.same(order, ['last', 'broken', 'first'])
})
