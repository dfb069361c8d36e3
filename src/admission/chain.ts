/**
 * Thread: pool. Admission: plugins that may change or refuse what is about to be written, and connections that are about
 * to be made. Mutating ones run before the strategy, validating ones on the finished object. Policies and webhooks are
 * links like any other; any may be slow, and one that need not wait does not.
 *
 *   admit ──every mutating link──▶ reinvocation asked for? ──every mutating link once more──▶ strategy ──▶ validate
 */
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../api/group-version.js'
import type { KubeObject } from '../api/object.js'
import type { UserInfo } from '../api/user-info.js'
import type { CancelSignal } from '../lib/cancellation.js'
import { systemClock } from '../lib/clock.js'
import { noRecorder } from '../metrics/recorder.js'
import { AdmissionMetrics, type AdmissionStep, type StepTimer } from './admission-metrics.js'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A link that changes objects by rules of others (a webhook, a policy) lets the links before it look again. */
export interface Reinvocation {
  /** Set by the chain while the links run for the second time. */
  isReinvoke: boolean
  /** Set by a link; there is no third time. */
  requested: boolean
}

/**
 * What a plugin is asked about. One for a single kind takes `AdmissionAttributes<Pod>`; which kind it is follows from
 * `resource` and `subresource`.
 */
export interface AdmissionAttributes<K extends KubeObject = KubeObject> {
  readonly operation: AdmissionOperation
  readonly resource: GroupVersionResource
  readonly subresource: string
  readonly kind: GroupVersionKind
  /** The name of the object; '' while it is still to be generated. */
  readonly name: string
  /** The namespace of the object; a namespace is in itself. '' for what is in no namespace. */
  readonly namespace: string
  /** The object to be written; undefined for DELETE, the options for CONNECT. Mutating plugins change it in place. */
  readonly object: K | undefined
  /** The stored object of UPDATE and DELETE, which is not to be changed. */
  readonly oldObject: K | undefined
  /** The options of the operation as the client gave them, without kind and apiVersion. */
  readonly options: object
  readonly dryRun: boolean
  /** Wall time after which nobody waits; undefined for what no client asked for. */
  readonly deadlineMs?: number | undefined
  readonly user: UserInfo
  readonly reinvocation: Reinvocation
  /** Aborted when nobody waits for the write any longer: then no further link is asked, and its reason is thrown. */
  readonly signal?: CancelSignal | undefined
  addWarning(text: string): void
  /** Adds an annotation to the audit log; keys are `<plugin>.<domain>/<what>`. The first value of a key stays. */
  addAnnotation(key: string, value: string): void
  /**
   * The callback is called once the write has happened or has failed; an attempt that is followed by another has
   * failed.
   */
  onOutcome(callback: (succeeded: boolean) => Promise<void> | void): void
}

/**
 * A plugin that handles one kind alone says so, `AdmissionPlugin<Pod>`, and is given objects of that type. That the chain holds them as
 * plugins of any object is not checked: it rests on `handles()`.
 */
export interface AdmissionPlugin<K extends KubeObject = KubeObject> {
  readonly name: string
  /** The answer must depend on operation, resource and subresource only: the chain asks once for each of them. */
  handles(attributes: Pick<AdmissionAttributes, 'operation' | 'resource' | 'subresource'>): boolean
  /** Throws a StatusError to refuse. */
  admit?(attributes: AdmissionAttributes<K>): Promise<void> | void
  validate?(attributes: AdmissionAttributes<K>): Promise<void> | void
  /** Is told of every object that is gone, however it went. */
  deleted?(resource: GroupResource, object: KubeObject): Promise<void>
}

interface Link {
  readonly plugin: AdmissionPlugin
  readonly timer: StepTimer
}

interface StepLinks {
  readonly links: readonly Link[]
  readonly timer: StepTimer
}

interface Links {
  readonly mutating: StepLinks
  readonly validating: StepLinks
}

/** The most entries of the table of links: resources that come and go (custom ones) must not make it grow for ever. */
const MAX_KNOWN = 5_000

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #metrics: AdmissionMetrics
  readonly #links = new Map<string, Links>()

  constructor(
    plugins: readonly AdmissionPlugin[],
    metrics: AdmissionMetrics = new AdmissionMetrics(noRecorder(), systemClock),
  ) {
    this.#plugins = plugins
    this.#metrics = metrics
  }

  get names(): string[] {
    return this.#plugins.map((plugin) => plugin.name)
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    const { mutating } = this.#linksFor(attributes)
    if (mutating.links.length === 0) return
    await run(mutating, 'admit', attributes)
    const { reinvocation } = attributes
    if (!reinvocation.requested || reinvocation.isReinvoke) return
    reinvocation.isReinvoke = true
    await run(mutating, 'admit', attributes)
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    await run(this.#linksFor(attributes).validating, 'validate', attributes)
  }

  /** A connection is admitted and validated in one step; the options go on as links have changed them. */
  async connect(attributes: AdmissionAttributes): Promise<void> {
    await this.admit(attributes)
    await this.validate(attributes)
  }

  async deleted(resource: GroupResource, object: KubeObject): Promise<void> {
    for (const plugin of this.#plugins) await plugin.deleted?.(resource, object)
  }

  #linksFor(attributes: AdmissionAttributes): Links {
    const { operation, resource, subresource } = attributes
    const key = `${operation} ${resource.group}/${resource.version}/${resource.resource}/${subresource}`
    let links = this.#links.get(key)
    if (links === undefined) {
      const interested = this.#plugins.filter((plugin) => plugin.handles(attributes))
      const step = (type: AdmissionStep): StepLinks => ({
        links: interested
          .filter((plugin) => plugin[type] !== undefined)
          .map((plugin) => ({ plugin, timer: this.#metrics.plugin(plugin.name, type, operation) })),
        timer: this.#metrics.step(type, operation),
      })
      links = { mutating: step('admit'), validating: step('validate') }
      if (this.#links.size >= MAX_KNOWN) this.#links.clear()
      this.#links.set(key, links)
    }
    return links
  }
}

async function run(
  { links, timer: whole }: StepLinks,
  step: AdmissionStep,
  attributes: AdmissionAttributes,
): Promise<void> {
  const begunMs = whole.now()
  let rejected = true
  try {
    for (const { plugin, timer } of links) {
      if (attributes.signal?.aborted) throw attributes.signal.reason
      const startedMs = timer.now()
      let refused = true
      try {
        const answer = plugin[step]!(attributes)
        if (answer !== undefined) await answer
        refused = false
      } finally {
        timer.ended(startedMs, refused)
      }
    }
    rejected = false
  } finally {
    whole.ended(begunMs, rejected)
  }
}
