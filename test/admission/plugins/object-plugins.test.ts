import t from 'tap'
import { Permissions } from '#keelson/admission/permissions.js'
import { AlwaysAdmit } from '#keelson/admission/plugins/always-admit.js'
import { AlwaysDeny } from '#keelson/admission/plugins/always-deny.js'
import { requestSubject } from '#keelson/admission/plugins/certificate-request-subject.js'
import { certificateApproval, certificateSigning } from '#keelson/admission/plugins/certificate-signer.js'
import { CertificateSubjectRestriction } from '#keelson/admission/plugins/certificate-subject-restriction.js'
import { ClusterTrustBundleAttest } from '#keelson/admission/plugins/cluster-trust-bundle-attest.js'
import { DefaultIngressClass } from '#keelson/admission/plugins/default-ingress-class.js'
import { DefaultStorageClass } from '#keelson/admission/plugins/default-storage-class.js'
import { DenyServiceExternalIPs } from '#keelson/admission/plugins/deny-service-external-ips.js'
import { EventRateLimit, eventRateLimitErrors } from '#keelson/admission/plugins/event-rate-limit.js'
import { NodeRestriction } from '#keelson/admission/plugins/node-restriction.js'
import { OwnerReferencesPermissionEnforcement } from '#keelson/admission/plugins/owner-references-permission-enforcement.js'
import { PersistentVolumeClaimResize } from '#keelson/admission/plugins/persistent-volume-claim-resize.js'
import { StorageObjectInUseProtection } from '#keelson/admission/plugins/storage-object-in-use-protection.js'
import { TaintNodesByCondition } from '#keelson/admission/plugins/taint-nodes-by-condition.js'
import type { KubeObject } from '#keelson/api/object.js'
import type { Attributes, Authorizer } from '#keelson/auth/interface.js'
import { FakeClock } from '../../support/fake-clock.js'
import { ALICE, ask, FakeObjects, podWith } from '../fixture.js'

/** openssl req -new, for O=system:masters CN=x and O=system:nodes CN=system:node:n. */
const MASTERS_REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZk1JR0hBZ0VBTUNVeEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVFvd0NBWURWUVFEREFGNApNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVFMFA3eTFBUXJrNTBVdERVWW1GMVlYMzJaZ1AxCnpKbWQ1N3J3QjlLbmlVRTB1S0E0cGpkcGlGdEU4RTZ4ZGorb3pGN2hHSFNmWlgrRTUxcmdNVjh3V2FBQU1Bb0cKQ0NxR1NNNDlCQU1DQTBjQU1FUUNJR3J0Y3J0VER0RUtDUkR6aHdONG5Lb1V6V20xbGtqNmNVQThST3h6NHhtSApBaUE1T28rZUxqQlJYRDdyR2RNbXU0SC9nSEFybEx5bDBYVGkxOGYyR2oydDRnPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='
const NODE_REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIcE1JR1JBZ0VBTUM4eEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVXTUJRR0ExVUVBd3dOYzNsegpkR1Z0T201dlpHVTZiakJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCTHlBVzZvM0o0L2FKVVBuCjlxZ1ppWFhUTnFoQkk5Mk1PblkyNy8xVkZIMlVWQ2J5K3BvVFM5T1hzdzdHbHgycnJFeWNHZzUrU1VESjdIL0QKWVAzakZPQ2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkVBaUJMa0ZsRW1NQ1phb0RQanZOSFM5emltL01kNUtlMgppUERYR3djQklPVlJ1d0lnR2EwZHBKd0cydUxpWnRtUS9wKzkxVzZkbUtSY0NHZ2NacnlVNGJIRjE4Zz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='

const allow = (test: (attributes: Attributes) => boolean): Permissions => {
  const authorizer: Authorizer = {
    authorize: (attributes) => ({ decision: test(attributes) ? 'allow' : 'no-opinion', reason: '' }),
  }
  return new Permissions(authorizer)
}

t.test('AlwaysAdmit, AlwaysDeny', async (t) => {
  t.equal(await ask(new AlwaysAdmit(), { object: podWith({}) }), '')
  t.match(await ask(new AlwaysDeny(), { object: podWith({}) }), /^403/)
})

