import t from 'tap'
import type { AdmissionAttributes } from '#keelson/admission/chain.js'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { newForbidden } from '#keelson/api/status.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import { connect } from '#keelson/workers/endpoints/connect.js'
import { WorkerRequest } from '#keelson/workers/endpoints/request.js'
import { EndpointFixture, type PartialPlugin, refusal } from '../../support/endpoint-fixture.js'

const PODS = '/api/v1/namespaces/default/pods'
const POD = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }

async function withPod(podIP: string, ...plugins: PartialPlugin[]): Promise<EndpointFixture> {
  const fixture = new EndpointFixture(...plugins)
  await fixture.create(PODS, POD)
  await fixture.interfere(`${PODS}/p`, (pod) => {
    pod['status'] = { podIP, podIPs: [{ ip: podIP }] }
  })
  return fixture
}

/** As a pool thread does: admission is told of the resource, the subresource has no endpoint of its own. */
function connecting(fixture: EndpointFixture, url: string) {
  const [path = '', query = ''] = url.split('?')
  const { request, endpoint } = fixture.worker('POST', path.replace(/\/[^/]+\/[^/]+$/, '/p'))
  const info = resolveRequestInfo('POST', path, new URLSearchParams(query))
  return connect(new WorkerRequest({ ...request, info, query }, endpoint, fixture), {
    ...fixture.endpoints.dependencies,
    mayReach: (address) => address !== '127.0.0.1',
    random: () => 0,
    schemas: new BuiltinSchemas(),
  })
}

t.test('the resource says where to, after admission has seen the options', async (t) => {
  const seen: AdmissionAttributes[] = []
  const fixture = await withPod('192.0.2.5', {
    validate: (attributes) => void (attributes.operation === 'CONNECT' && seen.push(attributes)),
  })
  const plan = await connecting(fixture, `${PODS}/p:8080/proxy?path=x`)
  t.match(plan, { kind: 'proxy', scheme: 'http', host: '192.0.2.5', port: 8080, trust: 'workload' })
  t.match(seen, [
    {
      operation: 'CONNECT',
      subresource: 'proxy',
      kind: { group: '', version: 'v1', kind: 'PodProxyOptions' },
      object: { kind: 'PodProxyOptions', apiVersion: 'v1', path: 'x' },
    },
  ])
})

t.test('admission may refuse', async (t) => {
  const fixture = await withPod('192.0.2.5', {
    validate: ({ operation }) => {
      if (operation === 'CONNECT') throw newForbidden({ group: '', resource: 'pods' }, 'p', 'no')
    },
  })
  t.match(await refusal(connecting(fixture, `${PODS}/p/proxy`)), { code: 403 })
})

t.test('what may not be reached is not; what no server answers is not found', async (t) => {
  const fixture = await withPod('127.0.0.1')
  t.match(await refusal(connecting(fixture, `${PODS}/p/proxy`)), { code: 400 })
  t.match(await refusal(connecting(fixture, `${PODS}/x/proxy`)), { code: 404 })
  t.match(await refusal(connecting(fixture, `${PODS}/p/constructor`)), { code: 404 })
})
