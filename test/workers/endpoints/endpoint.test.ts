import t from 'tap'
import { throughMemoryVersion } from '#keelson/workers/endpoints/endpoint.js'
import { EndpointFixture } from '../../support/endpoint-fixture.js'

const fixture = new EndpointFixture()

t.test('an object of the version in memory is itself', async (t) => {
  const object = { metadata: { name: 'a' } }
  t.equal(throughMemoryVersion({ conversion: undefined }, object), object)
})

t.test('another version says what memory would say in it', async (t) => {
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
  const { endpoint } = fixture.worker('POST', path)
  const given = {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'X', name: 'x' }, targetCPUUtilizationPercentage: 50 },
  }
  const shown = throughMemoryVersion(endpoint, structuredClone(given))
  t.match(shown, { apiVersion: 'autoscaling/v1', spec: given.spec })
})
