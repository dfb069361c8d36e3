import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { read } from '#keelson/workers/endpoints/read.js'
import { update } from '#keelson/workers/endpoints/update.js'
import { answered, EndpointFixture, refusal } from '../../support/endpoint-fixture.js'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const D = `${DEPLOYMENTS}/d`
const labels = { app: 'x' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

async function withDeployment(): Promise<EndpointFixture> {
  const fixture = new EndpointFixture()
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  await fixture.create(DEPLOYMENTS, { metadata: { name: 'd' }, spec })
  return fixture
}

const scaleOf = async (fixture: EndpointFixture): Promise<KubeObject> =>
  answered(await read(fixture.worker('GET', `${D}/scale`))).object
const put = (fixture: EndpointFixture, metadata: object, replicas: number, query = '') =>
  update(
    fixture.worker('PUT', `${D}/scale${query}`, { body: { metadata: { name: 'd', ...metadata }, spec: { replicas } } }),
  )

t.test('a scale shows the replicas and the selector of its workload', async (t) => {
  const fixture = await withDeployment()
  const stored = await fixture.stored(D)
  t.match(await scaleOf(fixture), {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'd', uid: stored.metadata?.uid, resourceVersion: stored.metadata?.resourceVersion },
    spec: { replicas: 2 },
    status: { replicas: 0, selector: 'app=x' },
  })
})

t.test('writing it changes the replicas and nothing else', async (t) => {
  const fixture = await withDeployment()
  const before = await fixture.stored(D)
  t.match(answered(await put(fixture, {}, 5)).object, { kind: 'Scale', spec: { replicas: 5 } })
  const after = await fixture.stored(D)
  t.match(after, { spec: { replicas: 5 }, metadata: { generation: 2, uid: before.metadata?.uid } })
  t.same({ ...(after['spec'] as object), replicas: 2 }, before['spec'])
  t.match(
    after.metadata?.managedFields?.find(({ subresource }) => subresource === 'scale'),
    {
      manager: 'tester',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    },
  )
})

t.test('a version and a uid are conditions', async (t) => {
  const fixture = await withDeployment()
  const { metadata } = await scaleOf(fixture)
  t.match(await refusal(put(fixture, { resourceVersion: '1' }, 5)), { code: 409 })
  t.match(await refusal(put(fixture, { uid: 'another' }, 5)), { code: 409 })
  t.equal((await put(fixture, { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion }, 5)).status, 200)
})

t.test('fewer than none is invalid; what is not there has no scale', async (t) => {
  const fixture = await withDeployment()
  t.match(await refusal(put(fixture, {}, -1)), { code: 422, details: { causes: [{ field: 'spec.replicas' }] } })
  t.match(await refusal(read(fixture.worker('GET', `${DEPLOYMENTS}/x/scale`))), { code: 404 })
})

t.test('a dry run leaves the workload', async (t) => {
  const fixture = await withDeployment()
  await put(fixture, {}, 9, '?dryRun=All')
  t.match(await scaleOf(fixture), { spec: { replicas: 2 } })
})
