/** Thread: any. What expressions of policies and webhooks can speak of. */
import type { CelEnvironment } from './checker.js'
import { BOOL, type CelType, DYN, INT, listOf, mapOf, objectOf, opaque, STRING, scalar } from './types.js'

export interface AdmissionNames {
  readonly params: boolean
  readonly authorizer: boolean
  /** Types of a policy's variables by their names; without it there is no `variables`. */
  readonly variables?: ReadonlyMap<string, CelType>
  /** Whether changes may be built: Object and JSONPatch. */
  readonly patches?: boolean
}

const KIND = objectOf('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING })
const RESOURCE = objectOf('kubernetes.GroupVersionResource', { group: STRING, version: STRING, resource: STRING })
const REQUEST = objectOf('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: objectOf('kubernetes.UserInfo', {
    username: STRING,
    uid: STRING,
    groups: listOf(STRING),
    extra: mapOf(listOf(STRING)),
  }),
  dryRun: BOOL,
  options: DYN,
})
const TIMESTAMP = scalar('timestamp')
const NAMESPACE = objectOf('kubernetes.Namespace', {
  metadata: objectOf('kubernetes.NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING),
    annotations: mapOf(STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: listOf(STRING) }),
  status: objectOf('kubernetes.NamespaceStatus', { phase: STRING }),
})

export function admissionEnvironment({ params, authorizer, variables, patches }: AdmissionNames): CelEnvironment {
  const names = new Map<string, CelType>([
    ['object', DYN],
    ['oldObject', DYN],
    ['request', REQUEST],
    ['namespaceObject', NAMESPACE],
  ])
  if (params) names.set('params', DYN)
  if (authorizer)
    names.set('authorizer', opaque('authorizer')).set('authorizer.requestResource', opaque('authorizer.resource'))
  if (variables !== undefined)
    names.set('variables', { kind: 'object', name: 'kubernetes.variables', fields: variables })
  return { variables: names, objects: patches === true ? ['Object', 'JSONPatch'] : [] }
}
