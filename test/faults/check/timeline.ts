/**
 * What happened at each revision, put together from everything that anybody saw at any server: answers to writes, gets, items of lists,
 * watch events. Two observations that cannot both be true are violations: servers disagree, or one of them made something up.
 */
import type { History, Seen, Violation } from './history.js'

export interface Change {
  readonly revision: number
  readonly key: string
  readonly type: 'put' | 'delete'
  readonly token: string
  readonly address?: string
}

export class Timeline {
  readonly violations: Violation[] = []
  readonly #changes = new Map<number, Change>()
  #sorted: Change[] | undefined
  #byKey: Map<string, Change[]> | undefined

  constructor(history: History) {
    for (const record of history) {
      if (record.kind === 'operation') {
        const { result, key, token, revision, seen, verb } = record
        if (seen !== undefined) this.#put(seen, `a get at ${record.server}`)
        if (result !== 'ok' || revision === undefined) continue
        // The answer to a deletion that finalizers hold up names a revision too, and the token is that of an earlier write.
        if (verb !== 'delete' && token !== undefined)
          this.#put({ key, token, revision }, `a ${verb} at ${record.server}`)
      } else if (record.kind === 'list') {
        for (const { items } of record.pages) for (const seen of items) this.#put(seen, `a list at ${record.server}`)
      } else if (record.kind === 'watch')
        for (const { type, seen } of record.events) {
          if (seen === undefined) continue
          if (type === 'DELETED') this.#add({ ...seen, type: 'delete' }, `a watch at ${record.server}`)
          else this.#put(seen, `a watch at ${record.server}`)
        }
    }
  }

  /** By revision. */
  get changes(): readonly Change[] {
    this.#sorted ??= [...this.#changes.values()].sort((a, b) => a.revision - b.revision)
    return this.#sorted
  }

  get byKey(): ReadonlyMap<string, readonly Change[]> {
    if (this.#byKey === undefined) {
      this.#byKey = new Map()
      for (const change of this.changes) {
        const changes = this.#byKey.get(change.key)
        if (changes === undefined) this.#byKey.set(change.key, [change])
        else changes.push(change)
      }
    }
    return this.#byKey
  }

  /** The last change of the key up to a revision, and whether it is the first of its kind that is known. */
  at(key: string, revision: number): Change | undefined {
    const changes = this.byKey.get(key) ?? []
    let [low, high] = [0, changes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (changes[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return changes[low - 1]
  }

  /** After one revision, up to and with another. */
  between(after: number, upTo: number): readonly Change[] {
    return this.changes.filter(({ revision }) => revision > after && revision <= upTo)
  }

  #put({ key, revision, token, address }: Seen, where: string): void {
    this.#add({ key, revision, token, type: 'put', ...(address !== undefined && { address }) }, where)
  }

  #add(change: Change, where: string): void {
    const known = this.#changes.get(change.revision)
    if (known === undefined) {
      this.#changes.set(change.revision, change)
      this.#sorted = undefined
      this.#byKey = undefined
    } else if (known.key !== change.key || known.type !== change.type || known.token !== change.token)
      this.violations.push({
        property: 'agreement',
        what: `revision ${change.revision} is ${told(change)} by ${where}, and ${told(known)} by another`,
      })
    else if (known.address === undefined && change.address !== undefined)
      this.#changes.set(change.revision, { ...known, address: change.address })
  }
}

export const told = ({ type, key, token }: Change): string => `${type} of ${key} (${token})`
