import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { isStatusError } from '#keelson/api/status.js'
import { deploymentRules } from '#keelson/registry/apps/deployments/strategy.js'
import { statefulSetRules } from '#keelson/registry/apps/statefulsets/strategy.js'
import { isSchedule } from '#keelson/registry/batch/cronjobs/schedule.js'
import { isTimeZone } from '#keelson/registry/batch/cronjobs/time-zone.js'
import { countIndexes, indexesOverlap } from '#keelson/registry/batch/indexes.js'
import { imageTag } from '#keelson/registry/core/pod-template/image-name.js'
import { qosClass } from '#keelson/registry/core/pod-template/pod-resources.js'
import { podRules } from '#keelson/registry/core/pods/strategy.js'
import { serviceRules } from '#keelson/registry/core/services/strategy.js'
import { beforeCreate, beforeUpdate } from '#keelson/registry/generic/before-write.js'
import type { ResourceRules } from '#keelson/registry/generic/resource-rules.js'
import { RulesStrategy } from '#keelson/registry/generic/rules-strategy.js'
import { fillSystemFields } from '#keelson/registry/generic/system-fields.js'
import { requestContext } from '../support/request-context.js'

const context = requestContext()

const strategyOf = (rules: ResourceRules) =>
  new RulesStrategy({ kind: { group: '', kind: 'Thing' }, namespaceScoped: true, hasStatus: true }, rules)

function create(rules: ResourceRules, spec: object, metadata: object = {}): KubeObject {
  const object: KubeObject = { metadata: { name: 'a', ...metadata }, spec: structuredClone(spec) }
  rules.setDefaults?.(object)
  fillSystemFields(object, 0)
  beforeCreate(strategyOf(rules), object, context)
  object.metadata!.resourceVersion = '1'
  return object
}

function update(rules: ResourceRules, old: KubeObject, change: (object: KubeObject) => void): KubeObject {
  const object = structuredClone(old)
  change(object)
  rules.setDefaults?.(object)
  beforeUpdate(strategyOf(rules), object, structuredClone(old), context)
  return object
}

function causesOf(action: () => unknown): string[] {
  try {
    action()
  } catch (error) {
    if (!isStatusError(error)) throw error
    return (error.status.details?.causes ?? []).map(({ field, reason }) => `${field}|${reason}`)
  }
  return []
}

const CONTAINERS = [{ name: 'main', image: 'app:1', resources: {} }]
const TEMPLATE = { metadata: { labels: { app: 'a' } }, spec: { containers: CONTAINERS } }
const SELECTOR = { matchLabels: { app: 'a' } }

t.test('images without a tag or digest are pulled always', async (t) => {
  const cases: [string, string][] = [
    ['app', 'latest'],
    ['app:1', '1'],
    ['host:5000/app', 'latest'],
    ['host:5000/team/app:v2', 'v2'],
    [`app@sha256:${'ab'.repeat(32)}`, ''],
    ['Not A Name', ''],
  ]
  for (const [image, tag] of cases) t.equal(imageTag(image), tag, image)
})

t.test('a pod is pending at first, and only some of it changes later', async (t) => {
  const pod = create(podRules, { containers: CONTAINERS })
  t.match(pod, { metadata: { generation: 1 }, status: { phase: 'Pending', qosClass: 'BestEffort' } })
  const spec = (object: KubeObject) => object['spec'] as { containers: { image: string }[]; hostname?: string }
  const newImage = update(podRules, pod, (object) => {
    spec(object).containers[0]!.image = 'app:2'
  })
  t.equal(newImage.metadata?.generation, 2)
  const hostname = () =>
    update(podRules, pod, (object) => {
      spec(object).hostname = 'other'
    })
  t.same(causesOf(hostname), ['spec|FieldValueForbidden'])
})

t.test('pods that no node has end without grace', async (t) => {
  const options = { gracePeriodSeconds: 30 }
  podRules.checkGracefulDelete?.({ spec: {} }, options, context)
  t.equal(options.gracePeriodSeconds, 0)
  const bound = { spec: { nodeName: 'n', terminationGracePeriodSeconds: 45 } }
  const fromSpec: { gracePeriodSeconds?: number } = {}
  podRules.checkGracefulDelete?.(bound, fromSpec, context)
  t.equal(fromSpec.gracePeriodSeconds, 45)
})

