import t from 'tap'
import { podSecurityErrors } from '#keelson/admission/plugins/pod-security/configuration.js'
import { evaluate, violationReasons } from '#keelson/admission/plugins/pod-security/evaluate.js'
import { PodSecurity } from '#keelson/admission/plugins/pod-security/pod-security.js'
import { DEFAULT_POLICY, formatLevel, type Level, policyOf } from '#keelson/admission/plugins/pod-security/policy.js'
import type { PodSpec } from '#keelson/api/generated/kinds/core.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ask, attributes, FakeObjects, namespaceObject, podWith } from '../../fixture.js'

const hardened = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}
const container = (securityContext: object = {}, more: object = {}): PodSpec => ({
  containers: [{ name: 'c', image: 'i', securityContext: { ...hardened, ...securityContext }, ...more }],
})

t.test('every check of both levels', (t) => {
  const reasons = (level: Level, spec: PodSpec, annotations = {}, version: number | 'latest' = 'latest'): string =>
    violationReasons(evaluate({ level, version }, { metadata: { annotations }, spec }))
  const baseline: [PodSpec, string][] = [
    [container(), ''],
    [container({ appArmorProfile: { type: 'Unconfined' } }), 'forbidden AppArmor profile'],
    [container({ capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } }), 'non-default capabilities'],
    [container({ capabilities: { drop: ['ALL'], add: ['CHOWN'] } }), ''],
    [{ ...container(), hostNetwork: true, hostPID: true }, 'host namespaces'],
    [{ ...container(), volumes: [{ name: 'v', hostPath: {} }] }, 'hostPath volumes'],
    [container({}, { ports: [{ hostPort: 80 }] }), 'hostPort'],
    [container({}, { livenessProbe: { httpGet: { host: 'x' } } }), 'probe or lifecycle host'],
    [container({}, { lifecycle: { preStop: { tcpSocket: { host: 'x' } } } }), 'probe or lifecycle host'],
    [container({ privileged: true }), 'privileged'],
    [container({ procMount: 'Unmasked' }), 'procMount'],
    [{ ...container({ procMount: 'Unmasked' }), hostUsers: false }, ''],
    [container({ seLinuxOptions: { type: 'spc_t' } }), 'seLinuxOptions'],
    [container({ seLinuxOptions: { type: 'container_engine_t' } }), ''],
    [container({ seLinuxOptions: { user: 'u' } }), 'seLinuxOptions'],
    [container({ seccompProfile: { type: 'Unconfined' } }), 'seccompProfile'],
    [{ ...container(), securityContext: { sysctls: [{ name: 'kernel.msgmax' }] } }, 'forbidden sysctls'],
    [{ ...container(), securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }] } }, ''],
    [{ ...container(), securityContext: { windowsOptions: { hostProcess: true } } }, 'hostProcess'],
  ]
  for (const [spec, expected] of baseline) {
    t.equal(reasons('baseline', spec), expected, JSON.stringify(spec))
    t.equal(reasons('privileged', spec), '')
  }
  const restricted: [PodSpec, string][] = [
    [container(), ''],
    [container({ allowPrivilegeEscalation: true }), 'allowPrivilegeEscalation != false'],
    [container({ capabilities: {} }), 'unrestricted capabilities'],
    [container({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }), ''],
    [container({ capabilities: { drop: ['ALL'], add: ['CHOWN'] } }), 'unrestricted capabilities'],
    [{ ...container({ procMount: 'Unmasked' }), hostUsers: false }, 'procMount'],
    [{ ...container(), volumes: [{ name: 'v', nfs: {} }] }, 'restricted volume types'],
    [{ ...container(), volumes: [{ name: 'v', hostPath: {} }] }, 'restricted volume types'],
    [{ ...container(), volumes: [{ name: 'v', projected: {} }] }, ''],
    [container({ runAsNonRoot: false }), 'runAsNonRoot != true'],
    [{ ...container({ runAsNonRoot: false }), hostUsers: false }, ''],
    [container({ runAsUser: 0 }), 'runAsUser=0'],
    [container({ seccompProfile: { type: 'Unconfined' } }), 'seccompProfile'],
    [
      { containers: [{ name: 'c' }] },
      'allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
    ],
    [{ containers: [{ name: 'c' }], os: { name: 'windows' } }, 'runAsNonRoot != true'],
    [
      {
        ...container(),
        hostNetwork: true,
        containers: [{ name: 'c', securityContext: { ...hardened, runAsUser: 0 } }],
      },
      'host namespaces, runAsUser=0',
    ],
  ]
  for (const [spec, expected] of restricted) t.equal(reasons('restricted', spec), expected, JSON.stringify(spec))
  t.equal(reasons('restricted', container({ runAsUser: 0 }), {}, 22), '', 'older rules')
  t.equal(
    reasons('baseline', { ...container(), securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }] } }, {}, 31),
    'forbidden sysctls',
  )
  const seccomp = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' }
  t.equal(reasons('baseline', container(), seccomp, 18), 'seccompProfile')
  t.equal(reasons('baseline', container(), seccomp), '')
  const appArmor = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }
  t.equal(reasons('baseline', container(), appArmor), 'forbidden AppArmor profile')
  t.end()
})

