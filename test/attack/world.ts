/** What the server holds before the attack: roles for the attackers, nodes that point to them, and what nobody may touch. */
import { until } from '../support/until.js'
import type { AttackedServer } from './attacked-server.js'
import { FEW_RIGHTS, type Right } from './rights.js'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'

/** It stands in everything that users of few rights may not read: an answer to them that holds it is wrong. */
export const CANARY = 'canary-4c1d9b'

const ALL = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/** Users who may do much, each in the one way that its attack needs. */
const ATTACK_RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  quiet: [{ verbs: ALL, group: '', resource: 'configmaps', namespace: 'quiet' }],
  prober: ['pods/proxy', 'pods/exec', 'pods/attach', 'pods/portforward', 'pods/log', 'nodes/proxy', 'services/proxy']
    .map((resource): Right => ({ verbs: ['get', 'create', 'update', 'delete', 'patch'], group: '', resource }))
    .concat({ verbs: ['get'], group: '', resource: 'nodes' }),
  /** Only with dryRun, which roles cannot say; that it has changed nothing is looked at in the end. */
  fuzzer: [{ verbs: ALL, group: '*', resource: '*' }],
  crowd: [{ verbs: ALL, group: '', resource: '*', namespace: 'crowd' }],
}

export interface Ports {
  readonly hostileKubelet: number
  readonly trapKubelet: number
  readonly hostilePage: number
  /** Where pages are reached: no server goes to its own loopback for a pod. Undefined: this machine has no other address. */
  readonly pageAddress: string | undefined
}

const NAMESPACES = ['quiet', 'dev', 'vault', 'attack', 'crowd']

/** Waits for what the server's own controllers put into every namespace: later it would look like the work of an attacker. */
async function settled(server: AttackedServer): Promise<void> {
  const made = NAMESPACES.flatMap((namespace) => [
    `/api/v1/namespaces/${namespace}/serviceaccounts/default`,
    `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`,
  ])
  for (const target of made)
    await until(async () => (await server.admin('GET', target)).status === 200, {
      what: `a controller to make ${target}`,
    })
}

export async function prepareWorld(server: AttackedServer, ports: Ports): Promise<void> {
  for (const name of NAMESPACES) await server.make('/api/v1/namespaces', { metadata: { name } })
  await settled(server)
  for (const [user, rights] of Object.entries({ ...FEW_RIGHTS, ...ATTACK_RIGHTS })) await grant(server, user, rights)
  await node(server, 'hostile', ports.hostileKubelet)
  await node(server, 'trap', ports.trapKubelet)
  await pod(server, 'attack', 'p', 'hostile')
  await pod(server, 'dev', 'dp', 'trap')
  await pod(server, 'vault', 'vp', 'trap', { canary: CANARY })
  await page(server, ports)
  for (const namespace of ['dev', 'vault']) {
    const annotations = namespace === 'vault' ? { canary: CANARY } : {}
    await server.make(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'c1', annotations } })
    await server.make(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'mine', annotations } })
    await server.make(`/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'other', annotations: { canary: CANARY } },
    })
  }
}

/** What nobody may have changed, by URL: versions of all that is there. */
export async function untouched(server: AttackedServer): Promise<Map<string, string>> {
  const seen = new Map<string, string>()
  for (const url of [
    '/api/v1/namespaces/vault/configmaps',
    '/api/v1/namespaces/vault/pods',
    '/api/v1/secrets',
    '/api/v1/nodes',
    '/api/v1/namespaces',
    '/api/v1/serviceaccounts',
    ...['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map((resource) => `${RBAC}/${resource}`),
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/apps/v1/deployments',
  ]) {
    const { status, text } = await server.admin('GET', url)
    if (status !== 200) throw new Error(`GET ${url}: ${status} ${text}`)
    const { items } = JSON.parse(text) as {
      items: { metadata: { namespace?: string; name: string; resourceVersion: string } }[]
    }
    const versions = items
      .map(({ metadata: { namespace = '', name, resourceVersion } }) => `${namespace}/${name}@${resourceVersion}`)
      // The crowd makes and deletes secrets in its own namespace.
      .filter((version) => !version.startsWith('crowd/'))
    seen.set(url, versions.sort().join(' '))
  }
  return seen
}

async function grant(server: AttackedServer, user: string, rights: readonly Right[]): Promise<void> {
  for (const [i, { verbs, group, resource, namespace, name }] of rights.entries()) {
    const roleName = `${user}-${i}`
    const scope = namespace === undefined ? '' : `namespaces/${namespace}/`
    const [role, binding, kind] =
      namespace === undefined
        ? ['clusterroles', 'clusterrolebindings', 'ClusterRole']
        : ['roles', 'rolebindings', 'Role']
    const rule = {
      apiGroups: [group],
      resources: [resource],
      verbs,
      ...(name === undefined ? {} : { resourceNames: [name] }),
    }
    await server.make(`${RBAC}/${scope}${role}`, { metadata: { name: roleName }, rules: [rule] })
    await server.make(`${RBAC}/${scope}${binding}`, {
      metadata: { name: roleName },
      subjects: [{ apiGroup: GROUP, kind: 'User', name: user }],
      roleRef: { apiGroup: GROUP, kind, name: roleName },
    })
  }
}

async function node(server: AttackedServer, name: string, kubeletPort: number): Promise<void> {
  await server.make('/api/v1/nodes', { metadata: { name, annotations: { canary: CANARY } } })
  await setStatus(server, `/api/v1/nodes/${name}`, {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
  })
}

async function pod(
  server: AttackedServer,
  namespace: string,
  name: string,
  nodeName: string,
  annotations: object = {},
  containerPort = 80,
): Promise<void> {
  await server.make(`/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name, annotations },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort }] }],
    },
  })
}

/** A pod whose pages are hostile. */
async function page(server: AttackedServer, { hostilePage, pageAddress }: Ports): Promise<void> {
  await pod(server, 'attack', 'page', 'hostile', {}, hostilePage)
  if (pageAddress === undefined) return
  await setStatus(server, '/api/v1/namespaces/attack/pods/page', {
    phase: 'Running',
    podIP: pageAddress,
    podIPs: [{ ip: pageAddress }],
  })
}

async function setStatus(server: AttackedServer, url: string, status: object): Promise<void> {
  const done = await server.admin('PATCH', `${url}/status`, { status }, 'application/merge-patch+json')
  if (done.status !== 200) throw new Error(`PATCH ${url}/status: ${done.status} ${done.text}`)
}
