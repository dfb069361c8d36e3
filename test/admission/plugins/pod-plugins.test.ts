import t from 'tap'
import { AlwaysPullImages } from '#keelson/admission/plugins/always-pull-images.js'
import { DefaultTolerationSeconds } from '#keelson/admission/plugins/default-toleration-seconds.js'
import { ExtendedResourceToleration } from '#keelson/admission/plugins/extended-resource-toleration.js'
import { LimitPodHardAntiAffinityTopology } from '#keelson/admission/plugins/limit-pod-hard-anti-affinity-topology.js'
import { NodeDeclaredFeatureValidator } from '#keelson/admission/plugins/node-declared-feature-validator.js'
import { PodNodeSelector } from '#keelson/admission/plugins/pod-node-selector.js'
import { PodResizeValidator } from '#keelson/admission/plugins/pod-resize-validator.js'
import { PodTolerationRestriction } from '#keelson/admission/plugins/pod-toleration-restriction.js'
import { PodTopologyLabels } from '#keelson/admission/plugins/pod-topology-labels.js'
import { Priority } from '#keelson/admission/plugins/priority.js'
import { RuntimeClass } from '#keelson/admission/plugins/runtime-class.js'
import { ServiceAccount } from '#keelson/admission/plugins/service-account.js'
import { covers, mergeTolerations } from '#keelson/admission/plugins/tolerations.js'
import type { Toleration } from '#keelson/api/generated/kinds/core.v1.js'
import { FakeClock } from '../../support/fake-clock.js'
import { Random } from '../../support/fuzz.js'
import { isLinear } from '../../support/growth.js'
import { ask, FakeObjects, namespaceObject, podWith } from '../fixture.js'

t.test('AlwaysPullImages', async (t) => {
  const plugin = new AlwaysPullImages()
  const pod = podWith({ initContainers: [{ name: 'i', image: 'j', imagePullPolicy: 'Never' }] })
  t.equal(await ask(plugin, { object: pod }), '')
  t.match(pod, {
    spec: { containers: [{ imagePullPolicy: 'Always' }], initContainers: [{ imagePullPolicy: 'Always' }] },
  })
  const old = podWith({ containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Never' }] })
  const same = structuredClone(old)
  await ask(plugin, { object: same, oldObject: old })
  t.match(same, { spec: { containers: [{ imagePullPolicy: 'Never' }] } }, 'no new image: as it was')
})

t.test('LimitPodHardAntiAffinityTopology', async (t) => {
  const plugin = new LimitPodHardAntiAffinityTopology()
  const terms = (topologyKey: string): object => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
  })
  t.equal(await ask(plugin, { object: podWith(terms('kubernetes.io/hostname')) }), '')
  t.match(await ask(plugin, { object: podWith(terms('topology.kubernetes.io/zone')) }), /^403/)
})

