import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import t from 'tap'
import { sharesPort } from '#keelson/main/http/engine-choice.js'
import { testEngineChoice } from '../support/http-engine.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

const FRONT_ENDS = 3
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const server = await KeelsonProcess.start([
  `--front-ends=${FRONT_ENDS}`,
  '--max-mutating-requests-inflight=2',
  '--enable-priority-and-fairness=false',
])
t.teardown(() => server.close())

/** Over a connection of its own: the kernel chooses the thread. */
function once(method: string, path: string, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${server.url}${path}`, { method, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', reject)
    request.setHeader('Content-Type', 'application/json')
    request.end(body)
  })
}
const configMap = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { k: 'v'.repeat(2000) } })

t.test('several threads listen on one port', { skip: process.platform !== 'linux' }, async (t) => {
  const port = Number(new URL(server.url).port).toString(16).toUpperCase().padStart(4, '0')
  const listening = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .filter((line) => new RegExp(`:${port} 00000000:0000 0A `).test(line))
  // Node before 22.12 cannot share a port between threads, and says so.
  t.equal(listening.length, sharesPort(testEngineChoice()) ? FRONT_ENDS : 1)
})

t.test('every one of them serves everything', async (t) => {
  t.equal((await once('POST', CONFIGMAPS, configMap('first'))).status, 201)
  for (const path of [
    '/readyz',
    '/livez',
    '/metrics',
    '/openapi/v3',
    '/apis',
    '/version',
    `${CONFIGMAPS}/first`,
    CONFIGMAPS,
  ]) {
    const answers = await Promise.all(Array.from({ length: 12 }, () => once('GET', path)))
    t.same(new Set(answers.map(({ status }) => status)), new Set([200]), path)
  }
  t.equal((await once('GET', `${CONFIGMAPS}/none`)).status, 404)
})

t.test('what one thread writes all watchers see, in order', async (t) => {
  const watchers = Array.from(
    { length: 12 },
    () => new WatchClient(server.url, `${CONFIGMAPS}?watch=1&resourceVersion=0`),
  )
  await until(() => watchers.every((watcher) => watcher.eventCount === 1), { what: 'each watcher to see one event' })
  for (let i = 0; i < 20; i++) t.equal((await once('POST', CONFIGMAPS, configMap(`w${i}`))).status, 201)
  await until(() => watchers.every((watcher) => watcher.eventCount === 21), { what: 'each watcher to see 21 events' })
  for (const watcher of watchers)
    t.same(
      watcher.events.slice(1).map(({ name }) => name),
      Array.from({ length: 20 }, (_, i) => `w${i}`),
    )
  for (const watcher of watchers) watcher.close()
})

t.test('limits are those of the process, not of a thread', async (t) => {
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => once('POST', CONFIGMAPS, configMap(`l${i}`))))
  const refused = answers.filter(({ status }) => status === 429)
  t.ok(refused.length > 0, 'three threads with two places each would have let most through')
  t.equal(answers.filter(({ status }) => status === 201).length, 60 - refused.length)
  t.equal((await once('POST', CONFIGMAPS, configMap('after'))).status, 201, 'places are given back')
})

t.test('a stop ends watches properly and the process with code 0', async (t) => {
  const watcher = new WatchClient(server.url, `${CONFIGMAPS}?watch=1`)
  await until(() => watcher.started, { what: 'the watch to start' })
  t.equal(await server.stop(), 0)
  await until(() => watcher.closed, { what: 'the watch to end' })
})
