import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { BackendQueue } from '#keelson/main/audit/audit-backend.js'
import { eventText, type ReadEvent, readItem, truncated } from '#keelson/main/audit/event-text.js'
import { legacyText } from '#keelson/main/audit/legacy-text.js'
import { LogFile } from '#keelson/main/audit/log-file.js'
import type { AuditBatchConfig, AuditEvent } from '#keelson/protocol/main-audit.js'
import { FakeClock } from '../../support/fake-clock.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const EVENT: AuditEvent = {
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'Metadata',
  auditID: 'id',
  stage: 'ResponseComplete',
  requestURI: '/api/v1/pods',
  verb: 'list',
  user: { username: 'alice', groups: ['dev', 'ops'] },
  sourceIPs: ['192.0.2.1'],
  objectRef: { resource: 'pods', namespace: 'a' },
  responseStatus: { metadata: {}, code: 200 },
  requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
  stageTimestamp: '2026-01-01T00:00:00.000000Z',
}
const read = (event = EVENT): ReadEvent => ({ event, requestObject: undefined, responseObject: undefined })
const json = (value: unknown) => ({
  bytes: new TextEncoder().encode(JSON.stringify(value)),
  contentType: 'application/json',
  gzip: false,
})

t.test('a file that is full is put aside; too many and too old ones go, others are compressed', async (t) => {
  const folder = temporaryFolder(t, 'audit')
  const clock = new FakeClock(Date.UTC(2026, 5, 1))
  const old = path.join(folder, 'audit-2020-01-01T00-00-00.000.log')
  writeFileSync(old, 'old')
  utimesSync(old, 1, 1)
  writeFileSync(path.join(folder, 'audit-notes.log'), 'not one of ours')
  const errors: unknown[] = []
  const file = new LogFile({
    path: path.join(folder, 'audit.log'),
    maxSizeMb: 1,
    maxAgeDays: 30,
    maxBackups: 2,
    compress: true,
    clock,
    onError: (error) => errors.push(error),
  })
  for (let i = 0; i < 5; i++) {
    file.write(`${String(i).repeat(700_000)}\n`)
    await clock.advance(1000)
  }
  await file.close()
  t.same(errors, [])
  const names = readdirSync(folder).sort()
  t.equal(names.length, 4, names.join(' '))
  t.ok(names.includes('audit.log') && names.includes('audit-notes.log'))
  const backups = names.filter((name) => name.endsWith('.log.gz'))
  t.equal(backups.length, 2)
  t.equal(gunzipSync(readFileSync(path.join(folder, backups[0]!))).toString(), `${'2'.repeat(700_000)}\n`)
  t.equal(readFileSync(path.join(folder, 'audit.log'), 'utf8'), `${'4'.repeat(700_000)}\n`)
})

t.test('bodies become objects; managed fields go when they should; failures say why', async (t) => {
  const object = { kind: 'Pod', metadata: { name: 'p', managedFields: [{ manager: 'm' }] }, big: 0 }
  const bytes = new TextEncoder().encode(JSON.stringify(object).replace('"big":0', '"big":9007199254740993'))
  const body = { bytes, contentType: 'application/json', gzip: false }
  const whole = eventText(readItem({ event: EVENT, requestBody: body, responseBody: body, omitManagedFields: false }))
  t.match(JSON.parse(whole), {
    requestObject: object.metadata && { metadata: object.metadata },
    responseObject: { kind: 'Pod' },
  })
  t.ok(whole.includes('9007199254740993'), 'no digit is lost')
  const list = json({ items: [object] })
  const less = eventText(readItem({ event: EVENT, requestBody: body, responseBody: list, omitManagedFields: true }))
  t.notOk(less.includes('managedFields'))
  const yaml = {
    bytes: new TextEncoder().encode('kind: Pod\nmetadata: {name: why}\n'),
    contentType: 'application/apply-patch+yaml',
    gzip: false,
  }
  t.match(JSON.parse(eventText(readItem({ event: EVENT, requestBody: yaml, omitManagedFields: false }))), {
    requestObject: { kind: 'Pod', metadata: { name: 'why' } },
  })
  const broken = { bytes: new TextEncoder().encode('{"kind'), contentType: 'application/json', gzip: false }
  t.notOk(
    'requestObject' in
      (JSON.parse(eventText(readItem({ event: EVENT, requestBody: broken, omitManagedFields: false }))) as object),
  )
  const status = json({
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    message: 'no',
    reason: 'Forbidden',
    code: 403,
  })
  t.same(readItem({ event: EVENT, statusBody: status, omitManagedFields: false }).event.responseStatus, {
    metadata: {},
    status: 'Failure',
    message: 'no',
    reason: 'Forbidden',
    code: 403,
  })
})

