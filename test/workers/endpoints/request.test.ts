import t from 'tap'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { EndpointFixture, SOMEBODY } from '../../support/endpoint-fixture.js'

const A = '/api/v1/namespaces/default/configmaps/a'
const fixture = new EndpointFixture()
const RESPONSE = { status: 200, contentType: '', warnings: [], headers: [], body: new Uint8Array() }

t.test('strategies know of the request what they may', async (t) => {
  const signal = new Cancellation()
  const worker = fixture.worker('PUT', A, { signal })
  const context = worker.context(true)
  t.match(context, {
    namespace: 'default',
    resource: 'configmaps',
    subresource: '',
    verb: 'update',
    apiGroup: '',
    apiVersion: 'v1',
    user: SOMEBODY,
    dryRun: true,
    signal,
  })
  t.equal(context.now(), fixture.clock.now())
  t.notOk('signal' in fixture.worker('PUT', A).context(false), 'watches have none')
  t.equal(fixture.worker('GET', '/api/v1/namespaces/x').context(false).namespace, '', 'a namespace is in none')
})

t.test('the paths of the last attempt are those that count', async (t) => {
  const worker = fixture.worker('PUT', A)
  const context = worker.context(false)
  worker.noteEmptied([['spec', 'a']])
  worker.noteEmptied([['spec', 'b']])
  t.same(context.emptied?.(), [['spec', 'b']])
})

t.test('warnings are gathered, each once', async (t) => {
  const worker = fixture.worker('PUT', A)
  worker.addWarning('a')
  worker.context(false).addWarning('b')
  worker.addWarning('a')
  t.same(worker.warnings, ['a', 'b'])
})

t.test('the first note of a key is what the audit log gets', async (t) => {
  const worker = fixture.worker('PUT', A)
  t.equal(worker.withAnnotations(RESPONSE), RESPONSE, 'without notes the answer is as it was')
  worker.addAnnotation('k', 'first')
  worker.addAnnotation('k', 'second')
  t.same(worker.withAnnotations(RESPONSE), { ...RESPONSE, auditAnnotations: { k: 'first' } })
})

t.test('how a write ended is told once to who asked, in order', async (t) => {
  const worker = fixture.worker('PUT', A)
  const told: string[] = []
  worker.onOutcome(async (succeeded) => {
    await Promise.resolve()
    told.push(`a ${succeeded}`)
  })
  worker.onOutcome((succeeded) => void told.push(`b ${succeeded}`))
  await worker.settle(false)
  t.same(told, ['a false', 'b false'])
  worker.onOutcome((succeeded) => void told.push(`c ${succeeded}`))
  await worker.settle(true)
  await worker.settle(false)
  t.same(told.slice(2), ['c true'])
})

t.test('one that cannot be told does not keep the others from it', async (t) => {
  const worker = fixture.worker('PUT', A)
  const told: boolean[] = []
  worker.onOutcome(() => {
    throw new Error('quota is away')
  })
  worker.onOutcome((succeeded) => void told.push(succeeded))
  await t.rejects(worker.settle(false), { message: 'quota is away' })
  t.same(told, [false])
})
