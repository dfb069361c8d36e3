/** The writes that are measured, as texts in which `@n@` stands for the number of the request. */
import { configMap, pod } from '../micro/sample-objects.js'

export interface WriteKind {
  readonly name: string
  readonly method: 'POST' | 'PUT' | 'PATCH'
  /** `@o@`: the number of one of the objects that are written to in turn. */
  readonly path: string
  readonly contentType: string
  readonly body: string
  /** How each of the objects that it writes to is created. */
  readonly prepared?: { readonly path: string; readonly body: string }
}

/** More than connections, so that two requests seldom meet at one object. */
export const OBJECTS = 256

const NAMESPACE = '/api/v1/namespaces/default'
const JSON_TYPE = 'application/json'
const { status, metadata: podMetadata, ...podRest } = pod
/** Without its owner, which does not exist: the garbage collector would delete the pods while they are measured. */
const {
  uid: _uid,
  generation: _generation,
  creationTimestamp: _created,
  ownerReferences: _owner,
  ...givenMetadata
} = podMetadata
const { uid: _mapUid, generation: _mapGeneration, creationTimestamp: _mapCreated, ...mapMetadata } = configMap.metadata

const newPod = (metadata: object): string => JSON.stringify({ ...podRest, metadata: { ...givenMetadata, ...metadata } })
const newMap = (metadata: object, mode: string): string =>
  JSON.stringify({ ...configMap, metadata: { ...mapMetadata, ...metadata }, data: { ...configMap.data, mode } })
const annotated = { ...podMetadata.annotations, 'example.com/turn': '@n@' }

export const KINDS: Readonly<Record<string, WriteKind>> = {
  configmap: {
    name: 'create a 1 KB ConfigMap',
    method: 'POST',
    path: `${NAMESPACE}/configmaps`,
    contentType: JSON_TYPE,
    body: newMap({ name: undefined, generateName: 'create-' }, 'production'),
  },
  pod: {
    name: 'create a 4 KB pod',
    method: 'POST',
    path: `${NAMESPACE}/pods`,
    contentType: JSON_TYPE,
    body: newPod({ name: undefined, generateName: 'create-' }),
  },
  update: {
    name: 'update a 4 KB pod',
    method: 'PUT',
    path: `${NAMESPACE}/pods/update-@o@`,
    contentType: JSON_TYPE,
    body: newPod({ name: 'update-@o@', annotations: annotated }),
    prepared: { path: `${NAMESPACE}/pods`, body: newPod({ name: 'update-@o@' }) },
  },
  apply: {
    name: 'apply a 4 KB pod',
    method: 'PATCH',
    path: `${NAMESPACE}/pods/apply-@o@?fieldManager=bench&force=true`,
    contentType: 'application/apply-patch+yaml',
    body: newPod({ name: 'apply-@o@', annotations: annotated }),
    prepared: { path: `${NAMESPACE}/pods`, body: newPod({ name: 'apply-@o@' }) },
  },
  status: {
    name: "patch a 4 KB pod's status",
    method: 'PATCH',
    path: `${NAMESPACE}/pods/status-@o@/status`,
    contentType: 'application/strategic-merge-patch+json',
    body: JSON.stringify({ status: { phase: 'Running', message: 'message @n@', conditions: status.conditions } }),
    prepared: { path: `${NAMESPACE}/pods`, body: newPod({ name: 'status-@o@' }) },
  },
}

export const filledIn = (text: string, object: number, turn: number): string =>
  text.replaceAll('@o@', String(object)).replaceAll('@n@', String(turn))
