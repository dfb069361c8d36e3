import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { v1ToV2, v2ToV1 } from '#keelson/registry/autoscaling/horizontalpodautoscalers/conversion.js'
import { toCoreEvent, toEventsEvent } from '#keelson/registry/events.k8s.io/events/conversion.js'

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
