import t from 'tap'
import { NodeAuthorizer } from '#keelson/auth/authz/node-authorizer.js'
import { NODE_RESOURCES, NodeGraph } from '#keelson/auth/authz/node-graph.js'
import type { Attributes } from '#keelson/auth/interface.js'
import { RbacMemory, type Thing } from './rbac-memory.js'

const thing = (resource: string, metadata: object, more: object): Thing => ({
  resource,
  object: { metadata: { ...metadata, resourceVersion: '' }, ...more } as unknown as Thing['object'],
})
const pod = (name: string, nodeName: string, spec: object = {}, more: object = {}): Thing =>
  thing('pods', { namespace: 'a', name, ...more }, { spec: { nodeName, ...spec } })

function setUp() {
  const memory = new RbacMemory({
    pods: NODE_RESOURCES[0],
    volumes: NODE_RESOURCES[1],
    attachments: NODE_RESOURCES[2],
    slices: NODE_RESOURCES[3],
  })
  const authorizer = new NodeAuthorizer(new NodeGraph(memory.source))
  const may = (node: string, what: Partial<Attributes>, groups = ['system:nodes']): boolean => {
    const attributes: Attributes = {
      user: { name: `system:node:${node}`, uid: '', groups, extra: {} },
      verb: 'get',
      isResourceRequest: true,
      namespace: 'a',
      apiGroup: '',
      apiVersion: 'v1',
      resource: '',
      subresource: '',
      name: '',
      path: '',
      ...what,
    }
    return authorizer.authorize(attributes).decision === 'allow'
  }
  return { memory, authorizer, may }
}

const SPEC = {
  serviceAccountName: 'robot',
  imagePullSecrets: [{ name: 'pull' }],
  initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'by-env' } } }] }],
  containers: [{ envFrom: [{ secretRef: { name: 'by-envfrom' } }, { configMapRef: { name: 'settings' } }] }],
  ephemeralContainers: [{ env: [{ valueFrom: { configMapKeyRef: { name: 'by-debug' } } }] }],
  volumes: [
    { name: 's', secret: { secretName: 'by-volume' } },
    {
      name: 'p',
      projected: { sources: [{ secret: { name: 'by-projection' } }, { configMap: { name: 'projected' } }] },
    },
    { name: 'c', configMap: { name: 'by-config-volume' } },
    { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'scratch', ephemeral: {} },
    { name: 'f', csi: { nodePublishSecretRef: { name: 'by-csi' } } },
    { name: 'i', iscsi: { secretRef: { name: 'by-iscsi' } } },
  ],
  resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu-claim' }],
}

t.test('a node reads what its pods name, while they are there, and nothing else', async (t) => {
  const { memory, may } = setUp()
  memory.put(pod('p', 'n1', SPEC))
  memory.put(
    thing(
      'volumes',
      { name: 'pv' },
      {
        spec: {
          claimRef: { namespace: 'a', name: 'data' },
          csi: {
            nodeStageSecretRef: { name: 'stage', namespace: 'vault' },
            controllerExpandSecretRef: { name: 'no', namespace: 'vault' },
          },
        },
      },
    ),
  )
  const readable: Partial<Attributes>[] = [
    ...['pull', 'by-env', 'by-envfrom', 'by-volume', 'by-projection', 'by-csi', 'by-iscsi'].map((name) => ({
      resource: 'secrets',
      name,
    })),
    ...['settings', 'by-debug', 'projected', 'by-config-volume'].map((name) => ({ resource: 'configmaps', name })),
    { resource: 'secrets', name: 'pull', verb: 'watch' },
    { resource: 'secrets', name: 'stage', namespace: 'vault' },
    { resource: 'persistentvolumeclaims', name: 'data' },
    { resource: 'persistentvolumeclaims', name: 'p-scratch' },
    { resource: 'persistentvolumeclaims', name: 'data', subresource: 'status', verb: 'patch' },
    { resource: 'persistentvolumes', name: 'pv', namespace: '' },
    { resource: 'resourceclaims', apiGroup: 'resource.k8s.io', name: 'gpu-claim' },
    { resource: 'serviceaccounts', name: 'robot' },
    { resource: 'serviceaccounts', name: 'robot', subresource: 'token', verb: 'create' },
    { resource: 'pods', name: 'p' },
  ]
  for (const what of readable) {
    t.ok(may('n1', what), JSON.stringify(what))
    t.notOk(may('n2', what), `another node: ${JSON.stringify(what)}`)
    t.notOk(may('n1', what, []), `not in the group: ${JSON.stringify(what)}`)
    t.notOk(may('', what), 'no node')
  }
  for (const what of [
    { resource: 'secrets', name: 'other' },
    { resource: 'secrets', name: 'pull', namespace: 'b' },
    { resource: 'secrets', name: 'pull', verb: 'update' },
    { resource: 'secrets', name: '', verb: 'list' },
    { resource: 'secrets', name: 'no', namespace: 'vault' },
    { resource: 'persistentvolumeclaims', name: 'data', verb: 'list' },
    { resource: 'serviceaccounts', name: 'other', subresource: 'token', verb: 'create' },
    { resource: 'serviceaccounts', name: '', subresource: 'token', verb: 'create' },
  ])
    t.notOk(may('n1', what), JSON.stringify(what))
  memory.put(pod('q', 'n1', { volumes: [{ name: 's', secret: { secretName: 'by-volume' } }] }))
  memory.delete(pod('p', 'n1'))
  t.ok(may('n1', { resource: 'secrets', name: 'by-volume' }), 'another pod still names it')
  t.notOk(may('n1', { resource: 'secrets', name: 'pull' }))
  t.notOk(may('n1', { resource: 'secrets', name: 'stage', namespace: 'vault' }))
  memory.put(pod('mirror', 'n1', SPEC, { annotations: { 'kubernetes.io/config.mirror': 'x' } }))
  t.notOk(may('n1', { resource: 'secrets', name: 'pull' }), 'a mirror pod gives nothing')
  memory.ready('pods', false)
  t.ok(may('n1', { resource: 'secrets', name: 'by-volume' }), 'what was last known stays in force')
  t.notOk(may('n2', { resource: 'secrets', name: 'by-volume' }))
})

