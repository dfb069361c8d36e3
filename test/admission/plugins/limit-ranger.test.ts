import t from 'tap'
import { LimitRanger } from '#keelson/admission/plugins/limit-ranger.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ask, FakeObjects, podWith } from '../fixture.js'

const range = (...limits: object[]): FakeObjects =>
  new FakeObjects({ limitranges: [{ metadata: { name: 'l', namespace: 'a' }, spec: { limits } }] })
const container = (resources: object): object => ({ containers: [{ name: 'c', resources }] })

t.test('defaults fill what a container leaves open, and say so', async (t) => {
  const plugin = new LimitRanger(
    range({ type: 'Container', default: { cpu: '500m', memory: '1Gi' }, defaultRequest: { cpu: '100m' } }),
  )
  const pod = podWith({
    containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }],
    initContainers: [{ name: 'i' }],
  })
  t.equal(await ask(plugin, { object: pod }), '')
  t.match(pod, {
    metadata: {
      annotations: {
        'kubernetes.io/limit-ranger':
          'LimitRanger plugin set: cpu request for container c; memory limit for container c; cpu request for init container i; cpu, memory limit for init container i',
      },
    },
    spec: {
      containers: [{ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } } }],
      initContainers: [{ resources: { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '100m' } } }],
    },
  })
  const elsewhere = podWith({})
  await ask(plugin, { object: elsewhere, namespace: 'b' })
  t.same(elsewhere, podWith({}))
})

t.test('limits', async (t) => {
  const cases: [string, object, KubeObject, RegExp][] = [
    ['max', { type: 'Container', max: { cpu: '1' } }, podWith(container({ limits: { cpu: '1001m' } })), /maximum cpu/],
    ['at max', { type: 'Container', max: { cpu: '1' } }, podWith(container({ limits: { cpu: '1000m' } })), /^$/],
    ['max without limit', { type: 'Container', max: { cpu: '1' } }, podWith({}), /No limit is specified/],
    ['min', { type: 'Container', min: { cpu: '1' } }, podWith(container({ requests: { cpu: '1m' } })), /minimum cpu/],
    ['min without request', { type: 'Container', min: { cpu: '1' } }, podWith({}), /No request is specified/],
    [
      'ratio',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      podWith(container({ requests: { cpu: '1' }, limits: { cpu: '3' } })),
      /provided ratio is 3/,
    ],
    [
      'a pod sums its containers',
      { type: 'Pod', max: { cpu: '3' } },
      podWith({ containers: ['x', 'y'].map((name) => ({ name, resources: { limits: { cpu: '2' } } })) }),
      /maximum cpu usage per Pod is 3, but limit is 4/,
    ],
    [
      'init containers run one after the other',
      { type: 'Pod', max: { cpu: '3' } },
      podWith({
        containers: [{ name: 'x', resources: { limits: { cpu: '1' } } }],
        initContainers: ['y', 'z'].map((name) => ({ name, resources: { limits: { cpu: '2' } } })),
      }),
      /^$/,
    ],
  ]
  for (const [title, limit, object, answer] of cases)
    t.match(await ask(new LimitRanger(range(limit)), { object }), answer, title)
})

t.test('claims are held to what they request', async (t) => {
  const plugin = new LimitRanger(
    range({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }),
  )
  const claim = (storage: string): KubeObject => ({
    metadata: { name: 'v' },
    spec: { resources: { requests: { storage } } },
  })
  const resource = 'persistentvolumeclaims'
  t.match(await ask(plugin, { resource, object: claim('1Mi') }), /minimum storage/)
  t.match(await ask(plugin, { resource, object: claim('3Gi') }), /maximum storage/)
  t.equal(await ask(plugin, { resource, object: claim('2Gi') }), '')
  const oldObject = { ...claim('1Gi'), metadata: { name: 'v', deletionTimestamp: 'now' } }
  t.equal(await ask(plugin, { resource, object: claim('3Gi'), oldObject }), '', 'what is ending is let alone')
})
