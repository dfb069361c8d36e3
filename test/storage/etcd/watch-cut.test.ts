import { Etcd3 } from 'etcd3'
import { type Test, test } from 'tap'
import type { KvWatch } from '#keelson/storage/contract/kv.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'
import { CuttingProxy, seededRandom } from './cutting-proxy.js'

const EVENTS = 20_000
const WRITERS = 16
const KEYS = 400
const PREFIX = '/cut/'
const ONE_KEY = `${PREFIX}0007`
/** The value of the last event, by which followers know that they are done. */
const THE_END = 'the end'
/** A reply to a watch that catches up is up to etcd's fragments large, 1.5 MB: some connections must get that far. */
const MAX_BYTES_OF_A_CONNECTION = 8 * 1024 * 1024
/** etcd looks after watches that catch up ten times a second, so every cut costs a tenth of a second. */
const MAX_CUTS = 40
/** Transactions between two moments at which every connection is cut. */
const CUT_ALL_EVERY = 800

/** What happened, as its writers know it from the replies to their transactions: revision → events in order. */
type Truth = Map<number, string[]>

interface Follower {
  readonly name: string
  readonly seen: string[]
  readonly complaints: string[]
  last: number
  /** Fulfilled with the failure that ended it, if any. */
  done: Promise<unknown>
}

const describe = (type: string, key: string, revision: number): string => `${revision} ${type} ${key}`

interface Writing {
  left: number
  readonly direct: EtcdKV
  readonly etcd3: Etcd3
  readonly truth: Truth
  readonly random: () => number
  readonly onWrite: () => void
}

const keyOf = (n: number): string => `${PREFIX}${String(n).padStart(4, '0')}`

/** Each writer has keys of its own. One event a transaction, as Kubernetes writes, and now and then several. */
async function write(writing: Writing, writer: number): Promise<void> {
  const { direct, truth, random } = writing
  const revisions = new Map<string, number>()
  const pick = (): string => keyOf(Math.floor(random() * (KEYS / WRITERS)) * WRITERS + writer)
  const record = (revision: number, events: readonly (readonly [string, string])[]): void => {
    writing.left -= events.length
    for (const [type, key] of events) revisions.set(key, type === 'put' ? revision : 0)
    truth.set(
      revision,
      events.map(([type, key]) => describe(type, key, revision)),
    )
    writing.onWrite()
  }
  while (writing.left > 0) {
    const key = pick()
    const current = revisions.get(key) ?? 0
    if (random() < 0.02) {
      const keys = [...new Set(Array.from({ length: 6 }, pick))]
      record(
        await putAll(writing.etcd3, keys),
        keys.map((k) => ['put', k] as const),
      )
    } else if (current > 0 && random() < 0.2) {
      record((await direct.optimisticDelete(key, current)).revision, [['delete', key]])
    } else {
      const value = Buffer.alloc(random() < 0.01 ? 20_000 : 100, 'v')
      record((await direct.optimisticPut(key, value, current)).revision, [['put', key]])
    }
  }
}

async function putAll(etcd3: Etcd3, keys: readonly string[], value = 'one of several'): Promise<number> {
  const { header } = await etcd3
    .if('never', 'Version', '==', 0)
    .then(...keys.map((key) => etcd3.put(key).value(value)))
    .commit()
  return Number(header.revision)
}

function follow(name: string, watch: KvWatch, breath: () => Promise<void>): Follower {
  const follower: Follower = { name, seen: [], complaints: [], last: 0, done: Promise.resolve() }
  const run = async (): Promise<unknown> => {
    try {
      for (let ended = false; !ended; ) {
        const batch = await watch.next()
        if (batch === undefined) return new Error('ended by itself')
        if (batch.revision <= follower.last) follower.complaints.push(`${follower.last} then ${batch.revision}`)
        for (const { type, kv, prev } of batch.events) {
          follower.seen.push(describe(type, kv.key, kv.modRevision))
          ended ||= kv.value.length === THE_END.length && Buffer.from(kv.value).toString() === THE_END
          if (prev !== undefined && prev.key !== kv.key) follower.complaints.push(`foreign prev at ${kv.modRevision}`)
          if ((prev === undefined) !== (kv.version === 1)) follower.complaints.push(`prev at ${kv.modRevision}`)
        }
        follower.last = batch.revision
        await breath()
      }
      return undefined
    } catch (error) {
      return error
    } finally {
      watch.close()
    }
  }
  follower.done = run()
  return follower
}

const atOnce = (): Promise<void> => Promise.resolve()
const slowly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

function expected(truth: Truth, start: number, wanted: (event: string) => boolean = () => true): string[] {
  return [...truth.keys()]
    .filter((revision) => revision >= start)
    .sort((a, b) => a - b)
    .flatMap((revision) => truth.get(revision)!.filter(wanted))
}

