import { test } from 'tap'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { logFailure } from '#keelson/storage/contract/log-failure.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { FakeClock } from '../../support/fake-clock.js'
import { freePort } from '../../support/free-port.js'
import { type Line, recordingLogger } from '../../support/recording-logger.js'
import { until } from '../../support/until.js'

test('an etcd that nobody reaches is told of once, and again after a minute, with the time since when', async (t) => {
  const { logger, lines } = recordingLogger()
  const clock = new FakeClock(Date.UTC(2026, 5, 1))
  const endpoint = `http://127.0.0.1:${await freePort()}`
  const options = { backoffBaseMs: 1000, backoffCapMs: 1000, timeoutMs: 150_000 }
  const kv = new EtcdKV({ endpoints: [endpoint], clock, logger, ...options })
  t.teardown(() => kv.close())
  const asked = kv.currentRevision().catch((error: unknown) => error)
  const told = (): Line[] => lines.filter(({ level }) => level !== 'debug')
  await until(() => lines.length > 0, { what: 'the first line' })
  const since = '2026-06-01T00:00:00.000Z'
  t.match(told(), [
    {
      level: 'warn',
      fields: { endpoint, since, reason: /ECONNREFUSED/ },
      message: 'no connection to etcd; trying again until there is one',
    },
  ])
  for (let second = 0; told().length < 2 && second < 120; second++) {
    const before = lines.length
    await clock.advance(2000)
    await until(() => lines.length > before, { what: 'another attempt' })
  }
  t.ok(clock.now() - Date.parse(since) >= 60_000)
  t.equal(told().length, 2)
  t.match(told()[1], { level: 'warn', fields: { endpoint, since }, message: /^still no connection to etcd/ })
  t.notOk(JSON.stringify(lines).includes('stack'))

  void kv.close()
  const error = await asked
  t.match(error, { code: 'unreachable', fields: { notSent: true } })
})

test('what waits for a connection says nothing of its own; other failures of a server are a line without a stack', async (t) => {
  const { logger, lines } = recordingLogger()
  logFailure(
    logger,
    new StorageError('unreachable', 'no server', { notSent: true }),
    { resource: 'pods' },
    'not listed',
  )
  logFailure(logger, new StorageError('unreachable', 'no leader'), {}, 'not listed')
  logFailure(logger, new TypeError('a mistake'), {}, 'not listed')
  t.match(lines, [
    { level: 'debug', fields: { resource: 'pods', reason: 'no server' } },
    { level: 'warn', fields: { reason: 'no leader', err: undefined } },
    { level: 'warn', fields: { err: TypeError } },
  ])
})
