/**
 * Thread: any. resource.k8s.io/v1beta1: what a request asks for stood in the request itself, and what a device is in a
 * `basic` part of it. The versions after it differ in their name alone.
 */
import type { KubeObject } from '../../api/object.js'
import type { HubConversion } from '../generic/resource-rules.js'

export const V1BETA1 = 'resource.k8s.io/v1beta1'
const HUB = 'resource.k8s.io/v1'

type Tree = Record<string, unknown>

/** The object with what lies at a path changed; nothing that was given is. */
function changedAt(tree: Tree, path: readonly string[], change: (list: Tree[]) => Tree[]): Tree {
  const [head = '', ...rest] = path
  const value = tree[head]
  if (rest.length === 0) return Array.isArray(value) ? { ...tree, [head]: change(value as Tree[]) } : tree
  return typeof value === 'object' && value !== null
    ? { ...tree, [head]: changedAt(value as Tree, rest, change) }
    : tree
}

const given = (tree: Tree): boolean => Object.values(tree).some((value) => value !== undefined && value !== '')

function requestToHub({ name, firstAvailable, ...asked }: Tree): Tree {
  return {
    name,
    ...(given(asked) ? { exactly: asked } : {}),
    ...(firstAvailable === undefined ? {} : { firstAvailable }),
  }
}

const requestFromHub = ({ exactly, ...rest }: Tree): Tree => ({ ...rest, ...(exactly as Tree | undefined) })

function requests(...path: string[]): HubConversion {
  const convert = (object: KubeObject, apiVersion: string, change: (request: Tree) => Tree): KubeObject =>
    ({ ...changedAt(object as Tree, path, (list) => list.map(change)), apiVersion }) as KubeObject
  return {
    toHub: (object) => convert(object, HUB, requestToHub),
    fromHub: (object) => convert(object, V1BETA1, requestFromHub),
  }
}

export const claimsV1beta1 = requests('spec', 'devices', 'requests')
export const claimTemplatesV1beta1 = requests('spec', 'spec', 'devices', 'requests')

const DEVICES = ['spec', 'devices']

/** In v1 a node that is not named is absent. */
function sliceToHub(object: KubeObject): KubeObject {
  const flat = changedAt(object as Tree, DEVICES, (devices) =>
    devices.map(({ basic, ...rest }) => ({ ...rest, ...(basic as Tree | undefined) })),
  )
  const { nodeName, allNodes, ...spec } = (flat['spec'] ?? {}) as Tree
  const kept = { ...spec, ...(nodeName ? { nodeName } : {}), ...(allNodes === true ? { allNodes } : {}) }
  return { ...flat, spec: kept, apiVersion: HUB } as KubeObject
}

function sliceFromHub(object: KubeObject): KubeObject {
  const nested = changedAt(object as Tree, DEVICES, (devices) => devices.map(({ name, ...basic }) => ({ name, basic })))
  return { ...nested, apiVersion: V1BETA1 } as KubeObject
}

export const slicesV1beta1: HubConversion = { toHub: sliceToHub, fromHub: sliceFromHub }
