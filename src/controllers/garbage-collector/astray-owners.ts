/**
 * Thread: controllers. Tells people who named an owner that lies in another namespace: an owner must be in the namespace of its
 * dependents, else it is none. No index of uids is kept for them. Questions wait, and one reading of a resource answers all that wait for
 * it; readings have pauses between them, so that whatever objects name they cost a small share of the thread.
 *
 *   ask() ──▶ waiting ──a reading of the resource──▶ told, or forgotten when the owner lies nowhere
 */
import type { OwnerReference } from '../../api/object.js'
import type { Timer } from '../../lib/clock.js'
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { ControllerContext } from '../framework/controller.js'
import type { EventSubject } from '../framework/event-recorder.js'

/** So many questions wait; more are dropped, because an event is a courtesy. */
const MAX_WAITING = 1_000
/** So many owners of one object are asked for: as many events about one object as client-go's recorder lets through at once. */
const MAX_PER_OBJECT = 25
const PAUSE_MS = 1_000

interface Question {
  readonly subject: EventSubject
  readonly reference: OwnerReference
}

interface Waiting {
  readonly resource: ControlledResource
  readonly byUid: Map<string, Question[]>
}

export class AstrayOwners {
  readonly #context: ControllerContext
  #waiting = new Map<string, Waiting>()
  #count = 0
  #state: 'idle' | 'reading' | 'stopped' = 'idle'
  #timer: Timer | undefined

  constructor(context: ControllerContext) {
    this.#context = context
  }

  /** The owners, of one resource, are absent from the namespace of the subject. */
  ask(subject: EventSubject, resource: ControlledResource, references: readonly OwnerReference[]): void {
    for (const reference of references.slice(0, MAX_PER_OBJECT)) {
      if (this.#count >= MAX_WAITING) break
      this.#count++
      let waiting = this.#waiting.get(resource.id)
      if (waiting === undefined) {
        waiting = { resource, byUid: new Map() }
        this.#waiting.set(resource.id, waiting)
      }
      const others = waiting.byUid.get(reference.uid)
      if (others === undefined) waiting.byUid.set(reference.uid, [{ subject, reference }])
      else others.push({ subject, reference })
    }
    this.#begin()
  }

  stop(): void {
    this.#state = 'stopped'
    this.#timer?.cancel()
  }

  #begin(): void {
    if (this.#state !== 'idle' || this.#waiting.size === 0) return
    this.#state = 'reading'
    const { clock, logger } = this.#context
    const [waiting] = this.#waiting.values()
    void this.#answer(waiting!)
      .catch((error: unknown) => logger.debug({ err: error }, 'owners in other namespaces were not looked for'))
      .finally(() => {
        this.#timer = clock.after(PAUSE_MS, () => {
          if (this.#state === 'stopped') return
          this.#state = 'idle'
          this.#begin()
        })
      })
  }

  async #answer({ resource, byUid }: Waiting): Promise<void> {
    this.#waiting.delete(resource.id)
    for (const questions of byUid.values()) this.#count -= questions.length
    await this.#context.objects.visitInTurns(resource, ({ uid, namespace }) => {
      for (const question of byUid.get(uid) ?? []) this.#tell(question, namespace)
      return this.#state !== 'stopped'
    })
  }

  #tell({ subject, reference: { apiVersion, kind, name, uid } }: Question, elsewhere: string): void {
    const { namespace = '' } = subject.object.metadata ?? {}
    if (elsewhere === namespace) return
    const owner = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
    this.#context.events.record(
      subject,
      'Warning',
      'OwnerRefInvalidNamespace',
      `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
    )
  }
}