t.test('ExtendedResourceToleration, DefaultTolerationSeconds', async (t) => {
  const resources = { requests: { 'example.com/gpu': '1', cpu: '1', 'kubernetes.io/x': '1' } }
  const pod = podWith({ containers: [{ name: 'c', resources }] })
  await ask(new ExtendedResourceToleration(), { object: pod })
  await ask(new ExtendedResourceToleration(), { object: pod })
  t.same((pod['spec'] as { tolerations?: object }).tolerations, [
    { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
  ])
  const tolerant = podWith({ tolerations: [{ operator: 'Exists' }] })
  await ask(new DefaultTolerationSeconds({ notReady: 300, unreachable: 60 }), { object: tolerant })
  t.match(tolerant, { spec: { tolerations: [{ operator: 'Exists' }] } })
  const plain = podWith({})
  await ask(new DefaultTolerationSeconds({ notReady: 300, unreachable: 60 }), { object: plain })
  t.match(plain, { spec: { tolerations: [{ tolerationSeconds: 300 }, { tolerationSeconds: 60 }] } })
})

t.test('tolerations merged: what another covers is left out', (t) => {
  const a = { key: 'k', operator: 'Exists' }
  const b = { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }
  const c = { key: 'l', value: 'v' }
  t.same(mergeTolerations([b], [a, c]), [a, c])
  t.same(mergeTolerations([a], [{ ...a }]), [a])
  t.same(mergeTolerations([{ ...a, tolerationSeconds: 5 }], [a]), [a])
  t.end()
})

t.test('tolerations merged: as if each were held against all, and not in the square of their number', (t) => {
  const some = <T>(values: readonly T[], i: number): T => values[i % values.length]!
  // Every toleration of a few words, twice, in an order of its own.
  const words = Array.from({ length: 4 * 3 * 3 * 3 * 3 }, (_, i): Toleration => {
    const tolerationSeconds = some([undefined, 1, 2], Math.floor(i / 108))
    return {
      ...(i % 4 === 0 ? {} : { operator: some(['Exists', 'Equal', 'Lt'], i % 4) }),
      ...(some([true, true, false], Math.floor(i / 4)) ? { key: some(['', 'k', 'l'], Math.floor(i / 4)) } : {}),
      ...(some([false, true, true], Math.floor(i / 12)) ? { value: some(['', 'v', 'w'], Math.floor(i / 12)) } : {}),
      ...(some([false, true, true], Math.floor(i / 36)) ? { effect: some(['', 'A', 'B'], Math.floor(i / 36)) } : {}),
      ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    }
  })
  const random = new Random(5)
  for (let round = 0; round < 200; round++) {
    const all = Array.from({ length: 1 + random.below(9) }, () => random.pick(words))
    const kept = all.filter(
      (one, i) => !all.some((other, j) => i !== j && covers(other, one) && (!covers(one, other) || j < i)),
    )
    t.same(mergeTolerations(all.slice(0, 3), all.slice(3)), kept)
  }
  const keyed = (count: number): Toleration[] => Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: 'v' }))
  t.ok(isLinear(10_000, keyed, (tolerations) => mergeTolerations(tolerations, [{ key: 'x' }])))
  const timed = (count: number): Toleration[] =>
    Array.from({ length: count }, (_, tolerationSeconds) => ({ key: 'k', tolerationSeconds }))
  t.ok(isLinear(10_000, timed, (tolerations) => mergeTolerations(tolerations, [{ key: 'x' }])))
  t.end()
})

t.test('PodTolerationRestriction', async (t) => {
  const annotations = {
    'scheduler.alpha.kubernetes.io/defaultTolerations': '[{"key":"d","operator":"Exists"}]',
    'scheduler.alpha.kubernetes.io/tolerationsWhitelist': '[{"key":"d","operator":"Exists"},{"key":"e","value":"v"}]',
  }
  const objects = new FakeObjects({ namespaces: [namespaceObject('a', { metadata: { annotations } })] })
  const plugin = new PodTolerationRestriction(objects)
  const pod = podWith({ tolerations: [{ key: 'e', value: 'v' }] })
  t.equal(await ask(plugin, { object: pod }), '')
  t.match(pod, { spec: { tolerations: [{ key: 'd' }, { key: 'e' }] } })
  t.match(await ask(plugin, { object: podWith({ tolerations: [{ key: 'e', operator: 'Exists' }] }) }), /^403/)
  const burstable = podWith({ containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] })
  t.equal(await ask(plugin, { object: burstable, namespace: 'b' }), '')
  t.match(burstable, { spec: { tolerations: [{ key: 'node.kubernetes.io/memory-pressure' }] } })
})

t.test('PodNodeSelector', async (t) => {
  const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': 'disk=ssd, zone=x, constructor=c' }
  const objects = new FakeObjects({ namespaces: [namespaceObject('a', { metadata: { annotations } })] })
  const plugin = new PodNodeSelector(objects, {
    podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'role=any', b: 'role=any' },
  })
  const pod = podWith({ nodeSelector: { own: '1' } })
  t.equal(await ask(plugin, { object: pod }), '')
  t.match(pod, { spec: { nodeSelector: { own: '1', disk: 'ssd', zone: 'x', constructor: 'c' } } })
  t.match(await ask(plugin, { object: podWith({ nodeSelector: { disk: 'hdd' } }) }), /^403/)
  t.equal(await ask(plugin, { object: podWith({}), namespace: 'b' }), '')
  t.match(await ask(plugin, { object: podWith({ nodeSelector: { other: '1' } }), namespace: 'b' }), /whitelist/)
})