async function setUp(t: Test) {
  const seed = Math.floor(Math.random() * 2 ** 31)
  t.comment(`seed ${seed}`)
  const random = seededRandom(seed)
  // Nothing is killed here, so the disk need not be waited for.
  const server = await EtcdServer.start({ args: ['--unsafe-no-fsync'] })
  t.teardown(() => server.stop())
  const proxies: CuttingProxy[] = []
  for (let i = 0; i < 2; i++) {
    const proxy = await CuttingProxy.start({
      targetPort: server.port,
      random,
      maxBytes: MAX_BYTES_OF_A_CONNECTION,
      maxCuts: MAX_CUTS,
    })
    proxies.push(proxy)
    t.teardown(() => proxy.stop())
  }
  const etcd3 = new Etcd3({ hosts: server.endpoint })
  t.teardown(() => etcd3.close())
  const direct = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => direct.close())
  const through = (count: number, watchBufferBytes: number): EtcdKV => {
    const endpoints = proxies.slice(0, count).map((proxy) => proxy.endpoint)
    const kv = new EtcdKV({ endpoints, watchBufferBytes, backoffBaseMs: 2, backoffCapMs: 50 })
    t.teardown(() => kv.close())
    return kv
  }
  const cutAll = (): void => {
    for (const proxy of proxies) proxy.cutAll()
  }
  return { random, proxies, etcd3, direct, through, cutAll }
}

/** Writes everything, then one last event that everybody is waiting for. */
async function writeAll(
  { direct, etcd3, random }: { direct: EtcdKV; etcd3: Etcd3; random: () => number },
  onWrite: () => void,
): Promise<Truth> {
  const truth: Truth = new Map()
  const writing = { left: EVENTS - 1, direct, etcd3, truth, random, onWrite }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writing, writer)))
  const last = await putAll(etcd3, [ONE_KEY], THE_END)
  truth.set(last, [describe('put', ONE_KEY, last)])
  return truth
}

test('whatever moment connections break, every watcher sees every event once and in order', {
  skip: skipWithoutEtcd,
}, async (t) => {
  const { random, proxies, etcd3, direct, through, cutAll } = await setUp(t)
  const start = (await direct.currentRevision()) + 1
  const shared = through(2, 64 * 1024)
  const prefix = { key: PREFIX, prefix: true, startRevision: start }
  const followers = [
    follow('fast', through(1, 1024 * 1024).watch(prefix), atOnce),
    follow('fast, sharing a connection', shared.watch(prefix), atOnce),
    follow('slow, with a small buffer', shared.watch(prefix), slowly),
  ]
  const single = follow('one key', shared.watch({ ...prefix, key: ONE_KEY, prefix: false }), atOnce)

  let writes = 0
  const truth = await writeAll({ direct, etcd3, random }, () => {
    if (++writes % CUT_ALL_EVERY === 0) cutAll()
  })
  const everything = expected(truth, start)
  t.ok(everything.length >= EVENTS, `${everything.length} events`)
  // One that starts when all is over has everything to catch up, in fragments.
  followers.push(follow('late', through(2, 4096).watch(prefix), atOnce))

  for (const follower of [...followers, single]) {
    t.equal(await follower.done, undefined, `${follower.name}: no failure`)
    t.strictSame(follower.complaints, [], `${follower.name}: revisions rise, previous values are there`)
    const wanted = follower === single ? (event: string) => event.endsWith(ONE_KEY) : undefined
    t.strictSame(follower.seen, expected(truth, start, wanted), `${follower.name}: every event once and in order`)
  }
  const cuts = proxies.reduce((sum, proxy) => sum + proxy.cuts, 0)
  t.ok(cuts >= 40, `connections were cut ${cuts} times`)
})

test('under compaction a watcher that is overtaken is told so, and no other misses anything', {
  skip: skipWithoutEtcd,
}, async (t) => {
  const { random, etcd3, direct, through, cutAll } = await setUp(t)
  const start = (await direct.currentRevision()) + 1
  const prefix = { key: PREFIX, prefix: true, startRevision: start }
  const followers = [
    follow('fast', through(2, 1024 * 1024).watch(prefix), atOnce),
    follow('slow', through(1, 16 * 1024).watch(prefix), slowly),
  ]
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const stalled = follow('stalled', through(2, 4096).watch(prefix), () => released)

  let writes = 0
  let compacting: Promise<void> = Promise.resolve()
  let compacted = 0
  const truth = await writeAll({ direct, etcd3, random }, () => {
    if (++writes % CUT_ALL_EVERY === 0) cutAll()
    if (writes % 200 !== 0) return
    // As close behind the slowest as it gets, which is far ahead of the one that stands still.
    const target = Math.min(...followers.map(({ last }) => last)) - 1
    if (target <= compacted) return
    compacted = target
    compacting = compacting.then(() => direct.compact(target))
  })
  for (const follower of followers) t.equal(await follower.done, undefined, `${follower.name}: no failure`)
  const everything = expected(truth, start)
  for (const follower of followers)
    t.strictSame(follower.seen, everything, `${follower.name}: every event once and in order`)

  await compacting
  await direct.compact(Math.max(...truth.keys()))
  cutAll()
  release()
  const failure = await stalled.done
  t.match(failure, { code: 'too-old' })
  t.match(failure, { fields: { compactRevision: Number } })
  t.ok(stalled.seen.length < everything.length, `it saw ${stalled.seen.length} of ${everything.length}`)
  t.strictSame(stalled.seen, everything.slice(0, stalled.seen.length), 'and nothing out of order before that')
})
