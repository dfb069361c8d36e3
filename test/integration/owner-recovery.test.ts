import t, { type Test } from 'tap'
import type { WatchStream } from '#keelson/storage/contract/interface.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { listOptions, makePod, namesOf, type Pod, versionOf } from '../contract/pod.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { freePort } from '../support/free-port.js'
import { until } from '../support/until.js'
import { OwnerFixture } from './owner-fixture.js'

/** An etcd that can be taken away and come back on the same port and folder, or elsewhere. */
class MovingEtcd {
  readonly port: number
  #server: EtcdServer

  private constructor(server: EtcdServer) {
    this.#server = server
    this.port = server.port
  }

  static async start(t: Test): Promise<MovingEtcd> {
    const moving = new MovingEtcd(await EtcdServer.start())
    t.teardown(() => moving.#server.stop())
    return moving
  }

  get endpoint(): string {
    return this.#server.endpoint
  }

  pause(): void {
    this.#server.pause()
  }

  resume(): void {
    this.#server.resume()
  }

  kill(): Promise<void> {
    return this.#server.kill()
  }

  async restart(port = this.port): Promise<void> {
    await this.#server.kill()
    this.#server = await EtcdServer.start({ dataDir: this.#server.dataDir, port })
  }
}

/** The names told as ADDED until `name` comes. */
async function addedUntil(watch: WatchStream<Pod>, name: string): Promise<string[]> {
  const names: string[] = []
  while (names.at(-1) !== name) {
    const { done, value } = await watch.next()
    if (done) throw new Error('the watch ended')
    if (value.type === 'ERROR') throw value.error
    if (value.type === 'ADDED') names.push(value.object.metadata?.name ?? '')
  }
  return names
}

t.test(
  'etcd killed and started again: old reads stay old, consistent ones fail, nothing is lost',
  {
    skip: skipWithoutEtcd,
  },
  async (t) => {
    const etcd = await MovingEtcd.start(t)
    const f = await OwnerFixture.open(t, { etcdServers: [etcd.endpoint] })
    const pods = f.reader.delegator('pods')
    const watch = await pods.watch('/pods', listOptions({ resourceVersion: '0' }))
    const a = await pods.create('/pods/ns/a', makePod('a', 'ns'))
    await f.reader.client.resource('pods').clock.reached(versionOf(a))
    await etcd.kill()
    t.equal(
      versionOf(await pods.get('/pods/ns/a', { resourceVersion: '0' })),
      versionOf(a),
      'what is in memory is served',
    )
    await t.rejects(pods.get('/pods/ns/a'), { code: 'unreachable' }, 'nothing old is served as new')
    await etcd.restart()
    await until(
      async () => {
        try {
          await pods.create('/pods/ns/b', makePod('b', 'ns'))
          return true
        } catch (error) {
          // A write whose answer was lost may have been done.
          return (error as { code?: string }).code === 'key-exists'
        }
      },
      { what: 'etcd to take a write again' },
    )
    t.same(namesOf((await pods.getList('/pods', listOptions())).items), ['ns/a', 'ns/b'])
    t.same(await addedUntil(watch, 'b'), ['a', 'b'], 'the watch went on')
    watch.stop()
  },
)

t.test(
  'etcd that hangs: consistent reads do not take memory for the truth, and go on when it answers',
  {
    skip: skipWithoutEtcd,
  },
  async (t) => {
    const etcd = await MovingEtcd.start(t)
    const f = await OwnerFixture.open(t, { etcdServers: [etcd.endpoint] })
    const pods = f.reader.delegator('pods')
    const a = await pods.create('/pods/ns/a', makePod('a', 'ns'))
    await f.reader.client.resource('pods').clock.reached(versionOf(a))
    etcd.pause()
    let answered = false
    const reading = pods.get('/pods/ns/a').then((pod) => {
      answered = true
      return pod
    })
    t.equal(versionOf(await pods.get('/pods/ns/a', { resourceVersion: '0' })), versionOf(a))
    t.equal(answered, false)
    etcd.resume()
    t.equal(versionOf(await reading), versionOf(a))
  },
)

t.test(
  'history compacted while the owner was cut off: it lists again and serves nothing wrong meanwhile',
  {
    skip: skipWithoutEtcd,
  },
  async (t) => {
    const etcd = await MovingEtcd.start(t)
    const f = await OwnerFixture.open(t, { etcdServers: [etcd.endpoint] })
    const pods = f.reader.delegator('pods')
    const thread = await f.thread()
    const a = await pods.create('/pods/ns/a', makePod('a', 'ns'))
    await f.reader.client.resource('pods').clock.reached(versionOf(a))
    const watch = await pods.watch('/pods', listOptions({ resourceVersion: String(versionOf(a)) }))
    const waiting = watch.next()
    // Elsewhere, where the owner does not find it, the store goes on and forgets how.
    await etcd.restart(await freePort())
    const elsewhere = new EtcdKV({ endpoints: [etcd.endpoint] })
    await elsewhere.optimisticDelete('/registry/pods/ns/a', versionOf(a))
    const b = JSON.stringify(makePod('b', 'ns'))
    const { revision } = await elsewhere.optimisticPut('/registry/pods/ns/b', Buffer.from(b), 0)
    await elsewhere.compact(revision)
    await elsewhere.close()
    t.equal((await f.owner.health()).resources['pods']?.state, 'ready')
    t.match(await thread.call({ op: 'list', key: '/pods', resourceVersion: '0' }), { names: ['ns/a'] })
    await etcd.restart()
    await until(
      async () => {
        const answer = await thread.call({ op: 'list', key: '/pods', resourceVersion: '' })
        if ('error' in answer) {
          t.equal(answer.error, 'unreachable')
          return false
        }
        t.same(answer.names, ['ns/b'], 'never the state from before')
        return true
      },
      { what: 'a list from the restarted etcd' },
    )
    await f.reader.client.resource('pods').clock.reached(revision)
    t.match((await waiting).value, { type: 'ERROR', error: { code: 'too-old' } })
    t.same(namesOf((await pods.getList('/pods', listOptions({ resourceVersion: '0' }))).items), ['ns/b'])
  },
)