t.test('what is too large loses its bodies, and then itself', async (t) => {
  const large = { ...read(), responseObject: JSON.stringify('x'.repeat(10_000)) }
  t.equal(truncated(large, 20_000), large)
  t.match(truncated(large, 2000), {
    responseObject: undefined,
    event: { annotations: { 'audit.k8s.io/truncated': 'true' } },
  })
  t.equal(truncated(large, 100), undefined)
})

t.test('the old format is a line of words', async (t) => {
  t.equal(
    legacyText(EVENT),
    '2026-01-01T00:00:00.000000Z AUDIT: id="id" stage="ResponseComplete" ip="192.0.2.1" method="list" user="alice" ' +
      'groups="\\"dev\\",\\"ops\\"" as="<self>" asgroups="<lookup>" user-agent="" namespace="a" uri="/api/v1/pods" response="200"',
  )
})

const CONFIG: AuditBatchConfig = {
  mode: 'batch',
  bufferSize: 5,
  maxSize: 3,
  maxWaitMs: 1000,
  throttle: false,
  throttleQps: 1,
  throttleBurst: 1,
  truncate: false,
  maxEventBytes: 1e6,
  maxBatchBytes: 1e6,
}
function queue(config: Partial<AuditBatchConfig>, fail = false) {
  const clock = new FakeClock()
  const batches: number[] = []
  let lost = 0
  const backend = {
    name: 'test',
    write: (events: readonly ReadEvent[]) => {
      if (fail) throw new Error('no')
      batches.push(events.length)
    },
    close: () => undefined,
  }
  const events = new BackendQueue({ backend, config: { ...CONFIG, ...config }, clock, onLost: (n) => (lost += n) })
  return { events, clock, batches, lost: () => lost }
}
const many = (n: number) => Array.from({ length: n }, () => read())

t.test('batches go when they are full or have waited, and on closing', async (t) => {
  const { events, clock, batches } = queue({})
  await events.add(many(4))
  t.same(batches, [3])
  await clock.advance(1000)
  t.same(batches, [3, 1])
  await events.add(many(2))
  await events.close()
  t.same(batches, [3, 1, 2])
})

t.test('a buffer that is full drops and says how many; batches keep apart', async (t) => {
  const { events, clock, batches, lost } = queue({ throttle: true })
  t.ok(await events.add(many(3)))
  t.ok(await events.add(many(5)))
  t.same(batches, [3], 'one token')
  t.notOk(await events.add(many(2)))
  t.equal(lost(), 2)
  await clock.advance(1000)
  t.same(batches, [3, 3])
  await events.close()
  t.same(batches, [3, 3, 2])
})

t.test('blocking: written or not, it is known', async (t) => {
  const good = queue({ mode: 'blocking' })
  t.ok(await good.events.add(many(7)))
  t.same(good.batches, [7])
  const bad = queue({ mode: 'blocking-strict' }, true)
  t.notOk(await bad.events.add(many(1)))
  t.equal(bad.lost(), 1)
  t.ok(bad.events.strict)
})
