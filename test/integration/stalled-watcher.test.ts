import type { Socket } from 'node:net'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { open } from '../support/raw-http.js'
import { until } from '../support/until.js'

// uWebSockets.js closes a connection on which nothing moves: after ten seconds, counted in steps of four.
const LONGER_THAN_IDLE_MS = 17_000
const ALL = '/api/v1/configmaps'
const WRITES = 30
const LARGE = 'x'.repeat(400_000)

class Client {
  text = ''
  closed = false
  readonly #socket: Socket

  constructor(url: string, accept: string, from: string) {
    this.#socket = open(url)
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (chunk: string) => {
      this.text += chunk
    })
    this.#socket.on('close', () => {
      this.closed = true
    })
    this.#socket.write(`GET ${ALL}?watch=true&resourceVersion=${from} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\n\r\n`)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(): void {
    this.#socket.destroy()
  }
}

t.test('a watcher that reads nothing for a while keeps its connection and misses nothing', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const { metadata } = (await server.request('GET', ALL)).json as { metadata: { resourceVersion: string } }
  const clients = ['application/json', 'application/vnd.kubernetes.protobuf'].map(
    (accept) => new Client(server.url, accept, metadata.resourceVersion),
  )
  t.teardown(() => {
    for (const client of clients) client.close()
  })
  const write = async (name: string): Promise<void> => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { LARGE } }
    const { status } = await server.request('POST', '/api/v1/namespaces/default/configmaps', body)
    if (status !== 201) throw new Error(`creating ${name} gave ${status}`)
  }
  await write('first')
  await until(() => clients.every(({ text }) => text.includes('first')), { what: 'each client to get the first event' })
  for (const client of clients) client.pause()
  for (let i = 0; i < WRITES; i++) await write(`stalled-${i}-x`)
  const sinceMs = performance.now()
  await until(() => clients.some(({ closed }) => closed) || performance.now() - sinceMs > LONGER_THAN_IDLE_MS, {
    what: 'a client to be closed, or more than the idle time to pass',
  })
  for (const client of clients) client.resume()
  const last = `stalled-${WRITES - 1}-x`
  await until(() => clients.every(({ text, closed }) => closed || text.includes(last)), {
    what: 'each client to get the last event or to be closed',
  })
  for (const { text, closed } of clients) {
    t.notOk(closed)
    for (let i = 0; i < WRITES; i++) t.ok(text.includes(`stalled-${i}-x`))
  }
  await write('after')
  await until(() => clients.every(({ text, closed }) => closed || text.includes('after')), {
    what: 'each client to get the event after or to be closed',
  })
  t.ok(clients.every(({ closed }) => !closed))
})
