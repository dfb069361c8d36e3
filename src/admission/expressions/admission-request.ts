/** Thread: pool. The value of `request` in expressions: an AdmissionRequest without its objects, and without what is empty. */
import type { Json, JsonObject } from '../../api/object.js'
import type { AdmissionAttributes } from '../chain.js'
import type { ServedKind } from '../matching/admission-kinds.js'

const OPTIONS_VERSION = 'meta.k8s.io/v1'
const OPTIONS_KINDS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const

const part = (name: string, value: string): JsonObject => (value === '' ? {} : { [name]: value })

/** `matched` is the version in which a policy or webhook asked for the request. */
export function admissionRequest(attributes: AdmissionAttributes, matched: ServedKind): JsonObject {
  const { kind, resource, subresource, name, namespace, operation, user, dryRun } = attributes
  const { group, version } = matched.kind
  return {
    uid: '',
    kind: { group, version, kind: matched.kind.kind },
    resource: { ...matched.resource },
    ...part('subResource', subresource),
    requestKind: { group: kind.group, version: kind.version, kind: kind.kind },
    requestResource: { group: resource.group, version: resource.version, resource: resource.resource },
    ...part('requestSubResource', subresource),
    ...part('name', name),
    ...part('namespace', namespace),
    operation,
    userInfo: {
      ...part('username', user.name),
      ...part('uid', user.uid),
      ...(user.groups.length === 0 ? {} : { groups: [...user.groups] }),
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra as unknown as JsonObject }),
    },
    dryRun,
    options: operationOptions(attributes),
  }
}

/** A connection has no options: what it is asked with is its object. */
function operationOptions({ operation, options }: AdmissionAttributes): Json {
  if (operation === 'CONNECT') return null
  return { kind: OPTIONS_KINDS[operation], apiVersion: OPTIONS_VERSION, ...(options as JsonObject) }
}
