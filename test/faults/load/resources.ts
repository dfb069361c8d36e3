/** The resources that the load works with: where they are served and what an object of them is besides its metadata. */
export interface LoadResource {
  readonly name: string
  readonly path: string
  readonly apiVersion: string
  readonly kind: string
  /** The rest of an object; the number varies it. */
  readonly body: (n: number) => object
}

export const CONFIG_MAPS: LoadResource = {
  name: 'configmaps',
  path: '/api/v1',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  body: (n) => ({ data: { n: String(n), text: 'x'.repeat((n * 37) % 700) } }),
}

export const SECRETS: LoadResource = {
  name: 'secrets',
  path: '/api/v1',
  apiVersion: 'v1',
  kind: 'Secret',
  body: (n) => ({ stringData: { n: String(n) } }),
}

export const LEASES: LoadResource = {
  name: 'leases',
  path: '/apis/coordination.k8s.io/v1',
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  body: (n) => ({ spec: { holderIdentity: `holder-${n}`, leaseDurationSeconds: 15 } }),
}

export const EVENTS: LoadResource = {
  name: 'events',
  path: '/api/v1',
  apiVersion: 'v1',
  kind: 'Event',
  body: (n) => ({
    involvedObject: { kind: 'Pod', namespace: 'work', name: 'p' },
    reason: 'Tried',
    message: `time ${n}`,
    type: 'Normal',
  }),
}

export const SERVICES: LoadResource = {
  name: 'services',
  path: '/api/v1',
  apiVersion: 'v1',
  kind: 'Service',
  body: (n) => ({ spec: { ports: [{ port: 1000 + (n % 1000) }] } }),
}

export const WIDGETS: LoadResource = {
  name: 'widgets',
  path: '/apis/faults.example.com/v1',
  apiVersion: 'faults.example.com/v1',
  kind: 'Widget',
  body: (n) => ({ spec: { size: n } }),
}

/** Objects of both are made by nobody but the load. */
export const NAMESPACE = 'work'
/** Where a ResourceQuota allows so many secrets. */
export const LIMITED_NAMESPACE = 'limited'
export const LIMITED_MOST = 4

/** A webhook is asked about every lease: what it does not answer is refused in the one, and written in the other. */
export const STRICT_NAMESPACE = 'strict'
export const LENIENT_NAMESPACE = 'lenient'

export const prefixOf = ({ name }: LoadResource, namespace = NAMESPACE): string => `${name}/${namespace}/`
export const collectionOf = ({ path, name }: LoadResource, namespace = NAMESPACE): string =>
  `${path}/namespaces/${namespace}/${name}`
