/**
 * etcd is restored from a snapshot while two servers run on it. What was acknowledged before the snapshot is there at both of them, what was
 * written between snapshot and restoration is shown by neither, whoever watched is told to begin again, and a load on the restored
 * store is as right as any: its history begins with the restored state.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import { pause } from '../attack/attack.js'
import { skipWithoutEtcd } from '../support/etcd-server.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'
import { check } from './check/verdict.js'
import { ServerAddress } from './load/http-exchange.js'
import { type LoadObject, Recorder, TOKEN } from './load/recorder.js'
import { CONFIG_MAPS, collectionOf, LEASES, SERVICES } from './load/resources.js'
import { Webhook } from './load/webhook.js'
import { CHECKS, Workload } from './load/workload.js'
import { Rig } from './rig/rig.js'
import { restoreSnapshot, saveSnapshot, skipWithoutTools } from './rig/snapshot.js'

const LOAD_MS = 6000
const LOST = 60
const RESOURCES = [CONFIG_MAPS, LEASES, SERVICES]
const skip = skipWithoutEtcd || skipWithoutTools

interface Subject {
  readonly rig: Rig
  readonly webhook: Webhook
  readonly servers: readonly ServerAddress[]
}

async function start(t: Test, tls: boolean): Promise<Subject> {
  const webhook = await Webhook.open()
  t.teardown(() => webhook.close())
  const rig = await Rig.start({
    storage: 'etcd',
    folder: temporaryFolder(t, 'restored'),
    tls,
    webhookPort: webhook.port,
  })
  t.teardown(() => rig.stop())
  const servers = rig.servers.map(({ name, url, credentials }) => new ServerAddress(name, url, credentials))
  t.teardown(() => {
    for (const server of servers) server.close()
  })
  return { rig, webhook, servers }
}

/** A load of its own for a while, with nothing against it; gives what is wrong. */
async function loaded({ rig, webhook, servers }: Subject, letter: string, seed: number): Promise<string[]> {
  const recorder = new Recorder(letter)
  const asked = { webhook, port: rig.webhookLink.port }
  const options = { servers, recorder, seed, families: false, widgets: true, webhook: asked, stem: letter }
  const workload = new Workload(options)
  await workload.prepare()
  recorder.oldest = recorder.newest
  const over = new AbortController()
  const running = workload.run(over.signal)
  await pause(LOAD_MS, new AbortController().signal)
  over.abort()
  await running
  const problems = await workload.finish()
  return [...check(recorder.records, CHECKS).map(({ property, what }) => `${property}: ${what}`), ...problems]
}

/** Name, revision and write of every object, by the server's word; undefined when it does not answer well. */
async function shown(server: ServerAddress, query = ''): Promise<string[] | undefined> {
  const all: string[] = []
  for (const resource of RESOURCES) {
    const answer = await server.exchange({ method: 'GET', path: `${collectionOf(resource)}${query}` })
    if (answer?.status !== 200) return undefined
    for (const { metadata } of (answer.body as { items: LoadObject[] }).items)
      all.push(`${resource.name} ${metadata.name} ${metadata.resourceVersion} ${metadata.annotations?.[TOKEN]}`)
  }
  return all
}

const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

async function createMany({ servers }: Subject, server: ServerAddress, stem: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const sent = { method: 'POST', path: collectionOf(CONFIG_MAPS), body: configMap(`${stem}${i}`) }
    const isCreated = async (): Promise<boolean> => [201, 409].includes((await server.exchange(sent))?.status ?? 0)
    await until(isCreated, { what: `${stem}${i} of ${servers.length} servers to be created`, everyMs: 50 })
  }
}

class Watcher {
  readonly names = new Set<string>()
  isOver = false
  readonly close: () => void

