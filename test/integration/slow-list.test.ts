import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import t from 'tap'
import { SLOW_ANSWER_BYTES } from '#keelson/main/http/slow-answers.js'
import { Exposition } from '../support/exposition.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { open } from '../support/raw-http.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const OBJECTS = 48
const LARGE = 'x'.repeat(500_000)
/** As many bytes as the cache may take in all: whatever keeps them pushes the resource out of memory. */
const UPDATES = 200
const LIMIT = '--cache-memory-limit=96Mi'
/** So little that the list is never done, and enough for its connection to be kept. */
const SIP_BYTES = 16 * 1024
const SIP_INTERVAL_MS = 100

class SlowClient {
  closed = false
  readonly #chunks: Buffer[] = []
  readonly #socket: Socket
  readonly #sips: NodeJS.Timeout

  constructor(url: string, path: string, headers = '') {
    this.#socket = open(url)
    this.#socket.on('close', () => {
      this.closed = true
    })
    this.#socket.on('error', () => undefined)
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`)
    // Only with a listener does a socket that is not flowing take anything in.
    this.#socket.on('readable', () => undefined)
    this.#sips = setInterval(() => this.#take(this.#socket.read(SIP_BYTES)), SIP_INTERVAL_MS)
  }

  #take(chunk: Buffer | null): void {
    if (chunk !== null) this.#chunks.push(chunk)
  }

  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  }

  /** From here on as fast as it comes. */
  hurry(): void {
    clearInterval(this.#sips)
    this.#socket.removeAllListeners('readable')
    this.#socket.on('data', (chunk) => this.#take(chunk))
    this.#socket.resume()
  }

  close(): void {
    clearInterval(this.#sips)
    this.#socket.destroy()
  }

  answer(): { readonly totalBytes: number; readonly body: string } {
    const text = Buffer.concat(this.#chunks).toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    return { totalBytes: Number(/content-length: (\d+)/i.exec(text)![1]), body: text.slice(end + 4) }
  }
}

async function metric(server: KeelsonProcess, name: string, labels: Record<string, string>): Promise<number> {
  const { text } = await server.request('GET', '/metrics')
  const samples = new Exposition(text).families.get(name)?.samples ?? []
  const found = samples.find((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  return found?.value ?? 0
}

t.test('lists that are read slowly push nothing out of memory', async (t) => {
  const server = await KeelsonProcess.start([LIMIT])
  t.teardown(() => server.close())
  const object = (i: number, text: string): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `c${10 + i}` },
    data: { text },
  })
  for (let i = 0; i < OBJECTS; i++) t.equal((await server.request('POST', CONFIGMAPS, object(i, LARGE))).status, 201)
  const short = new SlowClient(server.url, `${CONFIGMAPS}?limit=12`)
  const long = new SlowClient(server.url, CONFIGMAPS)
  t.teardown(() => {
    for (const client of [short, long]) client.close()
  })
  const outcome = (name: string): Promise<number> =>
    metric(server, 'keelson_slow_lists_total', { resource: 'configmaps', outcome: name })
  await until(async () => (await outcome('copied')) === 1 && (await outcome('reopened')) === 1, {
    what: 'one list to be copied and one reopened',
  })
  for (let i = 0; i < UPDATES; i++)
    t.equal(
      (await server.request('PUT', `${CONFIGMAPS}/c${10 + (i % OBJECTS)}`, object(i % OBJECTS, `${i}${LARGE}`))).status,
      200,
    )
  t.notOk(short.closed || long.closed, 'both read all the while')
  const resource = { resource: 'configmaps' }
  t.equal(await metric(server, 'keelson_cache_fallbacks_total', resource), 0)
  t.equal(await metric(server, 'keelson_cache_ready', resource), 1)
  t.equal(await metric(server, 'keelson_cache_memory_bytes', { ...resource, kind: 'pinned' }), 0)
  for (const client of [short, long]) client.hurry()
  await until(() => short.closed && long.closed, { what: 'both lists to end' })
  const whole = short.answer()
  t.equal(whole.body.length, whole.totalBytes, 'what was copied is read to its end')
  const { items } = JSON.parse(whole.body) as { items: { data: { text: string } }[] }
  t.ok(
    items.every(({ data }) => data.text === LARGE),
    'and is of one state',
  )
  const lost = long.answer()
  t.ok(lost.body.length < lost.totalBytes, 'what has left memory is broken off')
  t.equal(await outcome('lost'), 1)
  t.equal(await metric(server, 'keelson_slow_list_copies_bytes', {}), 0)
})

t.test(
  'lists in other forms that are read slowly are held within a bound; then the slowest are broken off',
  async (t) => {
    const server = await KeelsonProcess.start()
    t.teardown(() => server.close())
    // Gzip of what is not random takes little: one that says so must be answered with what does not shrink.
    const noise = (): string => randomBytes(375_000).toString('base64')
    const object = (i: number): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `c${10 + i}` },
      data: { noise: noise() },
    })
    for (let i = 0; i < 24; i++) t.equal((await server.request('POST', CONFIGMAPS, object(i))).status, 201)
    const protobuf = 'Accept: application/vnd.kubernetes.protobuf\r\n'
    const yaml = 'Accept: application/yaml\r\n'
    const gzip = 'Accept-Encoding: gzip\r\n'
    // Some 9 to 12 MB each: the kernel takes at most 4 MiB of a connection, and what is left of two dozen is far more than may be held.
    const clients = Array.from(
      { length: 24 },
      (_, i) => new SlowClient(server.url, CONFIGMAPS, [protobuf, yaml, gzip][i % 3]),
    )
    t.teardown(() => {
      for (const client of clients) client.close()
    })
    const held = (): Promise<number> => metric(server, 'keelson_slow_answer_bytes', {})
    const broken = (): Promise<number> => metric(server, 'keelson_slow_answers_broken_off_total', {})
    await until(async () => (await broken()) > 0 && clients.some(({ closed }) => closed), {
      what: 'a slow list to be broken off',
    })
    t.ok((await held()) <= SLOW_ANSWER_BYTES, 'no more is held than was said')
    t.ok(
      clients.some(({ closed }) => !closed),
      'and what fits is waited for',
    )
    const fast = await server.request('GET', CONFIGMAPS, undefined, { accept: 'application/yaml' })
    t.equal(fast.status, 200)
    t.ok(fast.text.length > 12_000_000, 'who reads gets all of it meanwhile')
    for (const client of clients) client.close()
    await until(async () => (await held()) === 0, { what: 'no memory to be held for slow lists' })
  },
)
