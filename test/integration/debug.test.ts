import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import type { ArenaCosts, ResourceMemory, StoreCosts } from '#keelson/protocol/main-owner.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

interface Profile {
  readonly nodes: readonly { readonly callFrame: { readonly functionName: string; readonly url: string } }[]
  readonly samples: readonly number[]
  readonly startTime: number
  readonly endTime: number
}
interface Snapshot {
  readonly snapshot: { readonly node_count: number; readonly meta: { readonly node_fields: readonly string[] } }
  readonly nodes: readonly number[]
  readonly strings: readonly string[]
}
interface Arena extends ResourceMemory, ArenaCosts {
  readonly resource: string
  readonly state: string
  readonly revisions: { readonly oldest: number; readonly newest: number }
}

async function start(t: Test, ...flags: string[]): Promise<KeelsonProcess> {
  const folder = temporaryFolder(t, 'debug')
  const tokens = path.join(folder, 'tokens.csv')
  writeFileSync(
    tokens,
    'admin,admin,1,"system:masters"\noncall,oncall,2\nalice,alice,3\nwatch,watch,4,"system:monitoring"\n',
  )
  const policy = path.join(folder, 'policy.yaml')
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: None }]\n')
  const audit = [`--audit-policy-file=${policy}`, `--audit-log-path=${path.join(folder, 'audit.log')}`]
  const server = await KeelsonProcess.start([`--token-auth-file=${tokens}`, ...audit, ...flags])
  t.teardown(() => server.close())
  return server
}

const as = (token: string) => ({ authorization: `Bearer ${token}` })

