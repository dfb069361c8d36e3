import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { fromErrorRecord, toErrorRecord } from '#keelson/protocol/error-record.js'
import { isStorageError, StorageError } from '#keelson/storage/contract/errors.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { KvServer } from '#keelson/storage/embedded/kv-server.js'
import { RemoteKV } from '#keelson/storage/embedded/remote-kv.js'
import { kvSuite } from '../../support/kv-suite.js'
import { until } from '../../support/until.js'

async function served(): Promise<{ engine: EmbeddedEngine; server: KvServer; remote: RemoteKV; posts: () => number }> {
  const engine = await EmbeddedEngine.open({})
  const server = new KvServer(engine)
  const { port1, port2 } = new MessageChannel()
  let posts = 0
  const post = port2.postMessage.bind(port2)
  port2.postMessage = (...args: Parameters<typeof post>) => {
    posts++
    post(...args)
  }
  server.serve(port1)
  const remote = new RemoteKV({ port: port2 })
  remote.start()
  return { engine, server, remote, posts: () => posts }
}

kvSuite(t, 'embedded engine over a port', {
  async open(): Promise<KV> {
    const { engine, remote } = await served()
    const close = remote.close.bind(remote)
    remote.close = async () => {
      await close()
      await engine.close()
    }
    return remote
  },
})

t.test('the calls of one turn cross together', async (t) => {
  const { engine, remote, posts } = await served()
  t.teardown(() => remote.close().then(() => engine.close()))
  await Promise.all(Array.from({ length: 64 }, (_, i) => remote.optimisticPut(`/r/${i}`, new Uint8Array(2048), 0)))
  t.equal(posts(), 1)
  t.equal(await engine.count('/r/'), 64)
})

t.test('a value that is part of a larger buffer, and a large one, arrive whole', async (t) => {
  const { engine, remote } = await served()
  t.teardown(() => remote.close().then(() => engine.close()))
  const pool = new Uint8Array(100_000).fill(7)
  await remote.optimisticPut('/r/part', pool.subarray(10, 20), 0)
  t.equal(pool.length, 100_000, 'the rest of the buffer stays with its owner')
  await remote.optimisticPut('/r/large', new Uint8Array(200_000).fill(3), 0)
  t.same([...(await remote.get('/r/part')).kv!.value], Array(10).fill(7))
  const large = (await remote.get('/r/large')).kv!.value
  t.ok(large.length === 200_000 && large.every((b) => b === 3))
  const again = (await remote.get('/r/large')).kv!.value
  t.equal(again.length, 200_000, 'a reply that was transferred is not the engine’s own copy')
})

t.test('a draft reaches the owner’s watch and not the watch of another thread', async (t) => {
  const { engine, remote } = await served()
  t.teardown(() => remote.close().then(() => engine.close()))
  const [here, there] = [engine, remote].map((kv: KV) => kv.watch({ key: '/r/', prefix: true, startRevision: 0 }))
  await Promise.all([here!.established, there!.established])
  const body = Buffer.from('{"a":1}')
  const draft = { uid: 'u', labels: ['a', 'b'], fields: [], body, revisionOffset: 3 }
  await remote.optimisticPut('/r/a', new Uint8Array(20_000), 0, { draft })
  const event = (await here!.next())!.events[0]!
  t.same(event.draft?.labels, ['a', 'b'])
  t.equal(Buffer.from(event.draft!.body).toString(), '{"a":1}')
  t.equal(body.toString(), '{"a":1}', 'the caller keeps the body')
  const remoteEvent = (await there!.next())!.events[0]!
  t.notOk('draft' in remoteEvent)
  t.equal(remoteEvent.kv.value.length, 20_000)
  t.equal(event.kv.value.length, 20_000, 'the owner’s copy is still whole')
})

t.test('when the owner’s end goes away, what is outstanding is unreachable and later calls are refused', async (t) => {
  const { engine, server, remote } = await served()
  t.teardown(() => engine.close())
  const watch = remote.watch({ key: '/r/', prefix: true, startRevision: 0 })
  await watch.established
  const next = watch.next().catch((error: unknown) => error)
  server.stop()
  t.ok(isStorageError(await next, 'unreachable'))
  t.ok(isStorageError(await remote.get('/r/a').catch((error: unknown) => error), 'not-ready'))
})

t.test('a closed remote closes its watches in the owner', async (t) => {
  const { engine, remote } = await served()
  t.teardown(() => engine.close())
  const watch = remote.watch({ key: '/r/', prefix: true, startRevision: 0 })
  await watch.established
  t.equal(engine.openWatches, 1)
  await remote.close()
  await until(() => engine.openWatches === 0, { what: 'the watch in the owner to end' })
  t.equal(await watch.next(), undefined)
})

t.test('an error crosses as a record and comes out as it was', (t) => {
  const error = new StorageError('too-old', 'gone', { compactRevision: 7, cause: new Error('why') })
  const crossed = fromErrorRecord(structuredClone(toErrorRecord(error)))
  t.ok(isStorageError(crossed, 'too-old'))
  t.match(crossed, { message: 'gone', fields: { compactRevision: 7, cause: 'why' } })
  const fault = fromErrorRecord(structuredClone(toErrorRecord(new TypeError('x is not a function'))))
  t.notOk(isStorageError(fault))
  t.match(fault.message, /TypeError: x is not a function/)
  t.match(fromErrorRecord(toErrorRecord('text')).message, /text/)
  t.end()
})
