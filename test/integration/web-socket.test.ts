import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { WebSocket } from 'ws'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const folder = mkdtempSync(path.join(tmpdir(), 'keelson-ws-'))
const tokens = path.join(folder, 'tokens.csv')
writeFileSync(tokens, 's3cret,admin,admin,"system:masters"\n')
const server = await KeelsonProcess.start([`--token-auth-file=${tokens}`])
t.teardown(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})
const AUTHORIZATION = { authorization: 'Bearer s3cret' }
const bearer = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
const create = async (name: string, data: Record<string, string> = {}): Promise<void> => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }
  const { status } = await server.request('POST', CONFIGMAPS, body, AUTHORIZATION)
  if (status !== 201) throw new Error(`creating ${name} gave ${status}`)
}

interface Seen {
  readonly socket: WebSocket
  readonly messages: Buffer[]
  readonly binary: boolean[]
  closed: number | undefined
  refused: number | undefined
}
function connect(query: string, protocols: string[], headers: Record<string, string> = AUTHORIZATION): Seen {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${CONFIGMAPS}?${query}`, protocols, { headers })
  const seen: Seen = { socket, messages: [], binary: [], closed: undefined, refused: undefined }
  socket.on('message', (message: Buffer, isBinary) => {
    seen.messages.push(message)
    seen.binary.push(isBinary)
  })
  socket.on('close', (code) => {
    seen.closed = code
  })
  socket.on('error', () => undefined)
  socket.on('unexpected-response', (_request, response) => {
    seen.refused = response.statusCode
    socket.terminate()
  })
  return seen
}
interface Event {
  readonly type: string
  readonly object: { readonly metadata: { readonly name: string } }
}
const names = ({ messages }: Seen): string[] =>
  messages.map((message) => (JSON.parse(message.toString()) as Event).object.metadata.name)

t.test('each event is a text message, from the state on', async (t) => {
  await create('before')
  const seen = connect('watch=1&resourceVersion=0', [])
  await until(() => seen.messages.length > 0, { what: 'the first message' })
  await create('after', { k: 'é' })
  await until(() => names(seen).includes('after'), { what: 'the event of the object made afterwards' })
  t.ok(names(seen).includes('before'))
  t.same(new Set(seen.binary), new Set([false]))
  seen.socket.close()
  await until(() => seen.closed !== undefined, { what: 'the socket to be closed' })
})

t.test('a timeout ends it normally', async (t) => {
  const seen = connect('watch=1&timeoutSeconds=1', [])
  await until(() => seen.closed !== undefined, { what: 'the socket to be closed' })
  t.equal(seen.closed, 1000)
})

t.test('protobuf comes in binary messages without a length before them', async (t) => {
  const seen = connect('watch=1&resourceVersion=0', [], {
    ...AUTHORIZATION,
    accept: 'application/vnd.kubernetes.protobuf;stream=watch',
  })
  await until(() => seen.messages.length > 0, { what: 'the first message' })
  t.equal(seen.binary[0], true)
  t.equal(seen.messages[0]![0], 0x0a, 'the first field of an event')
  seen.socket.terminate()
})

t.test('a token may come as a subprotocol, beside the one that is answered with', async (t) => {
  const seen = connect('watch=1&resourceVersion=0', ['my.protocol', bearer('s3cret')], {})
  await until(() => seen.messages.length > 0 || seen.refused !== undefined, { what: 'a message or a refusal' })
  t.equal(seen.socket.protocol, 'my.protocol')
  t.equal(seen.refused, undefined)
  seen.socket.terminate()
  for (const [protocols, code] of [
    [['my.protocol', bearer('wrong')], 401],
    [[bearer('s3cret')], 401],
    [['my.protocol', bearer('s3cret'), bearer('again')], 401],
    [['my.protocol', 'base64url.bearer.authorization.k8s.io.a=b'.replace('=', '+')], 401],
    [['one', 'two', bearer('s3cret')], 400],
  ] as const) {
    const refused = connect('watch=1', [...protocols], {})
    await until(() => refused.refused !== undefined || refused.messages.length > 0 || refused.closed !== undefined, {
      what: 'an answer to the upgrade',
    })
    t.equal(refused.refused, code, protocols.join(' '))
  }
})

t.test('what is no watch is answered as it would be without a WebSocket', async (t) => {
  const seen = connect('limit=1', [])
  await until(() => seen.refused !== undefined, { what: 'the upgrade to be refused' })
  t.equal(seen.refused, 200)
})

t.test('one that does not read misses nothing when it reads again', async (t) => {
  const seen = connect('watch=1&resourceVersion=0', [])
  await until(() => seen.messages.length > 0, { what: 'the first message' })
  // What was there before may still be on its way: only the objects made from now on are counted.
  const slow = (): string[] => names(seen).filter((name) => name.startsWith('slow-'))
  seen.socket.pause()
  const data = { k: 'x'.repeat(200_000) }
  for (let i = 0; i < 40; i++) await create(`slow-${i}`, data)
  seen.socket.resume()
  await until(() => slow().length >= 40 || seen.closed !== undefined, { what: 'forty messages or the end' })
  t.same(
    slow(),
    Array.from({ length: 40 }, (_, i) => `slow-${i}`),
  )
  seen.socket.terminate()
})