t.test('Priority', async (t) => {
  const objects = new FakeObjects({
    'priorityclasses.scheduling.k8s.io': [
      { metadata: { name: 'high' }, value: 100, preemptionPolicy: 'Never' },
      { metadata: { name: 'base' }, value: 7, globalDefault: true },
    ],
  })
  const plugin = new Priority(objects)
  const shaped = async (spec: object): Promise<unknown> => {
    const object = podWith(spec)
    return (await ask(plugin, { object })) || object['spec']
  }
  t.match(await shaped({}), { priority: 7, priorityClassName: 'base', preemptionPolicy: 'PreemptLowerPriority' })
  t.match(await shaped({ priorityClassName: 'high' }), { priority: 100, preemptionPolicy: 'Never' })
  t.match(await shaped({ priorityClassName: 'system-node-critical' }), { priority: 2_000_001_000 })
  t.match(await shaped({ priorityClassName: 'none' }), /no PriorityClass with name none/)
  t.match(await shaped({ priority: 8 }), /integer value of priority \(8\)/)
  t.match(await shaped({ preemptionPolicy: 'Never' }), /PreemptionPolicy \(Never\)/)
  const kept = podWith({})
  await ask(plugin, { object: kept, oldObject: podWith({ priority: 3 }) })
  t.match(kept, { spec: { priority: 3 } })
  const resource = 'priorityclasses.scheduling.k8s.io'
  t.match(await ask(plugin, { resource, object: { metadata: { name: 'x' }, globalDefault: true } }), /already marked/)
  const base = { metadata: { name: 'base' }, globalDefault: true }
  t.equal(await ask(plugin, { resource, object: base, operation: 'UPDATE' }), '')
  t.match(await ask(plugin, { resource, object: base }), /already marked/, 'also when it is made a second time')
})

t.test('RuntimeClass', async (t) => {
  const scheduling = { nodeSelector: { run: 'g' }, tolerations: [{ key: 'g', operator: 'Exists' }] }
  const objects = new FakeObjects({
    'runtimeclasses.node.k8s.io': [
      { metadata: { name: 'g' }, overhead: { podFixed: { cpu: '250m' } }, scheduling },
      { metadata: { name: 'plain' } },
    ],
  })
  const plugin = new RuntimeClass(objects)
  const pod = podWith({ runtimeClassName: 'g' })
  t.equal(await ask(plugin, { object: pod }), '')
  t.match(pod, { spec: { overhead: { cpu: '250m' }, nodeSelector: { run: 'g' }, tolerations: [{ key: 'g' }] } })
  t.equal(await ask(plugin, { object: podWith({ runtimeClassName: 'g', overhead: { cpu: '0.25' } }) }), '')
  t.match(await ask(plugin, { object: podWith({ runtimeClassName: 'g', overhead: { cpu: '1' } }) }), /Overhead/)
  const inherited = podWith({ runtimeClassName: 'g', overhead: { constructor: '1' } })
  t.match(await ask(plugin, { object: inherited }), /Overhead/, 'what every object has is no amount')
  t.match(await ask(plugin, { object: podWith({ runtimeClassName: 'plain', overhead: { cpu: '1' } }) }), /Overhead/)
  t.match(await ask(plugin, { object: podWith({ overhead: { cpu: '1' } }) }), /Overhead/)
  t.match(await ask(plugin, { object: podWith({ runtimeClassName: 'none' }) }), /RuntimeClass "none" not found/)
  t.match(await ask(plugin, { object: podWith({ runtimeClassName: 'g', nodeSelector: { run: 'x' } }) }), /conflict/)
})

t.test('PodTopologyLabels', async (t) => {
  const labels = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', other: 'o' }
  const objects = new FakeObjects({ nodes: [{ metadata: { name: 'n', labels } }] })
  const plugin = new PodTopologyLabels(objects)
  const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
  await ask(plugin, { resource: 'pods/binding', object: binding })
  const { other, ...topology } = labels
  t.same(binding.metadata, { name: 'p', labels: topology })
  const pod = podWith({ nodeName: 'n' }, { labels: { 'topology.kubernetes.io/zone': 'wrong', own: '1' } })
  await ask(plugin, { object: pod })
  t.same(pod.metadata?.labels, { ...topology, own: '1' })
  t.equal(await ask(plugin, { object: podWith({ nodeName: 'gone' }) }), '')
})

