import type { Pod } from '../pod.js'

/**
 * The suite's pods as Events of the core group. Of all built-in kinds Event asks least: every name that is a path segment,
 * no required field but the namespace of what it is about, and a field (`reason`) that is selectable and may change.
 */
export interface EventForm {
  apiVersion: 'v1'
  kind: 'Event'
  metadata: NonNullable<Pod['metadata']>
  involvedObject: { namespace?: string }
  reason?: string
  message?: string
}

/** What the suite stores where nothing has a namespace. */
export interface RuntimeClassForm {
  apiVersion: 'node.k8s.io/v1'
  kind: 'RuntimeClass'
  metadata: NonNullable<Pod['metadata']>
  handler: string
}

/** A note may be empty; an empty message is as good as none. */
const NOTE = 'note:'

/** Servers give uids themselves: each that the suite chose stands for the one that the server gave. */
export class Uids {
  readonly #given = new Map<string, string>()
  readonly #chosen = new Map<string, string>()

  readonly #expected = new Map<string, string>()

  /** A create is under way: others may see the object before its writer has the answer. */
  expect(place: string, chosen: string): void {
    this.#expected.set(place, chosen)
  }

  toServer(chosen: string): string {
    return this.#given.get(chosen) ?? chosen
  }

  toSuite(given: string, place: string): string {
    const known = this.#chosen.get(given)
    if (known !== undefined) return known
    const chosen = this.#expected.get(place)
    if (chosen === undefined) return given
    this.#given.set(chosen, given)
    this.#chosen.set(given, chosen)
    return chosen
  }

  /** A sentence with the suite's uids in place of the server's. */
  inWords(text: string): string {
    let words = text
    for (const [given, chosen] of this.#chosen) words = words.replaceAll(given, chosen)
    return words
  }
}

export function toEvent(pod: Pod, uids: Uids): EventForm {
  const { uid, ...metadata } = pod.metadata ?? {}
  const { nodeName, note } = pod.spec ?? {}
  const { namespace } = metadata
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { ...metadata, ...(uid === undefined ? {} : { uid: uids.toServer(uid) }) },
    involvedObject: namespace === undefined ? {} : { namespace },
    ...(nodeName === undefined ? {} : { reason: nodeName }),
    ...(note === undefined ? {} : { message: NOTE + note }),
  }
}

export function toRuntimeClass(pod: Pod, uids: Uids): RuntimeClassForm {
  const { metadata } = toEvent(pod, uids)
  return { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata, handler: 'none' }
}

/** What the suite knows of an object; the rest is the server's own. */
export function toPod(form: Partial<EventForm>, uids: Uids): Pod {
  const { name, namespace, uid, labels, resourceVersion } = form.metadata ?? {}
  const { reason, message } = form
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid: uids.toSuite(uid, `${namespace}/${name}`) }),
      ...(labels === undefined ? {} : { labels }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: {
      ...(reason ? { nodeName: reason } : {}),
      ...(message ? { note: message.slice(NOTE.length) } : {}),
    },
  }
}

/** The suite's field names in those of the served resource. */
export const toFieldSelector = (selector: string): string => selector.replaceAll('spec.nodeName', 'reason')
