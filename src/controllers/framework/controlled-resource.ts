/**
 * Thread: controllers. The resources that are served, as controllers know them: where the objects lie in memory, and by which
 * group, version and name they are written. Resources come and go while controllers run; whoever follows all of them listens.
 */
import type { ResourceInfo } from '../../api/catalogue.js'
import { formatGroupResource, formatGroupVersion, type GroupVersionResource } from '../../api/group-version.js'

export interface ControlledResource extends GroupVersionResource {
  /** The name by which controllers ask for it: `pods`, `deployments.apps`. */
  readonly id: string
  readonly apiVersion: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly arena: string
  readonly keyPrefix: string
}

/** The part of a served path that controllers use: workers/scheme/served.ts makes it. */
export interface ResourcePath {
  readonly info: ResourceInfo
  readonly arena: string
  readonly keyPrefix: string
  /** Whether memory holds the objects in the version of this path. */
  readonly direct: boolean
}

export class ControlledResources {
  readonly #paths: () => readonly ResourcePath[]
  readonly #inAWhile: (tell: () => void) => void
  #isToTell = false
  readonly #listeners = new Set<() => void>()
  #byId: Map<string, ControlledResource> | undefined
  #byKind = new Map<string, ControlledResource>()

  /**
   * `paths` gives what is served now. `inAWhile` is called when listeners are to be told, and has them told once for all changes that come
   * until then: each looks at everything that is served, so that hundreds of definitions one after another would cost as many times hundreds.
   */
  constructor(paths: () => readonly ResourcePath[], inAWhile: (tell: () => void) => void = (tell) => tell()) {
    this.#paths = paths
    this.#inAWhile = inAWhile
  }

  /** Undefined when the resource is not served. */
  find(id: string): ControlledResource | undefined {
    return this.#table().get(id)
  }

  /** The resource of a kind in any of its served versions. */
  findKind(apiVersion: string, kind: string): ControlledResource | undefined {
    this.#table()
    return this.#byKind.get(kindKey(apiVersion, kind))
  }

  /** The kinds that findKind() finds now, by kindKey(). */
  kinds(): ReadonlySet<string> {
    this.#table()
    return new Set(this.#byKind.keys())
  }

  all(): ControlledResource[] {
    return [...this.#table().values()]
  }

  /** Must be called when what is served has changed. */
  changed(): void {
    this.#byId = undefined
    if (this.#isToTell) return
    this.#isToTell = true
    this.#inAWhile(() => {
      this.#isToTell = false
      for (const listener of [...this.#listeners]) listener()
    })
  }

  /** False while listeners have not been told of some change. */
  get isTold(): boolean {
    return !this.#isToTell
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #table(): Map<string, ControlledResource> {
    if (this.#byId !== undefined) return this.#byId
    const stored = this.#paths().filter(({ info }) => info.storageVersionHash !== undefined)
    const byArena = new Map<string, ControlledResource>()
    for (const path of stored) if (path.direct && !byArena.has(path.arena)) byArena.set(path.arena, controlled(path))
    this.#byId = new Map([...byArena.values()].map((resource) => [resource.id, resource]))
    this.#byKind = new Map()
    for (const { info, arena } of stored) {
      const resource = byArena.get(arena)
      if (resource !== undefined) this.#byKind.set(kindKey(formatGroupVersion(info), info.kind), resource)
    }
    return this.#byId
  }
}

export const kindKey = (apiVersion: string, kind: string): string => `${apiVersion} ${kind}`

function controlled({ info, arena, keyPrefix }: ResourcePath): ControlledResource {
  const { group, version, resource, kind, namespaced, verbs } = info
  const apiVersion = formatGroupVersion(info)
  return {
    id: formatGroupResource(info),
    group,
    version,
    resource,
    apiVersion,
    kind,
    namespaced,
    verbs,
    arena,
    keyPrefix,
  }
}
