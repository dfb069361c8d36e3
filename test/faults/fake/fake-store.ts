/** What a correct server keeps, as little as the load needs: objects of any resource, one revision a change, and all of history. */
import type { LoadObject } from '../load/recorder.js'
import type { Planted } from './planted.js'

export interface LogEntry {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly key: string
  readonly object: LoadObject
}

export interface Refusal {
  readonly code: number
  readonly reason: string
}

const refusal = (code: number, reason: string): Refusal => ({ code, reason })

export const isRefusal = (answer: LoadObject | Refusal): answer is Refusal => 'code' in answer

export class FakeStore {
  readonly log: LogEntry[] = []
  readonly #objects = new Map<string, LoadObject>()
  readonly #addresses = new Set<string>()
  readonly #planted: Planted
  readonly #limit: { readonly prefix: string; readonly most: number }
  #revision = 100

  constructor(planted: Planted, limit: { readonly prefix: string; readonly most: number }) {
    this.#planted = planted
    this.#limit = limit
  }

  get revision(): number {
    return this.#revision
  }

  get(key: string): LoadObject | undefined {
    return this.#objects.get(key)
  }

  create(key: string, object: LoadObject): LoadObject | Refusal {
    if (this.#objects.has(key)) return refusal(409, 'AlreadyExists')
    const { prefix, most } = this.#limit
    const isFull =
      key.startsWith(prefix) && [...this.#objects.keys()].filter((one) => one.startsWith(prefix)).length >= most
    if (isFull && !this.#planted.strikes('over quota')) return refusal(403, 'Forbidden')
    const spec = key.startsWith('services/') ? { spec: { ...object.spec, clusterIP: this.#address() } } : {}
    return this.#put(key, 'ADDED', { ...object, ...spec })
  }

  replace(key: string, object: LoadObject): LoadObject | Refusal {
    const stored = this.#objects.get(key)
    if (stored === undefined) return refusal(404, 'NotFound')
    const { resourceVersion } = object.metadata
    const isOld = resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion
    if (isOld && !this.#planted.strikes('double swap')) return refusal(409, 'Conflict')
    const isReleased =
      stored.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0
    if (isReleased) return this.#remove(key, stored, object)
    const put = this.#put(key, 'MODIFIED', object)
    return this.#planted.strikes('false conflict') ? refusal(409, 'Conflict') : put
  }

  delete(key: string, expected: string | undefined): LoadObject | Refusal {
    const stored = this.#objects.get(key)
    if (stored === undefined) return refusal(404, 'NotFound')
    const { resourceVersion, finalizers = [], deletionTimestamp } = stored.metadata
    if (expected !== undefined && expected !== resourceVersion) return refusal(409, 'Conflict')
    if (deletionTimestamp !== undefined) return stored
    if (finalizers.length === 0) {
      this.#remove(key, stored, stored)
      return { kind: 'Status', metadata: { name: '' } }
    }
    return this.#put(key, 'MODIFIED', { ...stored, metadata: { ...stored.metadata, deletionTimestamp: 'now' } })
  }

  /** The state of a revision below a prefix, by key. */
  at(prefix: string, revision: number): LogEntry[] {
    const found = new Map<string, LogEntry>()
    for (const entry of this.log) {
      if (entry.revision > revision) break
      if (!entry.key.startsWith(prefix)) continue
      if (entry.type === 'DELETED') found.delete(entry.key)
      else found.set(entry.key, entry)
    }
    return [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  #put(key: string, type: LogEntry['type'], object: LoadObject): LoadObject {
    const revision = ++this.#revision
    const put = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
    if (this.#planted.strikes('lost write')) return put
    this.#objects.set(key, put)
    this.log.push({ revision, type, key, object: put })
    return put
  }

  #remove(key: string, stored: LoadObject, answer: LoadObject): LoadObject {
    const revision = ++this.#revision
    this.#objects.delete(key)
    if (stored.spec?.clusterIP !== undefined) this.#addresses.delete(stored.spec.clusterIP)
    const object = { ...stored, metadata: { ...stored.metadata, resourceVersion: String(revision) } }
    this.log.push({ revision, type: 'DELETED', key, object })
    const { deletionTimestamp = 'now' } = stored.metadata
    return { ...answer, metadata: { ...answer.metadata, deletionTimestamp, finalizers: [] } }
  }

  #address(): string {
    const used = [...this.#addresses][0]
    if (used !== undefined && this.#planted.strikes('address twice')) return used
    for (let n = 1; ; n++) {
      const address = `10.0.0.${n}`
      if (this.#addresses.has(address)) continue
      this.#addresses.add(address)
      return address
    }
  }
}
