import { readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { testEngine } from '../support/http-engine.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { open } from '../support/raw-http.js'
import { until } from '../support/until.js'

const LIMIT = 256
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const skip = process.platform === 'linux' ? false : 'the limit is read from /proc'

/** Clients that connect and say nothing, and connect again when they are refused. */
class Crowd {
  refused = 0
  readonly #sockets = new Set<Socket>()
  #isOver = false

  constructor(url: string, size: number) {
    for (let i = 0; i < size; i++) this.#connect(url)
  }

  #connect(url: string): void {
    if (this.#isOver) return
    const socket = open(url)
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.resume()
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.refused++
      setImmediate(() => this.#connect(url))
    })
  }

  leave(): void {
    this.#isOver = true
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** A client that keeps the one connection that it has. */
function keeping(t: Test, url: string): (method: string, path: string, body?: object) => Promise<Answer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const call = request(`${url}${path}`, { method, agent, headers: { 'content-type': 'application/json' } })
      call.on('error', reject)
      call.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      call.end(body && JSON.stringify(body))
    })
}
interface Answer {
  readonly status: number
  readonly text: string
}

/** Whatever opens a file or a connection now and then has done so: a thread looks at itself every five seconds. */
async function crowded(t: Test, flags: readonly string[]): Promise<void> {
  const server = await KeelsonProcess.start(['--pool-threads=2', ...flags], undefined, { openFiles: LIMIT })
  t.teardown(() => server.close())
  const inUse = (): number => readdirSync(`/proc/${server.pid}/fd`).length
  const idle = inUse()
  const ask = keeping(t, server.url)
  t.equal((await ask('GET', '/readyz')).status, 200)
  const crowd = new Crowd(server.url, 3 * LIMIT)
  t.teardown(() => crowd.leave())
  await until(() => crowd.refused > 3 * LIMIT, { what: 'clients to be refused' })
  const looks = async (): Promise<number> =>
    Number(/^keelson_thread_cpu_seconds_total\{thread="main"\} (\S+)/m.exec((await ask('GET', '/metrics')).text)?.[1])
  const first = await looks()
  t.equal((await ask('POST', CONFIGMAPS, { metadata: { name: 'meanwhile' } })).status, 201)
  t.ok(inUse() < LIMIT, 'descriptors are left for the server')
  await until(async () => (await looks()) > first, { what: 'a thread to have looked at itself' })
  t.match((await ask('GET', '/metrics')).text, /^keelson_connections_refused_total [1-9]/m)
  crowd.leave()
  await until(() => inUse() <= idle + 8, { what: 'the connections to be gone' })
  t.equal((await server.request('POST', CONFIGMAPS, { metadata: { name: 'after' } })).status, 201)
  t.equal((await server.request('GET', '/readyz')).status, 200)
}

t.test('more clients than descriptors: the server keeps its own, and goes on', { skip }, (t) => crowded(t, []))

t.test('the same on Node’s engine', { skip: skip || (testEngine === 'node' && 'it is the one above') }, (t) =>
  crowded(t, ['--http-engine=node']),
)