t.test('labels choose the policy', (t) => {
  const shown = (labels: Record<string, string>): string[] => {
    const { policy, errors } = policyOf(labels, DEFAULT_POLICY)
    return [policy.enforce, policy.audit, policy.warn].map(formatLevel).concat(errors.map(({ field }) => field))
  }
  const p = 'pod-security.kubernetes.io'
  t.same(shown({}), ['privileged:latest', 'privileged:latest', 'privileged:latest'])
  t.same(shown({ [`${p}/enforce`]: 'baseline', [`${p}/enforce-version`]: 'v1.30' }), [
    'baseline:v1.30',
    'privileged:latest',
    'baseline:v1.30',
  ])
  t.same(shown({ [`${p}/enforce`]: 'restricted', [`${p}/warn`]: 'baseline' }), [
    'restricted:latest',
    'privileged:latest',
    'baseline:latest',
  ])
  t.same(shown({ [`${p}/enforce`]: 'x', [`${p}/audit-version`]: '1' }), [
    'restricted:latest',
    'privileged:latest',
    'privileged:latest',
    `metadata.labels[${p}/enforce]`,
    `metadata.labels[${p}/audit-version]`,
  ])
  t.end()
})

const labelled = (name: string, labels: Record<string, string>): KubeObject =>
  namespaceObject(name, {
    metadata: {
      labels: Object.fromEntries(Object.entries(labels).map(([k, v]) => [`pod-security.kubernetes.io/${k}`, v])),
    },
  })

t.test('pods are refused, workloads are warned, the exempt are let alone', async (t) => {
  const objects = new FakeObjects({
    namespaces: [labelled('a', { enforce: 'baseline', audit: 'restricted' }), labelled('free', {})],
  })
  const plugin = new PodSecurity(objects, {
    exemptions: { usernames: ['root'], runtimeClasses: ['vm'], namespaces: ['kube-system'] },
  })
  const bad = { hostNetwork: true }
  t.match(await ask(plugin, { object: podWith(bad) }), /^403 .*violates PodSecurity "baseline:latest": host namespaces/)
  t.equal(await ask(plugin, { object: podWith(bad), namespace: 'free' }), '')
  t.equal(await ask(plugin, { object: podWith(bad), namespace: 'kube-system' }), '')
  t.equal(await ask(plugin, { object: podWith({ ...bad, runtimeClassName: 'vm' }) }), '')
  const root = { name: 'root', uid: '', groups: [], extra: {} }
  t.equal(await ask(plugin, { object: podWith(bad), user: root }), '')
  t.equal(await ask(plugin, { object: podWith(bad), oldObject: podWith(bad) }), '', 'no new image')
  const deployment = attributes({
    resource: 'deployments.apps',
    object: { metadata: { name: 'd' }, spec: { template: podWith(bad) } },
  })
  await plugin.validate(deployment)
  t.match(deployment.warnings, [/would violate PodSecurity "baseline:latest": host namespaces \(hostNetwork=true\)/])
  t.match(deployment.annotations.get('pod-security.kubernetes.io/audit-violations'), /restricted:latest/)
})

t.test('a namespace that raises its level learns of the pods that are there', async (t) => {
  const pods = ['x', 'y'].map((name) => podWith({ hostPID: true }, { name }))
  const plugin = new PodSecurity(new FakeObjects({ pods }))
  const given = attributes({
    resource: 'namespaces',
    name: 'a',
    object: labelled('a', { enforce: 'baseline' }),
    oldObject: labelled('a', {}),
  })
  await plugin.validate(given)
  t.same(given.warnings, [
    'existing pods in namespace "a" violate the new PodSecurity enforce level "baseline:latest"',
    'x (and 1 other pod): host namespaces',
  ])
  const wrong = { resource: 'namespaces', name: 'a', object: labelled('a', { warn: 'x' }) }
  t.match(await ask(plugin, wrong), /^422/)
  t.equal(await ask(plugin, { ...wrong, oldObject: labelled('a', { warn: 'x' }) }), '', 'it was wrong before')
  t.equal(
    podSecurityErrors({ defaults: { enforce: 'x', 'warn-version': 'y' }, exemptions: { usernames: [''] } }).length,
    3,
  )
})
