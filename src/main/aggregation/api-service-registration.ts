/**
 * Thread: main. The APIServices of what this server serves itself: made for built-in versions at the start, and for versions of custom
 * resources as they come; those of versions that went are deleted. What somebody has written over, by taking the label away, is left alone.
 */
import { builtinPriority, CUSTOM_PRIORITY, type Priority } from '../../aggregator/priorities.js'
import type { Catalogue } from '../../api/catalogue.js'
import type { APIService } from '../../api/generated/kinds/apiregistration.v1.js'
import { NEWEST, openSnapshot } from '../../cacher/read/resolve.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import type { Clock, Timer } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { LoopbackClient } from '../bootstrap/loopback-client.js'

const COLLECTION = '/apis/apiregistration.k8s.io/v1/apiservices'
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged'
/** The values of the label: made at the start and then left alone, or kept right while the server runs. */
const ON_START = 'onstart'
const ALWAYS = 'true'
/** Writes at once: two thousand definitions must not take the pool for themselves. */
const WORKERS = 8
/** At the first start all are written at once, so that the engine commits them together. */
const FIRST_WORKERS = 64
const RETRY_MS = 5_000
/** Definitions come in hundreds: one look at all of them serves those of half a second. */
const GATHER_MS = 500

export interface APIServiceRegistrationOptions {
  readonly view: Pick<ResourceView, 'arena'>
  readonly client: LoopbackClient
  readonly catalogue: () => Catalogue
  readonly clock: Clock
  readonly logger: Logger
}

interface Wanted {
  readonly group: string
  readonly version: string
  readonly priority: Priority
  readonly label: typeof ON_START | typeof ALWAYS
}

export class APIServiceRegistration {
  readonly #options: APIServiceRegistrationOptions
  #round: Promise<void> | undefined
  #again = false
  #timer: Timer | undefined
  #hasStarted = false
  #isStopped = false

  constructor(options: APIServiceRegistrationOptions) {
    this.#options = options
  }

  /** Resolves when the first round is over, whatever came of it. */
  async start(): Promise<void> {
    this.#begin()
    await this.#round
  }

  /** Something is served now that was not, or is not any more. */
  changed(): void {
    if (this.#isStopped || this.#timer !== undefined) return
    if (this.#round !== undefined) this.#again = true
    else this.#timer = this.#options.clock.after(GATHER_MS, () => this.#begin())
  }

  #begin(): void {
    this.#timer = undefined
    this.#round = this.#reconcile().then(
      () => this.#ended(false),
      (error: unknown) => {
        this.#options.logger.warn({ err: error }, 'APIServices of what is served here could not be written')
        this.#ended(true)
      },
    )
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#round
  }

  #ended(hasFailed: boolean): void {
    this.#round = undefined
    if (this.#isStopped) return
    if (hasFailed) this.#timer = this.#options.clock.after(RETRY_MS, () => this.#begin())
    else if (this.#again) {
      this.#again = false
      this.changed()
    }
  }

  async #reconcile(): Promise<void> {
    const wanted = wantedServices(this.#options.catalogue())
    const found = this.#found()
    const isFirst = !this.#hasStarted
    const work: (() => Promise<void>)[] = []
    for (const [name, one] of wanted)
      if (!found.has(name) && (isFirst || one.label === ALWAYS)) work.push(() => this.#create(name, one))
    for (const [name, label] of found)
      if (!wanted.has(name) && (label === ALWAYS || (isFirst && label === ON_START)))
        work.push(() => this.#options.client.delete(`${COLLECTION}/${name}`))
    const queue = work.values()
    await Promise.all(
      Array.from({ length: isFirst ? FIRST_WORKERS : WORKERS }, async () => {
        for (const step of queue) {
          if (this.#isStopped) return
          await step()
        }
      }),
    )
    this.#hasStarted = true
  }

  async #create(name: string, { group, version, priority, label }: Wanted): Promise<void> {
    const object: APIService = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name, labels: { [AUTOMANAGED]: label } },
      spec: {
        ...(group === '' ? {} : { group }),
        version,
        groupPriorityMinimum: priority.group,
        versionPriority: priority.version,
      },
    }
    await this.#options.client.create(COLLECTION, object)
  }

  /** The names of all APIServices and the value of their label; '' for those that others made. */
  #found(): Map<string, string> {
    const snapshot = openSnapshot(this.#options.view.arena(), NEWEST.revision)
    if (snapshot === undefined) throw new Error('APIServices are not in memory')
    const found = new Map<string, string>()
    try {
      snapshot.scan('', '', ({ key, labels }) => {
        found.set(key.slice(key.lastIndexOf('/') + 1), labels.get(AUTOMANAGED) ?? '')
        return true
      })
    } finally {
      snapshot.release()
    }
    return found
  }
}

function wantedServices(catalogue: Catalogue): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>()
  for (const { group, version, definitionHash } of catalogue.resources) {
    const name = `${version}.${group}`
    if (wanted.has(name)) continue
    const priority = builtinPriority(group, version)
    if (definitionHash !== undefined) wanted.set(name, { group, version, priority: CUSTOM_PRIORITY, label: ALWAYS })
    else if (priority !== undefined) wanted.set(name, { group, version, priority, label: ON_START })
  }
  return wanted
}