  constructor(server: ServerAddress) {
    const path = `${collectionOf(CONFIG_MAPS)}?watch=1&resourceVersion=0`
    const done = (): void => {
      this.isOver = true
    }
    this.close = server.lines(path, (line) => this.#take(line), done)
  }

  #take(line: string): void {
    const { type, object } = JSON.parse(line) as { type: string; object: LoadObject & { code?: number } }
    if (type === 'ERROR' && object.code === 410) this.isOver = true
    else this.names.add(object.metadata.name)
  }
}

/** In etcd itself. */
async function storedNames({ rig }: Subject): Promise<string[]> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const prefix = '/registry/configmaps/work/'
  const range = { key: base64(prefix), range_end: base64('/registry/configmaps/work0'), keys_only: true }
  const reply = await rig.members[1]!.call<{ kvs?: readonly { key: string }[] }>('kv/range', range)
  return (reply?.kvs ?? []).map(({ key }) => Buffer.from(key, 'base64').toString().slice(prefix.length))
}

const namesOf = (objects: readonly string[]): string[] =>
  objects.filter((one) => one.startsWith('configmaps ')).map((one) => one.split(' ')[1]!)

/** Whatever is answered with 200 is the restored state; each server has answered so many times in the end. */
async function showsOnly(t: Test, server: ServerAddress, expected: readonly string[]): Promise<void> {
  let answers = 0
  const isSeen = async (): Promise<boolean> => {
    const now = await shown(server)
    if (now !== undefined) t.same(now, expected, `${server.name} shows the restored state`)
    return now !== undefined && ++answers >= 5
  }
  await until(isSeen, { what: `${server.name} to answer`, everyMs: 100 })
  await until(async () => String(await shown(server, '?resourceVersion=0')) === String(expected), {
    what: `the memory of ${server.name} to be the restored state`,
    everyMs: 50,
  })
}

for (const [title, tls, isAway] of [
  ['under two servers that run', false, false],
  ['while a server is away until the store has passed the revision that it knows, over TLS', true, true],
] as const)
  t.test(`restored ${title}`, { skip }, async (t) => {
    const subject = await start(t, tls)
    const { rig, servers } = subject
    const [a, b] = servers as [ServerAddress, ServerAddress]
    t.same(await loaded(subject, 't', 1), [], 'the load before')
    const before = (await shown(a))!
    t.same(await shown(b), before)
    const file = path.join(temporaryFolder(t, 'snapshot'), 'snapshot.db')
    await saveSnapshot(rig.members[0]!, file)

    const watchers = servers.map((server) => new Watcher(server))
    t.teardown(() => {
      for (const watcher of watchers) watcher.close()
    })
    await createMany(subject, a, 'lost-', LOST / 2)
    await createMany(subject, b, 'lost-too-', LOST / 2)
    const deleted = namesOf(before)[0]!
    t.equal((await b.exchange({ method: 'DELETE', path: `${collectionOf(CONFIG_MAPS)}/${deleted}` }))?.status, 200)
    await until(() => watchers.every(({ names }) => names.has(`lost-too-${LOST / 2 - 1}`)), { what: 'the watchers' })
    t.equal((await shown(b))!.length, before.length + LOST - 1)

    if (isAway) for (const link of rig.servers[1]!.storageLinks) link.hold()
    await restoreSnapshot(rig, file)
    await showsOnly(t, a, before)
    let now = before
    if (isAway) {
      await createMany(subject, a, 'new-', 2 * LOST)
      now = (await shown(a))!
      t.equal(now.length, before.length + 2 * LOST)
      for (const link of rig.servers[1]!.storageLinks) link.release()
    }
    await showsOnly(t, b, now)
    t.same(await shown(a), now)
    t.same((await storedNames(subject)).sort(), namesOf(now).sort(), 'as etcd has it')
    await until(() => watchers.every(({ isOver }) => isOver), { what: 'whoever watched to be told to begin again' })
    t.same(await loaded(subject, 'u', 2), [], 'the load after')
    t.same(rig.unexpected, [])
  })
