import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

t.test(
  'pods of a node that is gone are failed and deleted after its quarantine; a node that comes late keeps its own',
  async (t) => {
    const server = await KeelsonProcess.start(['--controllers=podgc', '--disable-admission-plugins=ServiceAccount'])
    t.teardown(() => server.close())
    const api = new ApiClient(server)
    const pods = '/api/v1/namespaces/default/pods'
    const pod = (name: string, nodeName: string, finalizers: string[] = []): Promise<KubeObject> =>
      api.create(pods, { metadata: { name, finalizers }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }] } })
    await pod('orphan', 'gone')
    await pod('held', 'gone', ['example.com/hold'])
    await pod('late', 'late')
    const started = performance.now()
    await api.create('/api/v1/nodes', { metadata: { name: 'late' } })
    await until(async () => (await api.get(`${pods}/orphan`)) === undefined, {
      what: 'the orphan to go',
      deadlineMs: 180_000,
    })
    t.ok(performance.now() - started > 39_000, 'not before the quarantine is over')
    const { status } = (await api.get<KubeObject & { status?: { phase?: string; conditions?: object[] } }>(
      `${pods}/held`,
    ))!
    t.equal(status?.phase, 'Failed')
    t.match(status?.conditions, [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' }])
    t.ok(await api.get(`${pods}/late`))
  },
)