t.test('a node and what is about it', async (t) => {
  const { memory, may } = setUp()
  memory.put(pod('p', 'n1'))
  memory.put(thing('attachments', { name: 'va' }, { spec: { nodeName: 'n1' } }))
  memory.put(thing('slices', { name: 'sl' }, { spec: { nodeName: 'n1' } }))
  const lease = { resource: 'leases', apiGroup: 'coordination.k8s.io', namespace: 'kube-node-lease' }
  const slices = { resource: 'resourceslices', apiGroup: 'resource.k8s.io', namespace: '' }
  const yes: Partial<Attributes>[] = [
    { resource: 'nodes', name: 'n1', namespace: '' },
    { resource: 'nodes', name: 'n1', namespace: '', verb: 'watch' },
    { resource: 'nodes', namespace: '', verb: 'create' },
    { resource: 'nodes', name: 'n1', namespace: '', subresource: 'status', verb: 'patch' },
    { ...lease, name: 'n1', verb: 'update' },
    { ...lease, verb: 'create' },
    { resource: 'csinodes', apiGroup: 'storage.k8s.io', namespace: '', name: 'n1', verb: 'delete' },
    { resource: 'volumeattachments', apiGroup: 'storage.k8s.io', namespace: '', name: 'va' },
    { ...slices, name: 'sl', verb: 'update' },
    { ...slices, verb: 'list', fieldSelector: 'spec.nodeName=n1' },
    { resource: 'pods', verb: 'list', namespace: '', fieldSelector: 'spec.nodeName=n1' },
    { resource: 'pods', verb: 'list', namespace: '', fieldSelector: 'status.phase!=Failed,spec.nodeName=n1' },
    { resource: 'pods', verb: 'create' },
    { resource: 'pods', name: 'p', subresource: 'eviction', verb: 'create' },
    { resource: 'services', verb: 'list', namespace: '' },
    { resource: 'events', verb: 'create' },
    { resource: 'certificatesigningrequests', apiGroup: 'certificates.k8s.io', namespace: '', verb: 'create' },
  ]
  const no: Partial<Attributes>[] = [
    { resource: 'nodes', name: 'n2', namespace: '' },
    { resource: 'nodes', namespace: '', verb: 'list' },
    { resource: 'nodes', name: 'n1', namespace: '', verb: 'delete' },
    { resource: 'nodes', name: 'n1', namespace: '', subresource: 'proxy' },
    { ...lease, name: 'n2', verb: 'update' },
    { ...lease, namespace: 'a', name: 'n1', verb: 'update' },
    { ...lease, verb: 'list' },
    { resource: 'csinodes', apiGroup: 'storage.k8s.io', namespace: '', name: 'n2' },
    { resource: 'volumeattachments', apiGroup: 'storage.k8s.io', namespace: '', name: 'vb' },
    { ...slices, verb: 'list' },
    { ...slices, verb: 'list', fieldSelector: 'spec.nodeName=n2' },
    { resource: 'pods', verb: 'list', namespace: '' },
    { resource: 'pods', verb: 'list', namespace: '', fieldSelector: 'spec.nodeName!=n1' },
    { resource: 'pods', verb: 'list', namespace: '', fieldSelector: 'spec.nodeName=n2' },
    { resource: 'pods', verb: 'list', namespace: '', fieldSelector: 'spec.nodeName=n1\\x' },
    { resource: 'pods', name: 'p', subresource: 'exec', verb: 'create' },
    { resource: 'services', verb: 'delete', name: 's' },
    { resource: 'clusterroles', apiGroup: 'rbac.authorization.k8s.io', namespace: '', verb: 'create' },
    { isResourceRequest: false, path: '/metrics' },
  ]
  for (const what of yes) t.ok(may('n1', what), JSON.stringify(what))
  for (const what of no) t.notOk(may('n1', what), JSON.stringify(what))
})
