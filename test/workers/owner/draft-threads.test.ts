import t from 'tap'
import { nullLogger } from '#keelson/lib/logger.js'
import { complete } from '#keelson/main/flags/config.js'
import { parseCommandLine } from '#keelson/main/flags/config-file.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { DraftThreads } from '#keelson/workers/owner/draft-threads.js'
import { storedDrafts } from '#keelson/workers/scheme/stored-drafts.js'
import { FakeClock } from '../../support/fake-clock.js'
import { until } from '../../support/until.js'

// The owner has other work; without it nothing keeps this process from ending before it hears of a thread that has.
const otherWork = setInterval(() => undefined, 60_000)
t.teardown(() => clearInterval(otherWork))

const MODULE = import.meta.resolve('#keelson/workers/draft-thread.js')

function schemeOptions(): object {
  const { values, given } = parseCommandLine([], FLAGS)
  const result = complete(values, given)
  if ('errors' in result) throw new Error(result.errors.join())
  const { etcdOptions, runtimeConfig } = result.config
  return { etcdOptions, runtimeConfig }
}

const configMap = (name: string): Buffer =>
  Buffer.from(
    `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","namespace":"default","uid":"u-${name}","labels":{"app":"${name}"}},"data":{"é":"ü"}}\n`,
  )

t.test('threads make the drafts that the owner would make, and end when nothing comes', async (t) => {
  const clock = new FakeClock()
  const options = schemeOptions()
  const threads = new DraftThreads({ module: MODULE, options, logger: nullLogger, clock, threads: 2 })
  t.teardown(() => threads.close())
  const makers = threads.makers('configmaps')
  t.equal(threads.running, 0, 'nobody pays for threads that are not needed')
  t.notOk(makers.hasRoom(), 'the owner does not wait for a thread that starts')
  t.equal(threads.running, 2)
  await until(() => makers.hasRoom(), { what: 'a thread that is ready' })
  const values = [configMap('a'), Buffer.from('no object'), configMap('b')]
  const pages = await Promise.all([makers.drafts(values), makers.drafts([])])
  const own = storedDrafts(options)('configmaps')
  const plain = (draft: object | undefined): object | undefined =>
    draft && { ...draft, body: Buffer.from((draft as { body: Uint8Array }).body).toString() }
  t.same(pages[0]!.map(plain), [plain(own(values[0]!)), undefined, plain(own(values[2]!))])
  t.same(pages[1], [])
  await clock.advance(1_000)
  t.equal(threads.running, 0)
  t.notOk(makers.hasRoom(), 'they are started again when there is work again')
  t.equal(threads.running, 2)
})

t.test('the pages of threads that are closed, or cannot start, are the owner’s', async (t) => {
  const options = schemeOptions()
  const threads = new DraftThreads({ module: MODULE, options, logger: nullLogger, threads: 1 })
  const makers = threads.makers('configmaps')
  await until(() => makers.hasRoom(), { what: 'a thread that is ready' })
  const given = makers.drafts([configMap('a')])
  t.ok(makers.hasRoom(), 'the next page may lie ready')
  const next = makers.drafts([configMap('a')])
  t.notOk(makers.hasRoom())
  t.equal(await makers.drafts([configMap('a')]), undefined)
  await threads.close()
  t.equal(await given, undefined)
  t.equal(await next, undefined)
  const missing = new URL('no-such-thread.js', import.meta.url).href
  const broken = new DraftThreads({ module: missing, options, logger: nullLogger, threads: 1 })
  t.notOk(broken.makers('configmaps').hasRoom())
  await until(() => broken.running === 0, { what: 'the end of a thread that failed' })
  t.notOk(broken.makers('configmaps').hasRoom())
  t.equal(broken.running, 0, 'what failed is not tried again')
})
