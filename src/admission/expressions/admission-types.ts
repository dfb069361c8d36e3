/**
 * Thread: any. The types of `request` and `namespaceObject` in expressions of policies and webhooks: Kubernetes declares them by
 * hand, with fewer fields than the objects have, and in one place with another name (`UID`).
 */
import { BOOL, DYN, INT, listOf, mapOf, objectOf, STRING, TIMESTAMP } from '../../api/cel/types.js'

const STRINGS = listOf(STRING)
const LABELS = mapOf(STRING, STRING)
const KIND = objectOf('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING })
const RESOURCE = objectOf('kubernetes.GroupVersionResource', { group: STRING, version: STRING, resource: STRING })
const USER_INFO = objectOf('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: STRINGS,
  extra: mapOf(STRING, STRINGS),
})

export const ADMISSION_REQUEST = objectOf('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER_INFO,
  dryRun: BOOL,
  options: DYN,
})

const NAMESPACE_METADATA = objectOf('kubernetes.NamespaceMetadata', {
  name: STRING,
  generateName: STRING,
  namespace: STRING,
  labels: LABELS,
  annotations: LABELS,
  UID: STRING,
  creationTimestamp: TIMESTAMP,
  deletionGracePeriodSeconds: INT,
  deletionTimestamp: TIMESTAMP,
  generation: INT,
  resourceVersion: STRING,
  finalizers: STRINGS,
})
const NAMESPACE_CONDITION = objectOf('kubernetes.NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
})

export const NAMESPACE = objectOf('kubernetes.Namespace', {
  metadata: NAMESPACE_METADATA,
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: STRINGS }),
  status: objectOf('kubernetes.NamespaceStatus', { conditions: listOf(NAMESPACE_CONDITION), phase: STRING }),
})

/** Every type that has a name, so that expressions can name them. */
export const NAMED_TYPES = [
  ADMISSION_REQUEST,
  KIND,
  RESOURCE,
  USER_INFO,
  NAMESPACE,
  NAMESPACE_METADATA,
  NAMESPACE_CONDITION,
]
