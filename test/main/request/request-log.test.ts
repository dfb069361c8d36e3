import t from 'tap'
import { RequestLog } from '#keelson/main/request/request-log.js'
import type { ObservedRequest } from '#keelson/main/request/request-observer.js'
import { type Line, recordingLogger } from '../../support/recording-logger.js'

function logged(slowMs: number, everything: boolean): { readonly log: RequestLog; readonly lines: Line[] } {
  const { logger, lines } = recordingLogger()
  return { log: new RequestLog({ logger, slowMs, everything }), lines }
}

const request = (changes: Partial<ObservedRequest> = {}): ObservedRequest =>
  ({
    head: { method: 'GET', rawPath: '/api/v1/pods', query: 'limit=5', auditId: 'audit-1', userAgent: 'tests' },
    info: { verb: 'list', path: '/api/v1/pods' },
    user: { name: 'alice' },
    longRunning: false,
    waitedMs: 0,
    ...changes,
  }) as unknown as ObservedRequest

t.test('what fails is an error when the server is at fault, a warning when it is busy', async (t) => {
  const { log, lines } = logged(1000, false)
  log.onFinished(request(), { status: 500, bytes: 10, durationMs: 1.23456 })
  log.onFinished(request(), { status: 503, bytes: 10, durationMs: 1 })
  log.onFinished(request(), { status: 404, bytes: 10, durationMs: 1 })
  log.onFinished(request(), { status: 0, bytes: 10, durationMs: 1 })
  t.same(
    lines.map(({ level, message }) => [level, message]),
    [
      ['error', 'a request failed'],
      ['warn', 'a request failed'],
    ],
  )
  log.onFinished(request({ info: { verb: 'get', path: '/readyz' } as ObservedRequest['info'] }), {
    status: 500,
    bytes: 10,
    durationMs: 1,
  })
  t.match(lines.pop(), { level: 'info', message: 'a health check failed' }, 'a server that starts says so often')
  t.same(lines[0]?.fields, {
    auditID: 'audit-1',
    verb: 'list',
    method: 'GET',
    uri: '/api/v1/pods?limit=5',
    user: 'alice',
    userAgent: 'tests',
    status: 500,
    bytes: 10,
    durationMs: 1.235,
  })
})

t.test('what is slow is a warning: neither watches nor what only waited for its turn', async (t) => {
  const { log, lines } = logged(1000, false)
  const outcome = { status: 200, bytes: 10, durationMs: 1500 }
  log.onFinished(request({ longRunning: true }), outcome)
  log.onFinished(request({ waitedMs: 600 }), outcome)
  log.onFinished(request(), { ...outcome, durationMs: 999 })
  t.same(lines, [])
  log.onFinished(request({ waitedMs: 400 }), outcome)
  t.match(lines, [{ level: 'warn', message: 'a request was slow', fields: { durationMs: 1500, waitedMs: 400 } }])
})

t.test('a threshold of nothing calls nothing slow; debug shows all', async (t) => {
  const { log, lines } = logged(0, true)
  log.onFinished(request({ requestor: { name: 'admin', uid: '', groups: [], extra: {} } }), {
    status: 200,
    bytes: 1,
    durationMs: 1e6,
  })
  t.match(lines, [{ level: 'debug', message: 'a request', fields: { user: 'admin', status: 200 } }])
  t.equal(lines.length, 1)
})
