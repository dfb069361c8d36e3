import t, { type Test } from 'tap'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

/**
 * Two clusters of etcd behind one server: events and configmaps lie on the second. The revisions of the two have nothing
 * to do with each other, so each situation is tried: the second far ahead of the first, and far behind.
 */
interface Situation {
  readonly name: string
  readonly ahead: 'first' | 'second'
  readonly flags: readonly string[]
}

const SITUATIONS: readonly Situation[] = [
  { name: 'the second cluster is ahead', ahead: 'second', flags: [] },
  { name: 'the second cluster is behind', ahead: 'first', flags: [] },
  { name: 'the second cluster is ahead, two front ends', ahead: 'second', flags: ['--front-ends=2'] },
]

/** More than a server's own start writes. */
const LEAD = 1500
const WAIT_MS = 20_000
const MAPS = '/api/v1/namespaces/default/configmaps'
const EVENTS = '/api/v1/namespaces/default/events'

interface Form {
  kind: string
  code?: number
  message?: string
  metadata: { name?: string; resourceVersion: string; continue?: string; annotations?: Record<string, string> }
  data?: Record<string, string>
  items?: Form[]
}

class Clusters {
  readonly #etcds: readonly EtcdServer[]
  readonly #flags: readonly string[]
  server: KeelsonProcess

  private constructor(etcds: readonly EtcdServer[], flags: readonly string[], server: KeelsonProcess) {
    this.#etcds = etcds
    this.#flags = flags
    this.server = server
  }

  static async start({ ahead, flags }: Situation): Promise<Clusters> {
    const etcds = [await EtcdServer.start(), await EtcdServer.start()] as const
    await advance(ahead === 'first' ? etcds[0] : etcds[1])
    const [first, second] = etcds.map(({ endpoint }) => endpoint)
    const all = [
      `--etcd-servers=${first}`,
      `--etcd-servers-overrides=/events#${second},/configmaps#${second}`,
      '--disable-admission-plugins=ServiceAccount',
      ...flags,
    ]
    return new Clusters(etcds, all, await KeelsonProcess.start(all))
  }

  async restart(): Promise<void> {
    await this.server.stop()
    this.server = await KeelsonProcess.start(this.#flags, this.server.dataDir)
  }

  async stop(): Promise<void> {
    await this.server.close()
    for (const etcd of this.#etcds) await etcd.stop()
  }

  async ask(method: string, target: string, body?: unknown): Promise<Form> {
    const { json } = await this.server.request(method, target, body, {})
    return json as Form
  }

  /** Creates or replaces a configmap; gives its version. */
  async write(name: string, value: string): Promise<number> {
    const form = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } }
    let answer = await this.ask('PUT', `${MAPS}/${name}`, form)
    if (answer.code === 404) answer = await this.ask('POST', MAPS, form)
    if (answer.kind !== 'ConfigMap') throw new Error(`${name} was not written: ${answer.message}`)
    return Number(answer.metadata.resourceVersion)
  }

  watch(t: Test, target: string): WatchClient {
    const watch = new WatchClient(this.server.url, target)
    t.teardown(() => watch.close())
    return watch
  }
}

async function advance(etcd: EtcdServer): Promise<void> {
  const kv = new EtcdKV({ endpoints: [etcd.endpoint] })
  for (let written = 0; written < LEAD; written += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => kv.optimisticPut(`/lead/${written + i}`, new Uint8Array(1), 0)),
    )
  }
  await kv.close()
}

const eventually = (what: string, condition: () => boolean): Promise<void> =>
  until(condition, { what, deadlineMs: WAIT_MS })

const dataOf = (list: Form): string[] =>
  (list.items ?? [])
    .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
    .map(({ metadata, data }) => `${metadata.name}=${data?.['value']}`)

/** Object events of a watch, without those of the map that every namespace has. */
const told = (watch: WatchClient): string[] =>
  watch.events
    .filter(({ type, name }) => type !== 'BOOKMARK' && name !== 'kube-root-ca.crt')
    .map(({ type, name, revision }) => `${type} ${name}@${revision}`)

