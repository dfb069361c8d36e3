/**
 * Thread: any but the owner. Which objects belong to a node: what its pods name, what the volumes of their claims name,
 * the attachments and slices that name the node. Followed in shared memory; brought up to the clock by who asks.
 *
 *   secret, configmap, service account, resource claim ──▶ pod ──▶ node ◀── attachment, slice
 *   secret ──▶ persistent volume ──▶ claim ──▶ pod
 */

import type { RecordView } from '../../cacher/memory/shared-memory.js'
import { ArenaFollower, type ArenaSink, type StaleListener } from '../../cacher/read/arena-follower.js'
import {
  type ObjectKey,
  objectKey,
  podReferences,
  type RawPod,
  type RawVolume,
  volumeReferences,
} from './pod-references.js'
import type { CacheSource } from './rbac-index.js'

interface PodEntry {
  readonly node: string
  readonly objects: ReadonlySet<ObjectKey>
}

interface VolumeEntry {
  readonly claim: ObjectKey
  readonly secrets: ReadonlySet<ObjectKey>
}

/** The resources that the graph can be asked about. */
export const NODE_RESOURCES = [
  'pods',
  'persistentvolumes',
  'volumeattachments.storage.k8s.io',
  'resourceslices.resource.k8s.io',
] as const

const parsed = (record: RecordView): unknown => JSON.parse(Buffer.from(record.body()).toString())
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

export class NodeGraph {
  readonly #pods = new Map<string, PodEntry>()
  readonly #volumes = new Map<string, VolumeEntry>()
  /** By object: how many pods of each node name it. */
  readonly #nodesByObject = new Map<ObjectKey, Map<string, number>>()
  readonly #volumesBySecret = new Map<ObjectKey, Set<string>>()
  readonly #attachments = new Map<string, string>()
  readonly #slices = new Map<string, string>()
  readonly #followers: readonly ArenaFollower[]

  constructor(cache: CacheSource, onStale: StaleListener = () => undefined) {
    const [pods, volumes, attachments, slices] = NODE_RESOURCES
    const follow = (resource: string, sink: ArenaSink): ArenaFollower =>
      new ArenaFollower(cache(resource), sink, (stale) => onStale(resource, stale))
    this.#followers = [
      follow(pods, this.#podSink()),
      follow(volumes, this.#volumeSink()),
      follow(attachments, directSink(this.#attachments)),
      follow(slices, directSink(this.#slices)),
    ]
  }

  /**
   * Brings the graph up to the clock; what is not in memory now stays as it was last known. False when some of it has
   * never been known.
   */
  sync(): boolean {
    let known = true
    for (const follower of this.#followers) if (!follower.sync()) known = false
    return known
  }

  belongs(node: string, kind: string, namespace: string, name: string): boolean {
    switch (kind) {
      case 'pod':
        return this.#pods.get(`${namespace}/${name}`)?.node === node
      case 'volumeattachment':
        return this.#attachments.get(name) === node
      case 'resourceslice':
        return this.#slices.get(name) === node
      case 'persistentvolume':
        return this.#volumeBelongs(node, name)
      default:
        return this.#objectBelongs(node, objectKey(kind, namespace, name))
    }
  }

  #objectBelongs(node: string, key: ObjectKey): boolean {
    if (this.#nodesByObject.get(key)?.has(node) === true) return true
    for (const volume of this.#volumesBySecret.get(key) ?? []) if (this.#volumeBelongs(node, volume)) return true
    return false
  }

  #volumeBelongs(node: string, name: string): boolean {
    const volume = this.#volumes.get(name)
    return volume !== undefined && this.#nodesByObject.get(volume.claim)?.has(node) === true
  }

  #podSink(): ArenaSink {
    return {
      reset: () => {
        this.#pods.clear()
        this.#nodesByObject.clear()
      },
      put: (record) => {
        const pod = parsed(record) as RawPod
        const place = `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`
        this.#removePod(place)
        const node = pod.spec?.nodeName ?? ''
        if (node !== '') this.#addPod(place, { node, objects: podReferences(pod) })
      },
      delete: (record) => {
        const { metadata } = parsed(record) as RawPod
        this.#removePod(`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`)
      },
    }
  }

  #addPod(place: string, pod: PodEntry): void {
    this.#pods.set(place, pod)
    for (const key of pod.objects) {
      let nodes = this.#nodesByObject.get(key)
      if (nodes === undefined) {
        nodes = new Map()
        this.#nodesByObject.set(key, nodes)
      }
      nodes.set(pod.node, (nodes.get(pod.node) ?? 0) + 1)
    }
  }

  #removePod(place: string): void {
    const pod = this.#pods.get(place)
    if (pod === undefined) return
    this.#pods.delete(place)
    for (const key of pod.objects) {
      const nodes = this.#nodesByObject.get(key)
      const left = (nodes?.get(pod.node) ?? 0) - 1
      if (left > 0) nodes?.set(pod.node, left)
      else nodes?.delete(pod.node)
      if (nodes?.size === 0) this.#nodesByObject.delete(key)
    }
  }

  #volumeSink(): ArenaSink {
    return {
      reset: () => {
        this.#volumes.clear()
        this.#volumesBySecret.clear()
      },
      put: (record) => {
        const volume = parsed(record) as RawVolume
        const name = volume.metadata?.name ?? ''
        this.#removeVolume(name)
        const references = volumeReferences(volume)
        if (references === undefined) return
        this.#volumes.set(name, references)
        for (const secret of references.secrets) {
          const known = this.#volumesBySecret.get(secret)
          if (known === undefined) this.#volumesBySecret.set(secret, new Set([name]))
          else known.add(name)
        }
      },
      delete: (record) => this.#removeVolume((parsed(record) as RawVolume).metadata?.name ?? ''),
    }
  }

  #removeVolume(name: string): void {
    const volume = this.#volumes.get(name)
    if (volume === undefined) return
    this.#volumes.delete(name)
    for (const secret of volume.secrets) {
      const known = this.#volumesBySecret.get(secret)
      known?.delete(name)
      if (known?.size === 0) this.#volumesBySecret.delete(secret)
    }
  }
}

/** Follows objects that name their node themselves. */
function directSink(nodes: Map<string, string>): ArenaSink {
  interface Raw {
    readonly metadata?: { readonly name?: string }
    readonly spec?: { readonly nodeName?: unknown } | null
  }
  return {
    reset: () => nodes.clear(),
    put: (record) => {
      const { metadata, spec } = parsed(record) as Raw
      const node = text(spec?.nodeName)
      if (node === '') nodes.delete(metadata?.name ?? '')
      else nodes.set(metadata?.name ?? '', node)
    },
    delete: (record) => void nodes.delete((parsed(record) as Raw).metadata?.name ?? ''),
  }
}