t.test('TaintNodesByCondition, StorageObjectInUseProtection', async (t) => {
  const node: KubeObject = { metadata: { name: 'n' } }
  await ask(new TaintNodesByCondition(), { resource: 'nodes', object: node, namespace: '' })
  await ask(new TaintNodesByCondition(), { resource: 'nodes', object: node, namespace: '' })
  t.same(node['spec'], { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] })
  for (const [resource, finalizer] of [
    ['persistentvolumes', 'kubernetes.io/pv-protection'],
    ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
    ['volumeattributesclasses.storage.k8s.io', 'kubernetes.io/vac-protection'],
  ] as const) {
    const object: KubeObject = { metadata: { name: 'v' } }
    await ask(new StorageObjectInUseProtection(), { resource, object })
    await ask(new StorageObjectInUseProtection(), { resource, object })
    t.same(object.metadata?.finalizers, [finalizer])
  }
})

t.test('the newest default class counts', async (t) => {
  const marked = (name: string, creationTimestamp: string, key: string): KubeObject => ({
    metadata: { name, creationTimestamp, annotations: { [key]: 'true' } },
  })
  const objects = new FakeObjects({
    'storageclasses.storage.k8s.io': [
      marked('old', '2024-01-01T00:00:00Z', 'storageclass.kubernetes.io/is-default-class'),
      marked('new', '2024-01-02T00:00:00Z', 'storageclass.beta.kubernetes.io/is-default-class'),
      { metadata: { name: 'none', creationTimestamp: '2025-01-01T00:00:00Z' } },
    ],
    'ingressclasses.networking.k8s.io': [
      marked('b', '2024-01-02T00:00:00Z', 'ingressclass.kubernetes.io/is-default-class'),
      marked('a', '2024-01-02T00:00:00Z', 'ingressclass.kubernetes.io/is-default-class'),
    ],
  })
  const claim = async (spec: object, annotations = {}): Promise<unknown> => {
    const object: KubeObject = { metadata: { annotations }, spec }
    await ask(new DefaultStorageClass(objects), { resource: 'persistentvolumeclaims', object })
    return (object['spec'] as { storageClassName?: string }).storageClassName
  }
  t.equal(await claim({}), 'new')
  t.equal(await claim({ storageClassName: '' }), '')
  t.equal(await claim({}, { 'volume.beta.kubernetes.io/storage-class': 'x' }), undefined)
  const ingress: KubeObject = {}
  await ask(new DefaultIngressClass(objects), { resource: 'ingresses.networking.k8s.io', object: ingress })
  t.same(ingress['spec'], { ingressClassName: 'a' })
})

t.test('PersistentVolumeClaimResize', async (t) => {
  const objects = new FakeObjects({
    'storageclasses.storage.k8s.io': [
      { metadata: { name: 'grows' }, allowVolumeExpansion: true },
      { metadata: { name: 'fixed' } },
    ],
  })
  const claim = (storage: string, storageClassName: string, phase = 'Bound'): KubeObject => ({
    metadata: { name: 'v' },
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  })
  const resize = (oldObject: KubeObject, object: KubeObject): Promise<string> =>
    ask(new PersistentVolumeClaimResize(objects), { resource: 'persistentvolumeclaims', object, oldObject })
  t.equal(await resize(claim('1Gi', 'grows'), claim('2Gi', 'grows')), '')
  t.match(await resize(claim('1Gi', 'fixed'), claim('2Gi', 'fixed')), /must support resize/)
  t.equal(await resize(claim('1Gi', 'fixed'), claim('1024Mi', 'fixed')), '')
  t.match(await resize(claim('1Gi', 'grows', 'Pending'), claim('2Gi', 'grows')), /Only bound/)
})

t.test('DenyServiceExternalIPs', async (t) => {
  const service = (...externalIPs: string[]): KubeObject => ({ metadata: { name: 's' }, spec: { externalIPs } })
  const write = (object: KubeObject, oldObject?: KubeObject): Promise<string> =>
    ask(new DenyServiceExternalIPs(), {
      resource: 'services',
      object,
      ...(oldObject === undefined ? {} : { oldObject }),
    })
  t.equal(await write(service()), '')
  t.match(await write(service('1.2.3.4')), /^403/)
  t.equal(await write(service('1.2.3.4'), service('1.2.3.4', '1.2.3.5')), '')
  t.match(await write(service('1.2.3.4'), service()), /^403/)
})

t.test('EventRateLimit', async (t) => {
  const clock = new FakeClock()
  const limits = [
    { type: 'Namespace', qps: 1, burst: 2 },
    { type: 'User', qps: 10, burst: 100 },
  ]
  t.same(eventRateLimitErrors({ limits }), [])
  t.equal(eventRateLimitErrors({ limits: [{ type: 'X', qps: 0, burst: 1 }] }).length, 2)
  const plugin = new EventRateLimit({ limits }, clock)
  const send = (namespace: string): Promise<string> =>
    ask(plugin, { resource: 'events', namespace, object: { metadata: { name: 'e' } } })
  t.same([await send('a'), await send('a')], ['', ''])
  t.match(await send('a'), /^429/)
  t.equal(await send('b'), '', 'another namespace has its own')
  await clock.advance(1_000)
  t.equal(await send('a'), '')
})

