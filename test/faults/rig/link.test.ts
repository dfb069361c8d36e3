/** A line delays, holds and cuts bytes; it never brings them in another order. */
import { once } from 'node:events'
import net from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../../support/until.js'
import { Link } from './link.js'

/** A line to a listener that keeps what comes. */
async function line(t: Test): Promise<{
  link: Link
  client: net.Socket
  came: () => string
  isEnded: () => boolean
  /** Whether the listener reads; false while there is none. */
  rest: (isResting: boolean) => boolean
}> {
  let text = ''
  let ended = false
  let listener: net.Socket | undefined
  const server = net.createServer((socket) => {
    listener = socket
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      ended = true
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const link = await Link.open((server.address() as net.AddressInfo).port)
  t.teardown(() => link.close())
  const client = net.connect(link.port, '127.0.0.1')
  client.setNoDelay(true)
  client.on('error', () => undefined)
  await once(client, 'connect')
  t.teardown(() => client.destroy())
  const rest = (isResting: boolean): boolean => {
    if (isResting) listener?.pause()
    else listener?.resume()
    return listener !== undefined
  }
  return { link, client, came: () => text, isEnded: () => ended, rest }
}

t.test('bytes that were delayed are not overtaken when the delay ends or changes', async (t) => {
  const { link, client, came } = await line(t)
  let sent = ''
  for (let i = 0; i < 60; i++) {
    link.delayMs = [40, 5, 0][i % 3]!
    const part = `${i};`
    sent += part
    client.write(part)
    // Each part is a packet of its own: the line has it before the delay changes again.
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
  link.delayMs = 0
  await until(() => came().length >= sent.length, { what: 'all bytes' })
  t.equal(came(), sent)
})

t.test('what was delayed still comes when the sender has ended', async (t) => {
  const { link, client, came, isEnded } = await line(t)
  link.delayMs = 30
  client.end('the last words')
  await until(isEnded, { what: 'the end' })
  t.equal(came(), 'the last words')
})

t.test('a line that is held brings nothing until it is released', async (t) => {
  const { link, client, came } = await line(t)
  client.write('before ')
  await until(() => came() === 'before ', { what: 'the first bytes' })
  link.hold(['forth'])
  client.write('after')
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(came(), 'before ')
  link.release()
  await until(() => came() === 'before after', { what: 'the held bytes' })
})

t.test('what comes right behind the byte at which a connection is cut does not pass', async (t) => {
  const { link, client, came, isEnded, rest } = await line(t)
  await until(() => rest(true), { what: 'the listener' })
  // More than the system takes for somebody who does not read: the last bytes wait in the line, and those behind them come meanwhile.
  const [parts, part] = [24, 'x'.repeat(1 << 20)]
  link.cutAfter('forth', (parts - 4) * part.length + 5)
  for (let i = 0; i < parts; i++) client.write(part)
  await new Promise((resolve) => setTimeout(resolve, 300))
  rest(false)
  await until(isEnded, { what: 'the cut' })
  t.equal(came().length, (parts - 4) * part.length + 5)
})

t.test('a connection is cut after exactly so many bytes', async (t) => {
  const { link, client, came, isEnded } = await line(t)
  link.cutAfter('forth', 5)
  client.write('0123456789')
  await until(isEnded, { what: 'the cut' })
  t.equal(came(), '01234')
})
