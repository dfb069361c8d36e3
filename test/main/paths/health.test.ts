import t from 'tap'
import { Exchange } from '#keelson/main/http/exchange.js'
import { type HealthCheck, HealthEndpoint } from '#keelson/main/paths/health.js'
import { NonResourcePaths } from '#keelson/main/paths/non-resource-paths.js'
import { FakePort, requestHead } from '../http/fake-port.js'

const good: HealthCheck = { name: 'ping', check: () => undefined }
const bad: HealthCheck = { name: 'etcd', check: () => Promise.reject(new Error('no leader')) }

async function ask(
  checks: readonly HealthCheck[],
  path: string,
  query = '',
): Promise<{ status: string; body: string }> {
  const paths = new NonResourcePaths()
  new HealthEndpoint('/readyz', checks).install(paths)
  const port = new FakePort()
  await paths.handle(new Exchange(requestHead({ rawPath: path }), port), path, new URLSearchParams(query))
  return { status: port.status, body: port.body }
}

t.test('all is well', async (t) => {
  t.same(await ask([good], '/readyz'), { status: '200 OK', body: 'ok' })
  t.same(await ask([good], '/readyz', 'verbose'), { status: '200 OK', body: '[+]ping ok\nreadyz check passed\n' })
  t.same(await ask([good], '/readyz/ping'), { status: '200 OK', body: 'ok' })
})

t.test('a failed check is named, its reason only where it is asked for', async (t) => {
  const all = await ask([good, bad], '/readyz')
  t.equal(all.status, '500 Internal Server Error')
  t.equal(all.body, '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n')
  t.match((await ask([good, bad], '/readyz/etcd')).body, 'no leader')
  t.equal((await ask([good, bad], '/readyz/ping')).status, '200 OK', 'the others stand alone')
})

t.test('a check can be left out; one that does not exist cannot', async (t) => {
  t.equal((await ask([good, bad], '/readyz', 'exclude=etcd')).status, '200 OK')
  const told = await ask([good], '/readyz', 'exclude=nothing&verbose')
  t.equal(told.status, '200 OK')
  t.match(told.body, /cannot be excluded.*"nothing"/)
})

t.test('a check that does not exist is not found', async (t) => {
  t.equal((await ask([good], '/readyz/nothing')).status, '404 Not Found')
})
