import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { watchFrame } from '#keelson/api/protobuf/envelope.js'
import type { RequestInfo } from '#keelson/api/request-info.js'
import { watchFiller } from '#keelson/main/aggregation/relayed-watch.js'
import { answerTo, relayAnswer } from '#keelson/main/kubelet/http-relay.js'
import { listen } from '../../support/http-listener.js'

const WATCH = { verb: 'watch', isResourceRequest: true } as RequestInfo
const PROTOBUF = 'application/vnd.kubernetes.protobuf;stream=watch'

/** An extension server that sends its head at once and its frames when it is told to, each in two parts. */
async function extension(t: Test, contentType: string): Promise<{ port: number; watch: Promise<ServerResponse> }> {
  let begun: (response: ServerResponse) => void
  const watch = new Promise<ServerResponse>((resolve) => {
    begun = resolve
  })
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { 'content-type': contentType })
    response.flushHeaders()
    begun(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { port: (server.address() as AddressInfo).port, watch }
}

async function relayTo(t: Test, port: number): Promise<number> {
  const server = await listen(t, (exchange) => {
    const request = http.request({ host: '127.0.0.1', port, agent: false })
    const answered = answerTo(request, exchange)
    request.end()
    answered.then(
      exchange.guard((answer) => relayAnswer(answer, exchange, { filler: watchFiller(WATCH, answer.headers) })),
      (error: unknown) => exchange.fail(error),
    )
  })
  return server.port
}

const frames: Readonly<Record<string, Buffer>> = {
  'application/json': Buffer.from(`{"type":"ADDED","object":{"a":"${'x'.repeat(3000)}"}}\n`),
  [PROTOBUF]: Buffer.from(watchFrame('ADDED', Buffer.from('an object'))),
}

for (const [contentType, frame] of Object.entries(frames))
  t.test(`a watch of another server has its head before its first event (${contentType})`, async (t) => {
    const { port, watch } = await extension(t, contentType)
    const request = http.get({ host: '127.0.0.1', port: await relayTo(t, port), agent: false })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    t.equal(answer.statusCode, 200)
    t.equal(answer.headers['content-type'], contentType)
    const upstream = await watch
    for (let i = 0; i < 3; i++) {
      upstream.write(frame.subarray(0, 10))
      upstream.write(frame.subarray(10))
    }
    upstream.end()
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const expected = Buffer.concat([frame, frame, frame])
    if (contentType === PROTOBUF) t.same(body, expected)
    else t.equal(body.toString().trimStart(), expected.toString())
  })

t.test('only what means nothing is sent ahead', async (t) => {
  t.ok(watchFiller(WATCH, { 'content-type': 'application/json; charset=utf-8' }))
  t.equal(watchFiller({ ...WATCH, verb: 'list' }, { 'content-type': 'application/json' }), undefined)
  t.equal(watchFiller(WATCH, { 'content-type': 'application/json', 'content-encoding': 'gzip' }), undefined)
  t.equal(watchFiller(WATCH, { 'content-type': 'application/vnd.kubernetes.protobuf' }), undefined)
  t.equal(watchFiller(WATCH, { 'content-type': 'application/cbor-seq' }), undefined)
  t.equal(watchFiller(WATCH, {}), undefined)
})