for (const situation of skipWithoutEtcd ? [] : SITUATIONS) {
  t.test(situation.name, async (t) => {
    const clusters = await Clusters.start(situation)
    t.teardown(() => clusters.stop())

    t.test('the two clusters count apart', async (t) => {
      const version = await clusters.write('apart', '1')
      const secrets = await clusters.ask('GET', '/api/v1/namespaces/default/secrets')
      const ahead = version > Number(secrets.metadata.resourceVersion) + LEAD / 2
      const behind = version < Number(secrets.metadata.resourceVersion) - LEAD / 2
      t.ok(situation.ahead === 'second' ? ahead : behind, `${version} and ${secrets.metadata.resourceVersion}`)
      await clusters.ask('DELETE', `${MAPS}/apart`)
    })

    t.test('a read after an acknowledged write is never older than it', async (t) => {
      let stale = 0
      for (let round = 0; round < 200; round++) {
        const version = await clusters.write('fresh', String(round))
        const read = await clusters.ask('GET', `${MAPS}/fresh`)
        if (Number(read.metadata.resourceVersion) < version) stale++
        if (round % 20 !== 0) continue
        const list = await clusters.ask('GET', MAPS)
        t.ok(dataOf(list).includes(`fresh=${round}`), `the list of round ${round}`)
        t.ok(Number(list.metadata.resourceVersion) >= version)
      }
      t.equal(stale, 0)
      await clusters.ask('DELETE', `${MAPS}/fresh`)
    })

    t.test('lists by every rule of versions go by the clock of their cluster', async (t) => {
      const before = await clusters.write('a', '1')
      const after = await clusters.write('a', '2')
      const list = (query: string) => clusters.ask('GET', `${MAPS}?${query}`)
      t.same(dataOf(await list('')), ['a=2'])
      t.same(dataOf(await list('resourceVersion=0')), ['a=2'])
      const notOlder = await list(`resourceVersion=${after}&resourceVersionMatch=NotOlderThan`)
      t.same(dataOf(notOlder), ['a=2'])
      t.ok(Number(notOlder.metadata.resourceVersion) >= after)
      const exact = await list(`resourceVersion=${before}&resourceVersionMatch=Exact`)
      t.same(dataOf(exact), ['a=1'])
      t.equal(Number(exact.metadata.resourceVersion), before)
      const current = await clusters.ask('GET', `${MAPS}/a?resourceVersion=${after}`)
      t.equal(Number(current.metadata.resourceVersion), after)
      const ahead = await list(`resourceVersion=${after + 10 * LEAD}&resourceVersionMatch=Exact`)
      t.match(ahead, { kind: 'Status', code: 504 })
      await clusters.ask('DELETE', `${MAPS}/a`)
    })

    t.test('events and events of the other group are one, on the second cluster', async (t) => {
      const form = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'e' },
        involvedObject: { namespace: 'default' },
      }
      const made = await clusters.ask('POST', EVENTS, form)
      t.equal(made.kind, 'Event')
      const other = await clusters.ask('GET', '/apis/events.k8s.io/v1/namespaces/default/events/e')
      t.equal(other.metadata.resourceVersion, made.metadata.resourceVersion)
      const map = await clusters.write('beside', '1')
      t.ok(Math.abs(map - Number(made.metadata.resourceVersion)) < LEAD / 2, 'the same clock as the configmaps')
      const watch = clusters.watch(t, `${EVENTS}?watch=true&resourceVersion=${made.metadata.resourceVersion}`)
      await clusters.ask('DELETE', `${EVENTS}/e`)
      await eventually('the deletion of the event', () => told(watch).length === 1)
      t.match(told(watch), [/^DELETED e@/])
      await clusters.ask('DELETE', `${MAPS}/beside`)
    })

    t.test('watches with and without a version tell every change, and others go on', async (t) => {
      const start = await clusters.write('w', '0')
      const from = clusters.watch(t, `${MAPS}?watch=true&resourceVersion=${start}`)
      const fromNow = clusters.watch(t, `${MAPS}?watch=true`)
      const secrets = clusters.watch(t, '/api/v1/namespaces/default/secrets?watch=true')
      await eventually('three watches', () => from.started && fromNow.started && secrets.started)
      await eventually('what exists', () => told(fromNow).length === 1)
      const versions: number[] = []
      for (let i = 1; i <= 20; i++) versions.push(await clusters.write('w', String(i)))
      const wanted = versions.map((version) => `MODIFIED w@${version}`)
      await eventually('20 changes', () => told(from).length >= 20 && told(fromNow).length >= 21)
      t.same(told(from), wanted)
      t.same(told(fromNow), [`ADDED w@${start}`, ...wanted])
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
      const made = await clusters.ask('POST', '/api/v1/namespaces/default/secrets', secret)
      await eventually('the secret', () => told(secrets).some((text) => text.startsWith('ADDED s@')))
      t.ok(told(secrets).includes(`ADDED s@${made.metadata.resourceVersion}`))
      await clusters.ask('DELETE', '/api/v1/namespaces/default/secrets/s')
      await clusters.ask('DELETE', `${MAPS}/w`)
    })

    t.test('a WatchList ends its first events with a bookmark of its own cluster', async (t) => {
      const versions = [await clusters.write('l1', '1'), await clusters.write('l2', '1')]
      const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
      const watch = clusters.watch(t, `${MAPS}?${query}`)
      await eventually('the bookmark', () => watch.events.some(({ type }) => type === 'BOOKMARK'))
      const mark = watch.events.find(({ type }) => type === 'BOOKMARK')!
      t.same(told(watch), [`ADDED l1@${versions[0]}`, `ADDED l2@${versions[1]}`])
      t.ok(mark.revision >= versions[1]! && mark.revision < versions[1]! + LEAD / 2, `${mark.revision}`)
      const later = await clusters.write('l1', '2')
      await eventually('the change after the bookmark', () => told(watch).length === 3)
      t.equal(told(watch)[2], `MODIFIED l1@${later}`)
      for (const name of ['l1', 'l2']) await clusters.ask('DELETE', `${MAPS}/${name}`)
    })

    t.test('pages are of one state while others write', async (t) => {
      for (let i = 0; i < 7; i++) await clusters.write(`page-${i}`, 'old')
      let page = await clusters.ask('GET', `${MAPS}?limit=2`)
      const { resourceVersion } = page.metadata
      const items = dataOf(page)
      for (let i = 0; page.metadata.continue !== undefined; i++) {
        await clusters.write(`page-${i}`, 'new')
        await clusters.ask('DELETE', `${MAPS}/page-6`)
        page = await clusters.ask('GET', `${MAPS}?limit=2&continue=${encodeURIComponent(page.metadata.continue)}`)
        if (page.kind === 'Status') throw new Error(`a page was refused: ${page.message}`)
        t.equal(page.metadata.resourceVersion, resourceVersion)
        items.push(...dataOf(page))
      }
      t.same(
        items,
        Array.from({ length: 7 }, (_, i) => `page-${i}=old`),
      )
      for (let i = 0; i < 6; i++) await clusters.ask('DELETE', `${MAPS}/page-${i}`)
    })

    t.test('rules of access, which lie on the first cluster, take effect', async (t) => {
      await grants(t, clusters)
    })

    t.test('after a restart everything is there and a watch goes on where it was', async (t) => {
      const before = await clusters.write('kept', '1')
      const missed = await clusters.write('kept', '2')
      await clusters.restart()
      const watch = clusters.watch(t, `${MAPS}?watch=true&resourceVersion=${before}`)
      t.same(dataOf(await clusters.ask('GET', MAPS)), ['kept=2'])
      const later = await clusters.write('kept', '3')
      await eventually('what was missed and what is new', () => told(watch).length >= 2 || watch.closed)
      t.same(told(watch), [`MODIFIED kept@${missed}`, `MODIFIED kept@${later}`])
      const exact = await clusters.ask('GET', `${MAPS}?resourceVersion=${missed}&resourceVersionMatch=Exact`)
      t.same(dataOf(exact), ['kept=2'])
    })
  })
}

/** A review by the server's own authorizers, before and after a binding. */
async function grants(t: Test, clusters: Clusters): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: 'ann', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'configmaps' } },
  }
  const allowed = async (): Promise<boolean> => {
    const answer = await clusters.ask('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)
    return (answer as unknown as { status: { allowed: boolean } }).status.allowed
  }
  t.equal(await allowed(), false)
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  await clusters.ask('POST', `${rbac}/roles`, { apiVersion, kind: 'Role', metadata: { name: 'reader' }, rules })
  await clusters.ask('POST', `${rbac}/rolebindings`, {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
  })
  // On etcd a rule takes effect with the event that brings it, not with the answer.
  await until(allowed, { what: 'the binding takes effect' })
  t.equal(await allowed(), true)
}
