import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { definitionsV1beta1 } from '#keelson/registry/apiextensions.k8s.io/customresourcedefinitions/conversion.js'
import { v1ToV2, v2ToV1 } from '#keelson/registry/autoscaling/horizontalpodautoscalers/conversion.js'
import { toCoreEvent, toEventsEvent } from '#keelson/registry/events.k8s.io/events/conversion.js'
import { claimsV1beta1, claimTemplatesV1beta1, slicesV1beta1 } from '#keelson/registry/resource.k8s.io/conversion.js'

t.test('an autoscaler goes to v1 and back without loss', (t) => {
  const v2 = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a', annotations: { kept: 'yes' } },
    spec: {
      minReplicas: 1,
      maxReplicas: 5,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      metrics: [
        { type: 'Pods', pods: { metric: { name: 'rate' }, target: { type: 'AverageValue', averageValue: '10' } } },
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
      ],
      behavior: { scaleUp: { selectPolicy: 'Max' } },
    },
    status: { currentReplicas: 2, desiredReplicas: 3 },
  }
  const v1 = v2ToV1(v2)
  t.equal(v1.spec?.targetCPUUtilizationPercentage, 70)
  t.equal(v1.metadata?.annotations?.['kept'], 'yes')
  t.ok(v1.metadata?.annotations?.['autoscaling.alpha.kubernetes.io/metrics'])
  t.same(v1ToV2(v1), v2)
  t.end()
})

t.test('annotations of an autoscaler that are not what they should be say nothing', (t) => {
  const cpuAlone = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
  ]
  const cases: [string, string, object][] = [
    ['metrics', '[null]', { metrics: [{ type: '' }] }],
    ['metrics', '["text"]', { metrics: cpuAlone }],
    ['metrics', '[{"type":"Pods","pods":"text"}]', { metrics: cpuAlone }],
    ['metrics', '{}', { metrics: cpuAlone }],
    ['behavior', '{"ScaleUp":{"Policies":"text"}}', { metrics: cpuAlone }],
    ['behavior', '[{}]', { metrics: cpuAlone }],
    [
      'behavior',
      '{"ScaleUp":{"SelectPolicy":"Min"}}',
      { metrics: cpuAlone, behavior: { scaleUp: { selectPolicy: 'Min' } } },
    ],
  ]
  for (const [name, value, spec] of cases) {
    const annotations = { [`autoscaling.alpha.kubernetes.io/${name}`]: value }
    t.same(v1ToV2({ apiVersion: 'autoscaling/v1', metadata: { annotations } }).spec, spec, `${name}: ${value}`)
  }
  t.end()
})

t.test('an event has other names in its own group', (t) => {
  const core: KubeObject = {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { kind: 'Pod', name: 'p' },
    message: 'm',
    source: { component: 'c' },
    reportingComponent: 'r',
    count: 3,
  }
  const own = toEventsEvent(core)
  t.match(own, { apiVersion: 'events.k8s.io/v1', regarding: { name: 'p' }, note: 'm', reportingController: 'r' })
  t.notOk('message' in own)
  t.same(toCoreEvent(own), core)
  t.end()
})

t.test('a custom resource definition is stored as v1beta1, what its versions share beside them', (t) => {
  const schema = { openAPIV3Schema: { type: 'object' } }
  const columns = [{ name: 'Size', type: 'string', jsonPath: '.spec.size' }]
  const version = (name: string) => ({ name, served: true, storage: name === 'v1', schema })
  const inMemory: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'https://x' }, conversionReviewVersions: ['v1'] },
      },
      versions: [{ ...version('v1'), additionalPrinterColumns: columns }, version('v2')],
    },
  }
  const stored = definitionsV1beta1.fromMemoryVersion(inMemory)
  t.match(stored, {
    apiVersion: 'apiextensions.k8s.io/v1beta1',
    spec: {
      version: 'v1',
      validation: schema,
      preserveUnknownFields: false,
      conversion: { strategy: 'Webhook', webhookClientConfig: { url: 'https://x' }, conversionReviewVersions: ['v1'] },
      versions: [{ additionalPrinterColumns: [{ name: 'Size', JSONPath: '.spec.size' }] }, { name: 'v2' }],
    },
  })
  t.same(definitionsV1beta1.toMemoryVersion(stored), inMemory)
  const old = { kind: 'CustomResourceDefinition', spec: { version: 'v1', validation: schema } }
  t.match(definitionsV1beta1.toMemoryVersion(old), {
    spec: {
      preserveUnknownFields: true,
      conversion: { strategy: 'None' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  t.end()
})

t.test('requests and devices of v1beta1 say flat what v1 says in a part of its own', (t) => {
  const [flat, nested] = [
    [
      { name: 'one', deviceClassName: 'gpu', count: 2 },
      { name: 'any', firstAvailable: [{ name: 'a', deviceClassName: 'gpu' }] },
    ],
    [
      { name: 'one', exactly: { deviceClassName: 'gpu', count: 2 } },
      { name: 'any', firstAvailable: [{ name: 'a', deviceClassName: 'gpu' }] },
    ],
  ]
  const [apiVersion, inMemory] = ['resource.k8s.io/v1beta1', 'resource.k8s.io/v1']
  const [old, now] = [{ devices: { requests: flat } }, { devices: { requests: nested } }]
  t.same(claimsV1beta1.toMemoryVersion({ apiVersion, spec: old }), { apiVersion: inMemory, spec: now })
  t.same(claimsV1beta1.fromMemoryVersion({ apiVersion: inMemory, spec: now }), { apiVersion, spec: old })
  const template = { apiVersion, spec: { metadata: { labels: { a: 'b' } }, spec: old } }
  const converted = claimTemplatesV1beta1.toMemoryVersion(template)
  t.same(converted, { apiVersion: inMemory, spec: { metadata: { labels: { a: 'b' } }, spec: now } })
  t.same(claimTemplatesV1beta1.fromMemoryVersion(converted), template)
  const devices = [{ name: 'd', basic: { attributes: { model: { string: 'x' } } } }]
  const slice = slicesV1beta1.toMemoryVersion({ apiVersion, spec: { driver: 'a.b', nodeName: '', devices } })
  t.same(slice, {
    apiVersion: inMemory,
    spec: { driver: 'a.b', devices: [{ name: 'd', attributes: { model: { string: 'x' } } }] },
  })
  t.same(slicesV1beta1.fromMemoryVersion(slice), { apiVersion, spec: { driver: 'a.b', devices } })
  t.end()
})