t.test('certificate plugins ask about the signer', async (t) => {
  const resource = 'certificatesigningrequests.certificates.k8s.io'
  const request = (status: object = {}, signerName = 'example.com/s'): KubeObject => ({
    metadata: { name: 'r' },
    spec: { signerName },
    status,
  })
  const onlyDomain = allow(({ verb, name }) => verb === 'approve' && name === 'example.com/*')
  const nobody = allow(() => false)
  const approve = (permissions: Permissions, oldObject: KubeObject): Promise<string> =>
    ask(certificateApproval(permissions), { resource: `${resource}/approval`, object: request(), oldObject })
  t.equal(await approve(onlyDomain, request()), '')
  t.match(await approve(onlyDomain, request({}, 'other.com/s')), /^403/)
  t.match(await approve(new Permissions(undefined), request()), /^403/, 'nobody to ask')
  const sign = (permissions: Permissions, object: KubeObject): Promise<string> =>
    ask(certificateSigning(permissions), { resource: `${resource}/status`, object, oldObject: request() })
  t.equal(await sign(nobody, request()), '')
  t.match(await sign(nobody, request({ certificate: 'x' })), /^403/)
  t.equal(
    await sign(
      allow(({ verb }) => verb === 'sign'),
      request({ certificate: 'x' }),
    ),
    '',
  )
  const bundle = (trustBundle: string): KubeObject => ({
    metadata: { name: 'b' },
    spec: { signerName: 'x/y', trustBundle },
  })
  const attest = (permissions: Permissions, object: KubeObject, oldObject?: KubeObject): Promise<string> =>
    ask(new ClusterTrustBundleAttest(permissions), {
      resource: 'clustertrustbundles.certificates.k8s.io',
      object,
      ...(oldObject === undefined ? {} : { oldObject }),
    })
  t.match(await attest(nobody, bundle('1')), /^403/)
  t.equal(await attest(nobody, bundle('1'), bundle('1')), '')
  t.equal(
    await attest(
      allow(({ verb }) => verb === 'attest'),
      bundle('1'),
    ),
    '',
  )
})

t.test('CertificateSubjectRestriction', async (t) => {
  t.same(requestSubject(MASTERS_REQUEST), { commonNames: ['x'], organizations: ['system:masters'] })
  t.equal(requestSubject('bm9uc2Vuc2U='), undefined)
  const send = (request: string, signerName: string): Promise<string> =>
    ask(new CertificateSubjectRestriction(), {
      resource: 'certificatesigningrequests.certificates.k8s.io',
      object: { metadata: { name: 'r' }, spec: { request, signerName } },
    })
  t.match(await send(MASTERS_REQUEST, 'kubernetes.io/kube-apiserver-client'), /^403 .*system:masters/)
  t.equal(await send(MASTERS_REQUEST, 'example.com/own'), '')
  t.equal(await send(NODE_REQUEST, 'kubernetes.io/kube-apiserver-client'), '')
  // A signer passes over a block that is all in one line: it would sign what nobody looked at.
  const text = (base64: string): string => Buffer.from(base64, 'base64').toString()
  const decoy = `${text(NODE_REQUEST).replaceAll('\n', '')}\n${text(MASTERS_REQUEST)}`
  t.match(await send(Buffer.from(decoy).toString('base64'), 'kubernetes.io/kube-apiserver-client'), /^403/)
})

t.test('OwnerReferencesPermissionEnforcement', async (t) => {
  const owned = (blockOwnerDeletion?: boolean): KubeObject => ({
    metadata: {
      name: 'c',
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'r',
          uid: 'u',
          ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
        },
      ],
    },
  })
  const write = (permissions: Permissions, object: KubeObject, oldObject?: KubeObject): Promise<string> =>
    ask(
      new OwnerReferencesPermissionEnforcement(permissions, ({ group, version }, kind) =>
        kind === 'ReplicaSet' ? [{ resource: { group, version, resource: 'replicasets' }, namespaced: true }] : [],
      ),
      { resource: 'configmaps', object, ...(oldObject === undefined ? {} : { oldObject }) },
    )
  const nobody = allow(() => false)
  const free: KubeObject = { metadata: { name: 'c' } }
  t.equal(await write(nobody, owned()), '', 'who creates it could have left it')
  t.match(await write(nobody, owned(), free), /can't delete/)
  t.equal(await write(nobody, owned(), owned()), '')
  t.equal(
    await write(
      allow(({ verb }) => verb === 'delete'),
      owned(),
      free,
    ),
    '',
  )
  t.match(await write(nobody, owned(true)), /set finalizers on/)
  const finalizer = allow(
    ({ verb, resource, subresource, namespace }) =>
      `${verb} ${namespace}/${resource}/${subresource}` === 'update a/replicasets/finalizers',
  )
  t.equal(await write(finalizer, owned(true)), '')
})