t.test('PodResizeValidator, NodeDeclaredFeatureValidator', async (t) => {
  const node = (labels: object, status: object): FakeObjects =>
    new FakeObjects({ nodes: [{ metadata: { name: 'n', labels: { ...labels } }, status }] })
  const allocatable = { cpu: '2', memory: '1Gi' }
  const sized = (cpu: string, generation: number): ReturnType<typeof podWith> => ({
    ...podWith({ nodeName: 'n', containers: [{ name: 'c', resources: { requests: { cpu } } }] }, { generation }),
    status: { qosClass: 'Guaranteed' },
  })
  const resize = { resource: 'pods/resize', oldObject: sized('1', 1) }
  const plugin = new PodResizeValidator(node({}, { allocatable }))
  t.equal(await ask(plugin, { ...resize, object: sized('2', 2) }), '')
  t.match(await ask(plugin, { ...resize, object: sized('3', 2) }), /allocatable/)
  t.equal(await ask(plugin, { ...resize, object: sized('3', 1) }), '', 'nothing changed')
  const windows = new PodResizeValidator(node({ 'kubernetes.io/os': 'windows' }, { allocatable }))
  t.match(await ask(windows, { ...resize, object: sized('2', 2) }), /linux/)
  const declared = new NodeDeclaredFeatureValidator(node({}, { declaredFeatures: ['GuaranteedQoSPodCPUResize'] }))
  t.equal(await ask(declared, { ...resize, object: sized('2', 2) }), '')
  t.match(await ask(new NodeDeclaredFeatureValidator(node({}, {})), { ...resize, object: sized('2', 2) }), /features/)
})

t.test('ServiceAccount', async (t) => {
  const objects = new FakeObjects({
    serviceaccounts: [
      { metadata: { name: 'quiet', namespace: 'a' }, automountServiceAccountToken: false },
      { metadata: { name: 'pull', namespace: 'a' }, imagePullSecrets: [{ name: 's' }] },
      {
        metadata: {
          name: 'strict',
          namespace: 'a',
          annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' },
        },
        secrets: [{ name: 'mine' }],
      },
    ],
  })
  const clock = new FakeClock()
  const plugin = new ServiceAccount({ objects, writer: objects, clock, random: () => 0 })
  const pod = podWith({})
  t.equal(await ask(plugin, { object: pod }), '', 'the default account is made when it is asked for')
  t.ok(objects.get({ group: '', version: 'v1', resource: 'serviceaccounts' }, 'a', 'default'))
  t.match(pod, {
    spec: {
      serviceAccountName: 'default',
      serviceAccount: 'default',
      containers: [{ volumeMounts: [{ name: 'kube-api-access-bbbbb', readOnly: true }] }],
      volumes: [{ name: 'kube-api-access-bbbbb', projected: { sources: [{}, {}, {}] } }],
    },
  })
  const alone = new ServiceAccount({ objects: new FakeObjects({}), writer: undefined, clock, random: () => 0 })
  const refused = ask(alone, { object: podWith({}) })
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(200)
  }
  t.match(await refused, /^403 .*serviceaccount "default" not found/, 'without a controller nobody makes it')
  const quiet = podWith({ serviceAccountName: 'quiet' })
  await ask(plugin, { object: quiet })
  t.notMatch(quiet, { spec: { volumes: [{}] } })
  const pull = podWith({ serviceAccountName: 'pull', automountServiceAccountToken: false })
  await ask(plugin, { object: pull })
  t.match(pull, { spec: { imagePullSecrets: [{ name: 's' }] } })
  t.match(
    await ask(plugin, { object: podWith({ serviceAccountName: 'none' }) }),
    /^403 .*serviceaccount "none" not found/,
  )
  const volumes = (secretName: string): object => ({
    serviceAccountName: 'strict',
    volumes: [{ name: 'v', secret: { secretName } }],
  })
  t.equal(await ask(plugin, { object: podWith(volumes('mine')) }), '')
  t.match(await ask(plugin, { object: podWith(volumes('yours')) }), /does not reference that secret/)
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } }
  t.equal(await ask(plugin, { object: podWith({}, mirror) }), '')
  t.match(await ask(plugin, { object: podWith({ serviceAccountName: 'quiet' }, mirror) }), /mirror pod/)
  const noSources = { name: 'v', projected: { sources: null } }
  t.equal(
    await ask(plugin, { object: podWith({ volumes: [noSources] }, mirror) }),
    '',
    'sources that decoding left null',
  )
})
