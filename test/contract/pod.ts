import type { KubeObject } from '#keelson/api/object.js'
import { everything, MapAttributes, type Selector } from '#keelson/api/selector.js'
import type { Codec, ListOptions, SelectionPredicate } from '#keelson/storage/contract/interface.js'

/** A small pod: what the suite stores. */
export interface Pod extends KubeObject {
  spec?: { nodeName?: string; note?: string }
}

export interface PodFields {
  readonly labels?: Record<string, string>
  readonly uid?: string
  readonly nodeName?: string
  readonly note?: string
}

export function makePod(name: string, namespace: string, fields: PodFields = {}): Pod {
  const { labels, uid = `uid-${namespace}-${name}`, nodeName, note } = fields
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(namespace === '' ? {} : { namespace }),
      uid,
      ...(labels === undefined ? {} : { labels }),
    },
    spec: { ...(nodeName === undefined ? {} : { nodeName }), ...(note === undefined ? {} : { note }) },
  }
}

export function podKey(pod: Pod): string {
  const { name = '', namespace } = pod.metadata ?? {}
  return namespace === undefined ? `/pods/${name}` : `/pods/${namespace}/${name}`
}

export const newPod = (): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: {} })

export const versionOf = (pod: Pod): number => Number(pod.metadata?.resourceVersion ?? 0)
export const nameOf = (pod: Pod): string => pod.metadata?.name ?? ''
export const namesOf = (pods: readonly Pod[]): string[] =>
  pods.map((pod) => (pod.metadata?.namespace === undefined ? nameOf(pod) : `${pod.metadata.namespace}/${nameOf(pod)}`))

/** JSON with the fields in a fixed order, so that equal objects are equal bytes. */
export const podCodec: Codec<Pod> = {
  encode: (pod) => new TextEncoder().encode(JSON.stringify(sorted(pod))),
  decode(bytes) {
    const pod = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Pod
    if (pod.kind !== 'Pod') throw new Error(`not a Pod: ${pod.kind}`)
    return pod
  },
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}

export const podAttributes = (pod: Pod) => ({
  labels: new MapAttributes(pod.metadata?.labels),
  fields: new MapAttributes({
    'metadata.name': pod.metadata?.name ?? '',
    'metadata.namespace': pod.metadata?.namespace ?? '',
    'spec.nodeName': pod.spec?.nodeName ?? '',
  }),
})

/** `name=value`; both labels and fields compare this way in the suite. */
export function equals(name: string, value: string): Selector {
  return {
    matches: (attributes) => attributes.get(name) === value,
    empty: () => false,
    requiresExactMatch: (asked) => (asked === name ? value : undefined),
    toString: () => `${name}=${value}`,
  }
}

export function predicate(fields: Partial<SelectionPredicate<Pod>> = {}): SelectionPredicate<Pod> {
  return {
    label: everything,
    field: everything,
    getAttributes: podAttributes,
    limit: 0,
    continueToken: '',
    allowWatchBookmarks: false,
    ...fields,
  }
}

export type ListFields = Omit<Partial<ListOptions<Pod>>, 'predicate'> & Partial<SelectionPredicate<Pod>>

/** List and watch options with Kubernetes' defaults; the predicate's fields may be given beside the others. */
export function listOptions(fields: ListFields = {}): ListOptions<Pod> {
  const { label, field, getAttributes, limit, continueToken, allowWatchBookmarks, ...options } = fields
  const given = { label, field, getAttributes, limit, continueToken, allowWatchBookmarks }
  const selection = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return {
    resourceVersion: '',
    resourceVersionMatch: '',
    recursive: true,
    ...options,
    predicate: predicate(selection),
  }
}
