/**
 * Thread: controllers. What a controller wants people to read: Events beside the objects that they are about. Nobody waits for
 * one, and none is worth a failure. The same event again counts up the one that is there, as client-go's recorder does.
 */
import { randomBytes } from 'node:crypto'
import type { KubeObject } from '../../api/object.js'
import { formatTime } from '../../api/time.js'
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { ControlledResource, ControlledResources } from './controlled-resource.js'
import { type ControllerClient, failedWith } from './controller-client.js'

/** So many events are on their way at once; more are dropped. */
const MAX_UNDER_WAY = 64
/** So many events are remembered, so that the same one again is counted and not written anew; the oldest are forgotten. */
const MAX_REMEMBERED = 1_024

export interface EventRecorderOptions {
  /** Undefined while events are not served: none are written then. */
  readonly resources: ControlledResources
  readonly client: ControllerClient
  /** Who says it: `source.component` of the event. */
  readonly component: string
  readonly clock: Clock
  readonly logger: Logger
}

export interface EventSubject {
  readonly resource: ControlledResource
  readonly object: KubeObject
}

export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #remembered = new Map<string, { readonly name: string; count: number }>()
  #underWay = 0

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  record(subject: EventSubject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const events = this.#options.resources.find('events')
    if (events === undefined || this.#underWay >= MAX_UNDER_WAY) return
    this.#underWay++
    void this.#write(events, subject, { type, reason, message })
      .catch((error: unknown) => this.#options.logger.debug({ err: error, reason }, 'an event was not written'))
      .finally(() => this.#underWay--)
  }

  async #write(
    events: ControlledResource,
    { resource, object }: EventSubject,
    said: { readonly type: string; readonly reason: string; readonly message: string },
  ): Promise<void> {
    const { clock, client, component } = this.#options
    const { name = '', namespace = '', uid = '', resourceVersion = '' } = object.metadata ?? {}
    const now = formatTime(clock.now())
    // What lies in no namespace is spoken of in `default`.
    const place = namespace === '' ? 'default' : namespace
    const key = JSON.stringify([place, resource.id, name, uid, said.type, said.reason, said.message])
    const known = this.#remembered.get(key)
    if (known !== undefined) {
      known.count++
      try {
        const change = { count: known.count, lastTimestamp: now }
        await client.patch(events, { namespace: place, name: known.name }, change, { type: 'merge' })
        return
      } catch (error) {
        // Events expire: one that is gone is written anew.
        if (!failedWith(error, 'NotFound')) throw error
      }
    }
    const eventName = `${name.slice(0, 200)}.${randomBytes(8).toString('hex')}`
    this.#remember(key, eventName)
    const { apiVersion, kind } = resource
    await client.create(events, {
      metadata: { namespace: place, name: eventName },
      involvedObject: { apiVersion, kind, namespace, name, uid, resourceVersion },
      source: { component },
      reportingComponent: component,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      ...said,
    })
  }

  #remember(key: string, name: string): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, { name, count: 1 })
    if (this.#remembered.size <= MAX_REMEMBERED) return
    const [oldest] = this.#remembered.keys()
    if (oldest !== undefined) this.#remembered.delete(oldest)
  }
}