for (const frontEnds of [1, 2]) {
  t.test(`with ${frontEnds} front ends`, async (t) => {
    const server = await start(t, `--front-ends=${frontEnds}`, '--pool-threads=1')
    const get = (target: string, token = 'admin') => server.request('GET', target, undefined, as(token))
    const threads = async (): Promise<string[]> =>
      ((await get('/debug/pprof/threads')).json as { thread: string }[]).map(({ thread }) => thread)
    const names = await threads()

    await t.test('every thread is there, with what it holds', async (t) => {
      const kinds = names.map((name) => name.replace(/-\d+$/, ''))
      const own = frontEnds === 1 ? [] : ['front-end', 'front-end']
      t.same(kinds, ['audit', ...own, 'main', 'owner', 'pool'])
      const reports = (await get('/debug/pprof/threads')).json as { heapUsedBytes: number; utilization: number }[]
      for (const { heapUsedBytes, utilization } of reports) {
        t.ok(heapUsedBytes > 1e6)
        t.ok(utilization >= 0 && utilization <= 1)
      }
      const index = await get('/debug/pprof/')
      t.match(index.text, `Threads: ${names.join(' ')}`)
    })

    await t.test('a CPU profile of each thread', async (t) => {
      for (const thread of names) {
        const answer = await get(`/debug/pprof/profile?seconds=0.05&thread=${thread}`)
        t.equal(answer.status, 200, thread)
        t.equal(answer.headers.get('content-disposition'), `attachment; filename="${thread}.cpuprofile"`)
        const profile = answer.json as Profile
        t.equal(profile.nodes[0]?.callFrame.functionName, '(root)')
        t.ok(profile.endTime - profile.startTime >= 50_000, 'as long as it was asked for')
      }
    })

    await t.test('a profile shows what the thread does', async (t) => {
      const pool = names.find((name) => name.startsWith('pool'))!
      const profiling = get(`/debug/pprof/profile?seconds=2&thread=${pool}`)
      const writes = async (): Promise<void> => {
        for (let i = 0; i < 50; i++) {
          const body = { metadata: { generateName: 'work-' }, data: { text: 'x'.repeat(5_000) } }
          t.equal(
            (await server.request('POST', '/api/v1/namespaces/default/configmaps', body, as('admin'))).status,
            201,
          )
        }
      }
      await Promise.all([writes(), writes()])
      const { nodes } = (await profiling).json as Profile
      t.ok(nodes.some(({ callFrame }) => /pool-thread|chunks/.test(callFrame.url)))
    })

    await t.test('where the time of writes goes', async (t) => {
      t.match((await get('/debug/pprof/writes?seconds=0.01')).text, /^0 writes in 0.01 s/, 'nothing was written')
      let looked = ''
      // On a busy machine a short look may see no write from its beginning to its end.
      const sees = async (): Promise<boolean> => {
        const looking = get('/debug/pprof/writes?seconds=2')
        const body = { metadata: { generateName: 'traced-' } }
        for (let i = 0; i < 20; i++)
          await server.request('POST', '/api/v1/namespaces/default/configmaps', body, as('admin'))
        looked = (await looking).text
        return !looked.startsWith('0 ')
      }
      await until(sees, { what: 'a look that saw a write' })
      const figures = [...looked.matchAll(/^(.*?) {2,}(-?\d+) +(-?\d+) +(-?\d+)$/gm)]
      const stages = ['arrived', 'posted', 'begun', 'handed', 'stored', 'answered', 'received', 'written']
      t.same(
        figures.map(([, name]) => name),
        [...stages.slice(1).map((stage, i) => `${stages[i]} → ${stage}`), 'all'],
      )
      const means = figures.map(([, , mean]) => Number(mean))
      t.ok(means.every((mean) => mean >= 0))
      const all = means.pop()!
      const sum = means.reduce((a, b) => a + b, 0)
      t.ok(Math.abs(sum - all) <= stages.length, 'the stages make up the whole')
      t.equal((await get('/debug/pprof/writes?seconds=601')).status, 400)
    })

    await t.test('a heap snapshot, streamed', async (t) => {
      for (const thread of ['main', 'owner']) {
        const answer = await get(`/debug/pprof/heap?thread=${thread}`)
        t.equal(answer.status, 200)
        const { snapshot, nodes, strings } = answer.json as Snapshot
        t.equal(nodes.length, snapshot.node_count * snapshot.meta.node_fields.length, 'all of it arrived')
        t.ok(strings.includes('process'))
      }
    })

    await t.test('a thread that there is not, a time that is none', async (t) => {
      const none = await get('/debug/pprof/profile?thread=pool-99')
      t.equal(none.status, 404)
      t.match(none.text, 'there are audit,')
      for (const seconds of ['0', '-1', 'x', '601']) {
        t.equal((await get(`/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds)
      }
      t.equal((await get('/debug/pprof/other')).status, 404)
    })

    await t.test('one at a time looks into a thread; who leaves makes room', async (t) => {
      const leaving = new AbortController()
      /** Comes again when one of the short ones below was there first. */
      const hold = async (): Promise<void> => {
        const target = `${server.url}/debug/pprof/profile?seconds=600&thread=owner`
        while ((await fetch(target, { headers: as('admin'), signal: leaving.signal })).status === 429);
      }
      const long = hold()
      const refused = async (): Promise<boolean> => {
        const answer = await get('/debug/pprof/profile?seconds=0.01&thread=owner')
        return answer.status === 429
      }
      await until(refused, { what: 'the thread to be taken' })
      leaving.abort()
      await t.rejects(long)
      await until(async () => !(await refused()), { what: 'the thread to be free again' })
    })

    await t.test('what memory holds', async (t) => {
      for (const name of ['a', 'b', 'c'])
        await server.request('POST', '/api/v1/namespaces', { metadata: { name } }, as('admin'))
      const { clusters, arenas } = (await get('/debug/cache')).json as {
        clusters: { following: boolean; revision: number; handedBytes: number; store: StoreCosts }[]
        arenas: Arena[]
      }
      t.ok(clusters[0]?.following)
      const list = (await get('/api/v1/namespaces')).json as { items: unknown[]; metadata: { resourceVersion: string } }
      const namespaces = arenas.find(({ resource }) => resource === 'namespaces')!
      t.match(namespaces, { state: 'ready', objects: list.items.length, revisions: { oldest: Number, newest: Number } })
      t.ok(namespaces.events >= 3)
      t.ok(namespaces.usedBytes > namespaces.windowBytes)
      t.ok(namespaces.revisions.oldest < namespaces.revisions.newest)
      t.ok(namespaces.revisions.newest <= Number(list.metadata.resourceVersion))
      t.ok(arenas.length > 50)
      for (const arena of arenas) {
        const { bodyBytes, headBytes, indexBytes, ringBytes, controlBytes, windowBytes, pinnedBytes, freeBytes } = arena
        const kinds = [bodyBytes, headBytes, indexBytes, ringBytes, controlBytes, windowBytes, pinnedBytes, freeBytes]
        t.equal(
          kinds.reduce((sum, bytes) => sum + bytes),
          arena.segmentBytes,
          `all of ${arena.resource} is of some kind`,
        )
      }
      const { store } = clusters[0]!
      t.match(store, { historyEntries: Number, compactedRevision: Number, prunedRevision: Number })
      t.ok(store.tables['keys']!.entries >= list.items.length)
      t.ok(store.tables['log']!.bytes > 0)
      t.ok(store.freeBytes >= 0)
      t.ok(store.freeBytes < store.fileBytes)
    })

    await t.test('status and flags as text', async (t) => {
      const status = await get('/statusz')
      t.match(status.headers.get('content-type'), 'text/plain')
      t.match(
        status.text,
        /^\nkeelson statusz\nWarning: .*\n\nStarted: .* GMT\nUp: 0 hr \d\d min \d\d sec\nNode version: v/,
      )
      t.match(status.text, /\nPaths: .*\/debug .*\/flagz/)
      const flags = await get('/flagz')
      t.match(flags.text, /^\nkeelson flags\nWarning: .*\n\nadmission-control-config-file=\n/)
      t.match(flags.text, `\nfront-ends=${frontEnds}\n`)
      t.equal((await server.request('GET', '/flagz', undefined, { ...as('admin'), accept: 'image/png' })).status, 406)
    })

    await t.test('only for those who may', async (t) => {
      const targets = ['/debug/pprof/', '/debug/pprof/heap?thread=main', '/debug/cache', '/statusz', '/flagz']
      for (const target of targets) {
        t.equal((await get(target, 'alice')).status, 403, target)
        t.equal((await server.request('GET', target)).status, 403, `${target}, anonymous`)
      }
      t.equal((await get('/statusz', 'watch')).status, 200, 'monitoring may see the status')
      t.equal((await get('/debug/cache', 'watch')).status, 403)
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const role = { metadata: { name: 'debug' }, rules: [{ nonResourceURLs: ['/debug/*'], verbs: ['get'] }] }
      const binding = {
        metadata: { name: 'debug' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'debug' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'oncall' }],
      }
      t.equal((await server.request('POST', `${rbac}/clusterroles`, role, as('admin'))).status, 201)
      t.equal((await server.request('POST', `${rbac}/clusterrolebindings`, binding, as('admin'))).status, 201)
      t.equal((await get('/debug/pprof/', 'oncall')).status, 200)
      t.equal((await get('/flagz', 'oncall')).status, 403)
    })
  })
}

t.test('--profiling=false: no profiles, the rest stays', async (t) => {
  const server = await start(t, '--profiling=false')
  const status = async (target: string) => (await server.request('GET', target, undefined, as('admin'))).status
  t.equal(await status('/debug/pprof/'), 404)
  t.equal(await status('/debug/pprof/heap?thread=main'), 404)
  t.equal(await status('/debug/cache'), 200)
  t.equal(await status('/statusz'), 200)
})

t.test('a profile asked for by a WebSocket with two subprotocols comes in HTTP, and the server goes on', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}/debug/pprof/profile?seconds=1`, ['a', 'b'])
  socket.on('error', () => undefined)
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  t.equal(answer.statusCode, 200)
  answer.destroy()
  t.equal((await server.request('GET', '/version')).status, 200)
})
