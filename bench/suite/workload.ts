/** What servers are given to hold, in a namespace of its own. */
import { get } from 'node:https'
import autocannon from 'autocannon'
import type { Target } from './servers.js'

const NAMESPACE = 'keelson-bench'
const BASE = `/api/v1/namespaces/${NAMESPACE}`
export const PODS = `${BASE}/pods`
export const CONFIGMAPS = `${BASE}/configmaps`
export const ONE_POD = `${PODS}/one`
/** Those that watchers look at. */
export const WATCHED = `${CONFIGMAPS}?watch=1&labelSelector=watched%3Dyes`
export const WATCHED_OBJECTS = 16
export const CREATED = JSON.stringify({ metadata: { generateName: 'bench-' }, data: { text: 'x'.repeat(900) } })

/** 4 KB as it is read. */
const pod = (metadata: object): object => ({
  metadata: { ...metadata, annotations: { padding: 'x'.repeat(2600) } },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'registry.example.com/app:1' }] },
})

/** A pod with a name of the server's choice. */
export const POD = JSON.stringify(pod({ generateName: 'pod-' }))

export async function request(
  { url, token }: Target,
  method: string,
  target: string,
  body?: object,
  contentType = 'application/json',
): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const answer = await fetch(`${url}${target}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType, 'accept-encoding': 'identity' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

export async function read(target: Target, path: string): Promise<Buffer> {
  const { status, bytes } = await request(target, 'GET', path)
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${bytes.toString().slice(0, 300)}`)
  return bytes
}

/**
 * Receives an answer and keeps nothing of it: how many bytes it has. fetch() takes longer for 40 MB than the server.
 */
export async function receive({ url, token }: Target, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    get(`${url}${path}`, { headers, rejectUnauthorized: false }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength
      })
      answer.once('error', reject)
      answer.once('end', () => {
        if (answer.statusCode === 200) resolve(bytes)
        else reject(new Error(`GET ${path}: ${answer.statusCode}`))
      })
    }).once('error', reject)
  })
}

async function create(target: Target, path: string, object: object): Promise<void> {
  const { status, bytes } = await request(target, 'POST', path, object)
  if (status !== 201 && status !== 409) throw new Error(`POST ${path}: ${status} ${bytes.toString().slice(0, 300)}`)
}

/** The namespace and the objects that are named. What is there already stays. */
export async function prepare(target: Target): Promise<void> {
  await create(target, '/api/v1/namespaces', { metadata: { name: NAMESPACE } })
  await create(target, `${BASE}/serviceaccounts`, { metadata: { name: 'default' } })
  await create(target, PODS, pod({ name: 'one' }))
  for (let i = 0; i < WATCHED_OBJECTS; i++)
    await create(target, CONFIGMAPS, { metadata: { name: `watched-${i}`, labels: { watched: 'yes' } }, data: {} })
}

export async function countPods(target: Target): Promise<number> {
  const page = JSON.parse((await read(target, `${PODS}?limit=1`)).toString()) as {
    items: unknown[]
    metadata: { remainingItemCount?: number }
  }
  return page.items.length + (page.metadata.remainingItemCount ?? 0)
}

/** Pods until there are so many. */
export async function fill(target: Target, pods: number): Promise<void> {
  const missing = pods - (await countPods(target))
  if (missing <= 0) return
  const { non2xx, errors, requests } = await autocannon({
    url: `${target.url}${PODS}`,
    method: 'POST',
    connections: Math.min(16, missing),
    amount: missing,
    headers: { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' },
    body: POD,
    tlsOptions: { rejectUnauthorized: false },
  })
  if (non2xx + errors > 0) throw new Error(`${non2xx + errors} of ${requests.total} pods were not created`)
}

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1'
const policyName = (i: number): string => `${NAMESPACE}-${i}`

/** Validating policies of two expressions each that every ConfigMap of the namespace is subject to, until there are so many. */
export async function addPolicies(target: Target, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const metadata = { name: policyName(i) }
    await create(target, `${REGISTRATION}/validatingadmissionpolicies`, {
      metadata,
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        },
        validations: [
          { expression: "object.metadata.name.startsWith('bench-')", message: 'another name' },
          { expression: "!has(object.data) || object.data.all(key, key != 'secret')" },
        ],
      },
    })
    const spec = { policyName: policyName(i), validationActions: ['Deny'] }
    await create(target, `${REGISTRATION}/validatingadmissionpolicybindings`, { metadata, spec })
  }
}

export async function removePolicies(target: Target, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    for (const resource of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'])
      await request(target, 'DELETE', `${REGISTRATION}/${resource}/${policyName(i)}`)
}

/** A validating webhook that every ConfigMap of the namespace is shown to. */
export async function addWebhook(target: Target, clientConfig: object): Promise<void> {
  await create(target, `${REGISTRATION}/validatingwebhookconfigurations`, {
    metadata: { name: NAMESPACE },
    webhooks: [
      {
        name: `${NAMESPACE}.example.com`,
        clientConfig,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
    ],
  })
}

export async function removeWebhook(target: Target): Promise<void> {
  await request(target, 'DELETE', `${REGISTRATION}/validatingwebhookconfigurations/${NAMESPACE}`)
}

/** So that a server that goes on running is as it was. */
export async function cleanUp(target: Target): Promise<void> {
  for (const collection of [PODS, CONFIGMAPS]) await request(target, 'DELETE', collection, { gracePeriodSeconds: 0 })
  await request(target, 'DELETE', `/api/v1/namespaces/${NAMESPACE}`)
}