/** As decoding leaves a list that a client did not give and Go always prints. */
const NO_SOURCES = { name: 'v', projected: { sources: null } }
const TOKEN_VOLUMES = [
  { name: 'api', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
  { name: 'v', projected: { sources: [{ serviceAccountToken: { audience: 'vault', path: 'token' } }] } },
  { name: 'i', csi: { driver: 'inline.io' } },
  { name: 'p', persistentVolumeClaim: { claimName: 'c' } },
  { name: 'e', ephemeral: {} },
]

t.test('NodeRestriction', async (t) => {
  const user = { name: 'system:node:n', uid: '', groups: ['system:nodes'], extra: {} }
  const objects = new FakeObjects({
    nodes: [{ metadata: { name: 'n', uid: 'node-uid' } }],
    pods: [
      podWith({ nodeName: 'n', volumes: TOKEN_VOLUMES }, { name: 'mine', uid: 'mine-uid' }),
      podWith({ nodeName: 'n' }, { name: 'bare', uid: 'bare-uid' }),
      podWith({ nodeName: 'm' }, { name: 'other' }),
    ],
    persistentvolumeclaims: [
      { metadata: { name: 'c', namespace: 'a' }, spec: { volumeName: 'pv' } },
      { metadata: { name: 'mine-e', namespace: 'a' }, spec: { volumeName: 'old' } },
    ],
    persistentvolumes: [
      { metadata: { name: 'pv' }, spec: { csi: { driver: 'claimed.io' } } },
      { metadata: { name: 'old' }, spec: { awsElasticBlockStore: {} } },
    ],
    'csidrivers.storage.k8s.io': ['inline.io', 'claimed.io', 'ebs.csi.aws.com'].map((name) => ({
      metadata: { name },
      spec: { tokenRequests: [{ audience: `for-${name}` }] },
    })),
  })
  const plugin = new NodeRestriction(
    objects,
    allow(
      ({ verb, resource, namespace, name }) =>
        verb === 'request-serviceaccounts-token-audience' && `${resource} ${namespace} ${name}` === 'granted a default',
    ),
  )
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'node-uid', controller: true }
  const mirror = { annotations: { 'kubernetes.io/config.mirror': '1' }, ownerReferences: [owner] }
  const node = (labels: object, spec: object = {}): KubeObject => ({
    metadata: { name: 'n', labels: { ...labels } },
    spec,
  })
  const token = (name: string, uid: string, ...audiences: string[]): KubeObject => ({
    spec: { audiences, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
  })
  const tokenFor = (pod: string, ...audiences: string[]) => ({
    resource: 'serviceaccounts/token',
    object: token(pod, `${pod}-uid`, ...audiences),
    name: 'default',
  })
  const request = (signerName: string, pem: string): KubeObject => ({
    metadata: { name: 'r' },
    spec: { signerName, request: pem },
  })
  const csr = 'certificatesigningrequests.certificates.k8s.io'
  const cases: [string, Parameters<typeof ask>[1], RegExp][] = [
    ['mirror pod', { object: podWith({ nodeName: 'n' }, mirror) }, /^$/],
    ['plain pod', { object: podWith({ nodeName: 'n' }) }, /mirror/],
    ['pod of another', { object: podWith({ nodeName: 'm' }, mirror) }, /nodeName/],
    ['pod with a secret', { object: podWith({ nodeName: 'n', imagePullSecrets: [{ name: 's' }] }, mirror) }, /secrets/],
    ['pod with a volume of no sources', { object: podWith({ nodeName: 'n', volumes: [NO_SOURCES] }, mirror) }, /^$/],
    ['pod with a claim', { object: podWith({ nodeName: 'n', resourceClaims: [{}] }, mirror) }, /resourceclaims/],
    [
      'wrong uid',
      { object: podWith({ nodeName: 'n' }, { ...mirror, ownerReferences: [{ ...owner, uid: 'x' }] }) },
      /uid/,
    ],
    ['update of a pod', { object: podWith({}), oldObject: podWith({}) }, /unexpected operation/],
    ['delete own pod', { operation: 'DELETE', name: 'mine' }, /^$/],
    ['delete a pod of another', { operation: 'DELETE', name: 'other' }, /delete pods/],
    ['evict', { resource: 'pods/eviction', name: 'mine', object: {} }, /^$/],
    ['evict another', { resource: 'pods/eviction', name: 'other', object: {} }, /evict/],
    ['exec', { resource: 'pods/resize', object: {}, oldObject: {} }, /subresource/],
    [
      'status of own pod',
      { resource: 'pods/status', object: podWith({ nodeName: 'n' }), oldObject: podWith({ nodeName: 'n' }) },
      /^$/,
    ],
    [
      'labels by status',
      {
        resource: 'pods/status',
        object: podWith({ nodeName: 'n' }, { labels: { a: 'b' } }),
        oldObject: podWith({ nodeName: 'n' }),
      },
      /labels/,
    ],
    ['own node', { resource: 'nodes', object: node({ 'kubernetes.io/hostname': 'n', 'example.com/x': '1' }) }, /^$/],
    ['another node', { resource: 'nodes', object: { metadata: { name: 'm' } } }, /modify node/],
    ['restricted label', { resource: 'nodes', object: node({ 'node-restriction.kubernetes.io/x': '1' }) }, /labels/],
    ['unknown label', { resource: 'nodes', object: node({ 'x.k8s.io/y': '1' }) }, /labels/],
    ['taints', { resource: 'nodes', object: node({}, { taints: [{ key: 'a' }] }), oldObject: node({}) }, /taints/],
    ['own token', { resource: 'serviceaccounts/token', object: token('mine', 'mine-uid'), name: 'default' }, /^$/],
    ['token without pod', { resource: 'serviceaccounts/token', object: { spec: {} }, name: 'default' }, /not bound/],
    ['token of another pod', { resource: 'serviceaccounts/token', object: token('other', 'x'), name: 'd' }, /UID/],
    ['a token that no volume asks for', tokenFor('bare'), /no volume .* the audience ""/],
    ['an audience of a volume', tokenFor('mine', 'vault'), /^$/],
    ['an audience of a volume of another pod', tokenFor('bare', 'vault'), /no volume .* the audience "vault"/],
    ['an audience of a driver', tokenFor('mine', 'for-inline.io'), /^$/],
    ['an audience of a claim’s driver', tokenFor('mine', 'for-claimed.io'), /^$/],
    ['an audience of a driver for older volumes', tokenFor('mine', 'for-ebs.csi.aws.com'), /^$/],
    ['an audience that may be asked for', tokenFor('bare', 'granted'), /^$/],
    ['an audience of nobody', tokenFor('mine', 'bank'), /no volume .* the audience "bank"/],
    ['two audiences', tokenFor('mine', 'vault', ''), /one audience at most/],
    [
      'own lease',
      { resource: 'leases.coordination.k8s.io', namespace: 'kube-node-lease', object: { metadata: { name: 'n' } } },
      /^$/,
    ],
    ['lease elsewhere', { resource: 'leases.coordination.k8s.io', object: { metadata: { name: 'n' } } }, /leases/],
    ['csinode', { resource: 'csinodes.storage.k8s.io', object: { metadata: { name: 'm' } } }, /CSINode/],
    ['slice', { resource: 'resourceslices.resource.k8s.io', object: { spec: { nodeName: 'm' } } }, /ResourceSlice/],
    ['own slice', { resource: 'resourceslices.resource.k8s.io', object: { spec: { nodeName: 'n' } } }, /^$/],
    ['own request', { resource: csr, object: request('kubernetes.io/kubelet-serving', NODE_REQUEST) }, /^$/],
    ['request for another', { resource: csr, object: request('kubernetes.io/kubelet-serving', MASTERS_REQUEST) }, /CN/],
    ['claim', { resource: 'persistentvolumeclaims', object: {}, oldObject: {} }, /PVC status/],
    [
      'claim status',
      {
        resource: 'persistentvolumeclaims/status',
        object: { metadata: { name: 'v' }, status: { capacity: { storage: '2Gi' } } },
        oldObject: { metadata: { name: 'v' }, status: {} },
      },
      /^$/,
    ],
    ['what is nobody’s business', { resource: 'configmaps', object: { metadata: { name: 'c' } } }, /^$/],
  ]
  for (const [title, asked, answer] of cases) t.match(await ask(plugin, { ...asked, user }), answer, title)
  t.equal(await ask(plugin, { object: podWith({}), user: ALICE }), '', 'everybody else is let alone')
  t.match(await ask(plugin, { object: podWith({}), user: { ...user, name: 'system:node:' } }), /could not determine/)
})
