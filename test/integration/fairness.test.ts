import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const OBJECTS = 100
const GREEDY = 60
const QUIET = 40

const folder = temporaryFolder(t, 'fairness')
const tokens = path.join(folder, 'tokens.csv')
writeFileSync(tokens, 'admin,admin,admin,"system:masters"\nquiet,quiet,quiet,"dev"\ngreedy,greedy,greedy,"dev"\n')
const server = await KeelsonProcess.start([`--token-auth-file=${tokens}`])
t.teardown(() => server.close())
const as = (token: string) => ({ authorization: `Bearer ${token}` })
const rbac = 'rbac.authorization.k8s.io'
await server.request(
  'POST',
  `/apis/${rbac}/v1/clusterrolebindings`,
  {
    metadata: { name: 'dev' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: 'dev' }],
  },
  as('admin'),
)

t.test('one who lists without pause does not come between another and their answers', async (t) => {
  for (let from = 0; from < OBJECTS; from += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        server.request(
          'POST',
          CONFIGMAPS,
          { metadata: { name: `object-${from + i}` }, data: { text: 'x'.repeat(30_000) } },
          as('admin'),
        ),
      ),
    )
  let lists = 0
  let stopping = false
  const statuses = new Map<number, number>()
  const greedy = Array.from({ length: GREEDY }, async () => {
    while (!stopping) {
      const { status, text } = await server.request('GET', CONFIGMAPS, undefined, as('greedy'))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status !== 200) continue
      lists++
      // Only the ends are looked at: parsing would keep this process from asking.
      if (!text.startsWith('{"kind":"ConfigMapList"') || !text.endsWith(']}\n') || text.length < OBJECTS * 30_000)
        t.fail('a list was cut')
    }
  })
  const greedyServed = async (): Promise<boolean> => {
    await server.request('GET', `${CONFIGMAPS}/object-1`, undefined, as('quiet'))
    return lists >= GREEDY
  }
  await until(greedyServed, { what: 'a list for each of the greedy' })
  const between: number[] = []
  for (let i = 0; i < QUIET; i++) {
    const before = lists
    const { status } = await server.request('GET', `${CONFIGMAPS}/object-${i}`, undefined, as('quiet'))
    t.equal(status, 200)
    between.push(lists - before)
  }
  stopping = true
  await Promise.all(greedy)
  between.sort((a, b) => a - b)
  // In the order of arrival each of these would wait for all of the greedy one's: sixty.
  t.ok(between[QUIET / 2]! <= GREEDY / 6, `lists that came in between, median: ${between[QUIET / 2]}`)
  t.same(
    [...statuses.keys()].filter((status) => status !== 200 && status !== 429),
    [],
    'the greedy one is served or told to come again, nothing else',
  )
})

t.test('answers say which schema and level they belong to', async (t) => {
  const level = async (token: string): Promise<string> => {
    const { headers } = await server.request('GET', `${CONFIGMAPS}/object-1`, undefined, as(token))
    const schema = headers.get('x-kubernetes-pf-flowschema-uid')
    const uid = headers.get('x-kubernetes-pf-prioritylevel-uid')
    const find = async (resource: string): Promise<string> => {
      const { json } = await server.request(
        'GET',
        `/apis/flowcontrol.apiserver.k8s.io/v1/${resource}`,
        undefined,
        as('admin'),
      )
      const { items } = json as { items: { metadata: { name: string; uid: string } }[] }
      return items.find(({ metadata }) => [schema, uid].includes(metadata.uid))?.metadata.name ?? ''
    }
    return `${await find('flowschemas')} ${await find('prioritylevelconfigurations')}`
  }
  t.equal(await level('admin'), 'exempt exempt')
  t.equal(await level('quiet'), 'global-default global-default')
})

t.test('a schema that is changed takes effect, and says when its level is missing', async (t) => {
  const schemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
  const schema = {
    metadata: { name: 'quiet-ones' },
    spec: {
      matchingPrecedence: 50,
      priorityLevelConfiguration: { name: 'nowhere' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'quiet' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
        },
      ],
    },
  }
  const { status, json } = await server.request('POST', schemas, schema, as('admin'))
  t.equal(status, 201)
  const { uid } = (json as { metadata: { uid: string } }).metadata
  const stored = async () =>
    (await server.request('GET', `${schemas}/quiet-ones`, undefined, as('admin'))).json as {
      status?: { conditions?: { type: string; status: string }[] }
    }
  for (;;) {
    const dangling = (await stored()).status?.conditions?.find(({ type }) => type === 'Dangling')
    if (dangling?.status === 'True') break
  }
  const patch = { spec: { priorityLevelConfiguration: { name: 'workload-low' } } }
  await server.request('PATCH', `${schemas}/quiet-ones`, patch, {
    ...as('admin'),
    'content-type': 'application/merge-patch+json',
  })
  for (;;) {
    const { headers } = await server.request('GET', `${CONFIGMAPS}/object-1`, undefined, as('quiet'))
    if (headers.get('x-kubernetes-pf-flowschema-uid') === uid) break
  }
  for (;;) {
    const dangling = (await stored()).status?.conditions?.find(({ type }) => type === 'Dangling')
    if (dangling?.status === 'False') break
  }
  t.pass('found, used, and said so')
})