t.test('the quality of service follows from requests and limits', async (t) => {
  const full = { cpu: '1', memory: '1Gi' }
  t.equal(qosClass({ containers: [{ resources: { requests: full, limits: full } }] }), 'Guaranteed')
  t.equal(qosClass({ containers: [{ resources: { requests: { cpu: '1' }, limits: full } }] }), 'Burstable')
  t.equal(qosClass({ containers: [{}] }), 'BestEffort')
})

t.test('deployments count annotations as desired state and never change their selector', async (t) => {
  const deployment = create(deploymentRules, { selector: SELECTOR, template: TEMPLATE })
  t.match(deployment['spec'], { replicas: 1, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } } })
  const annotated = update(deploymentRules, deployment, (object) => {
    object.metadata!.annotations = { note: 'x' }
  })
  t.equal(annotated.metadata?.generation, 2)
  const reselected = () =>
    update(deploymentRules, deployment, (object) => {
      const spec = object['spec'] as { selector: unknown; template: { metadata: { labels: object } } }
      spec.selector = { matchLabels: { app: 'b' } }
      spec.template.metadata.labels = { app: 'b' }
    })
  t.same(causesOf(reselected), ['spec.selector|FieldValueInvalid'])
})

t.test('mounts of a stateful set may name its claims, which never change', async (t) => {
  const mounted = { ...CONTAINERS[0], volumeMounts: [{ name: 'data', mountPath: '/data' }] }
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  const set = create(statefulSetRules, {
    serviceName: 's',
    selector: SELECTOR,
    template: { ...TEMPLATE, spec: { containers: [mounted] } },
    volumeClaimTemplates: [claim],
  })
  t.match(set['spec'], { volumeClaimTemplates: [{ kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } }] })
  const grown = () =>
    update(statefulSetRules, set, (object) => {
      const spec = object['spec'] as { volumeClaimTemplates: { spec: { accessModes: string[] } }[] }
      spec.volumeClaimTemplates[0]!.spec.accessModes = ['ReadWriteMany']
    })
  t.same(causesOf(grown), ['spec|FieldValueForbidden'])
})

t.test('cron schedules', async (t) => {
  for (const good of [
    '* * * * *',
    '*/5 1-3 1,15 jan mon-fri/2',
    '@daily',
    '@every 1h30m',
    '0 0 ? * SUN',
    '7/20 * * * *',
    '*-9 * * * *',
    '+5 * * * *',
    'TZ=Europe/Berlin  @daily',
  ])
    t.ok(isSchedule(good), good)
  for (const bad of [
    '',
    '* * * *',
    '60 * * * *',
    '5-1 * * * *',
    '*/0 * * * *',
    '@never',
    '@every soon',
    '* * 0 * *',
    '* * * * 7',
    ' @daily',
    'TZ=Europe/Berlin',
  ])
    t.notOk(isSchedule(bad), bad)
  t.ok(isTimeZone('Europe/Berlin'))
  t.notOk(isTimeZone('europe/berlin'), 'the spelling counts')
  for (const name of ['Etc/UTC', 'US/Pacific', 'GMT', 'Asia/Kolkata', 'Asia/Calcutta']) t.ok(isTimeZone(name), name)
  for (const name of ['ETC/UTC', 'us/pacific', 'gmt', 'ASIA/KOLKATA', 'Nowhere/Land']) t.notOk(isTimeZone(name), name)
})

t.test('sets of indexes', async (t) => {
  t.equal(countIndexes('0,2-4,7', 8), 5)
  for (const bad of ['3,2', '4-4', '1-2-3', '8', 'x']) t.equal(countIndexes(bad, 8), undefined, bad)
  t.ok(indexesOverlap('1-3,7', '3', 8))
  t.notOk(indexesOverlap('1-3,7', '4-6', 8))
})

t.test('a service keeps its first address, and drops what its new type has not', async (t) => {
  const ports = [{ port: 80 }]
  const service = create(serviceRules, {
    ports,
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
  })
  const spec = (object: KubeObject) => object['spec'] as Record<string, unknown>
  const external = update(serviceRules, service, (object) => {
    Object.assign(spec(object), { type: 'ExternalName', externalName: 'example.com' })
    delete spec(object)['internalTrafficPolicy']
  })
  t.equal(spec(external)['clusterIP'], undefined)
  const moved = () =>
    update(serviceRules, service, (object) => {
      Object.assign(spec(object), { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] })
    })
  t.same(causesOf(moved), ['spec.clusterIPs[0]|FieldValueInvalid'])
})
