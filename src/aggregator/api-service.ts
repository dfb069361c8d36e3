/** Thread: any. An APIService as requests need it: who serves a version of a group, and how it is reached. */
import type { APIService } from '../api/generated/kinds/apiregistration.v1.js'
import { metadataOf } from '../api/object.js'

/** The service of an extension API server. */
export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** A version of a group that another server serves. */
export interface RemoteService {
  /** The name of the APIService: `v1beta1.metrics.k8s.io`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly service: ServiceReference
  /** The authorities of the server's certificate (PEM); '' for those of the system. */
  readonly caBundle: string
  readonly insecureSkipTLSVerify: boolean
  readonly groupPriority: number
  readonly versionPriority: number
  /** Whether the condition Available is true: what is not available is answered with 503 without being tried. */
  readonly available: boolean
}

const DEFAULT_PORT = 443

/** Undefined for an APIService that this server serves itself. The core group is always served here. */
export function remoteService(object: APIService): RemoteService | undefined {
  const { spec = {}, status } = object
  const { service, group = '', version = '', caBundle } = spec
  if (!service || group === '') return undefined
  return {
    name: metadataOf(object).name ?? '',
    group,
    version,
    service: {
      namespace: service.namespace ?? '',
      name: service.name ?? '',
      port: service.port ?? DEFAULT_PORT,
    },
    caBundle: caBundle ? Buffer.from(caBundle, 'base64').toString() : '',
    insecureSkipTLSVerify: spec.insecureSkipTLSVerify === true,
    groupPriority: spec.groupPriorityMinimum ?? 0,
    versionPriority: spec.versionPriority ?? 0,
    available: (status?.conditions ?? []).some(({ type, status: is }) => type === 'Available' && is === 'True'),
  }
}

/** The name in the certificate of a service. */
export const serverName = ({ namespace, name }: Pick<ServiceReference, 'namespace' | 'name'>): string =>
  `${name}.${namespace}.svc`

/** What two APIServices of one server share: one document of discovery serves both. */
export const serviceKey = ({ namespace, name, port }: ServiceReference): string => `${namespace}/${name}:${port}`
