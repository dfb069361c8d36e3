import t from 'tap'
import type { PodSpec } from '#keelson/api/generated/kinds/core.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { dropGatedPodFields, gatedPodValueErrors } from '#keelson/registry/generic/gated-pod-fields.js'

const AT = ['spec', 'template', 'spec']
const podIn = (spec: PodSpec): KubeObject => ({ spec: { template: { spec: structuredClone(spec) } } })
function dropped(spec: PodSpec, before?: PodSpec): unknown {
  const object = podIn(spec)
  dropGatedPodFields(object, before === undefined ? undefined : podIn(before), AT)
  return (object['spec'] as { template: { spec: unknown } }).template.spec
}

const stopping: PodSpec = { containers: [{ name: 'c', lifecycle: { stopSignal: 'SIGTERM' } }] }

t.test('what is behind a gate goes from new objects', async (t) => {
  t.same(dropped({ containers: [], schedulingGroup: { podGroupName: 'g' } }), { containers: [] })
  t.same(dropped(stopping), { containers: [{ name: 'c' }] }, 'a lifecycle that said nothing else goes with it')
  const both = { stopSignal: 'SIGTERM', preStop: { sleep: { seconds: 1 } } }
  t.same(dropped({ containers: [{ name: 'c', lifecycle: both }] }), {
    containers: [{ name: 'c', lifecycle: { preStop: { sleep: { seconds: 1 } } } }],
  })
})

t.test('what an object has used before it may go on using', async (t) => {
  t.same(dropped(stopping, stopping), stopping)
  const grouped: PodSpec = { containers: [], schedulingGroup: { podGroupName: 'g' } }
  t.same(dropped(grouped, { containers: [], schedulingGroup: { podGroupName: 'old' } }), grouped)
  t.same(dropped(grouped, { containers: [] }), { containers: [] })
})

t.test('sources of volumes are dropped each by its own kind', async (t) => {
  const source = (...kinds: string[]) =>
    ({
      containers: [],
      volumes: [{ name: 'v', projected: { sources: kinds.map((kind) => ({ [kind]: {} })) } }],
    }) as PodSpec
  t.same(dropped(source('podCertificate', 'secret')), {
    containers: [],
    volumes: [{ name: 'v', projected: { sources: [{}, { secret: {} }] } }],
  })
  t.same(dropped(source('podCertificate', 'clusterTrustBundle'), source('podCertificate')), {
    containers: [],
    volumes: [{ name: 'v', projected: { sources: [{ podCertificate: {} }, {}] } }],
  })
})

t.test('an object without pods is left alone', async (t) => {
  const object: KubeObject = { spec: {} }
  dropGatedPodFields(object, undefined, AT)
  t.same(object, { spec: {} })
})

t.test('a policy behind a gate is taken from who states one already', async (t) => {
  const policy = (seLinuxChangePolicy: string): KubeObject =>
    podIn({ containers: [], securityContext: { seLinuxChangePolicy } })
  const errors = (object: KubeObject, old?: KubeObject) =>
    gatedPodValueErrors(object, old, AT).map(({ field }) => field)
  t.same(errors(policy('Recursive')), [])
  t.same(errors(policy('MountOption')), ['spec.template.spec.securityContext.seLinuxChangePolicy'])
  t.same(errors(policy('MountOption'), policy('Recursive')), [])
})
