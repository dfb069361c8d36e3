/**
 * Thread: main. Keeps the stored flow schemas and priority levels as Kubernetes keeps them: the mandatory ones always as they
 * must be, the suggested ones as long as nobody has taken them over (the annotation apf.kubernetes.io/autoupdate-spec), and
 * each schema's Dangling condition at what is true.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Clock, Timer } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { ServerRequest, ServerRequests } from '../bootstrap/server-requests.js'
import {
  EXEMPT,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from './bootstrap-objects.js'
import { AUTO_UPDATE_ANNOTATION, type FlowSchema, type PriorityLevelConfiguration } from './configuration.js'
import type { FlowObjects } from './flow-follower.js'

const ROOT = '/apis/flowcontrol.apiserver.k8s.io/v1'
const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1'
const PRODUCER = 'fieldManager=api-priority-and-fairness-config-producer-v1'
const CONSUMER = 'fieldManager=api-priority-and-fairness-config-consumer-v1&force=true'
const EVERY_MS = 60_000
/** After a round that failed: until the objects are there, requests are served by the mandatory levels alone. */
const RETRY_MS = 1_000
/** Two servers that do not agree must not write against each other without end. */
const MAX_STATUS_WRITES_A_MINUTE = 5

type Configuration = FlowSchema | PriorityLevelConfiguration

interface Kind {
  readonly kind: string
  readonly path: string
}
const LEVEL: Kind = { kind: 'PriorityLevelConfiguration', path: `${ROOT}/prioritylevelconfigurations` }
const SCHEMA: Kind = { kind: 'FlowSchema', path: `${ROOT}/flowschemas` }

export interface ConfigurationKeeperOptions {
  readonly requests: Pick<ServerRequests, 'send'>
  readonly clock: Clock
  readonly logger: Logger
}

export class ConfigurationKeeper {
  readonly #options: ConfigurationKeeperOptions
  readonly #statusWrites = new Map<string, number[]>()
  #objects: FlowObjects = { levels: [], schemas: [] }
  #timer: Timer | undefined
  #conditions: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: ConfigurationKeeperOptions) {
    this.#options = options
  }

  /**
   * Writes what is missing or wrong, then looks again every minute. A first round that fails (storage in trouble, a pool thread that was
   * replaced) ends no start: the server serves, and the round is repeated soon.
   */
  async start(): Promise<void> {
    this.#again(await this.#guarded(() => this.#ensure()))
  }

  stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    return this.#conditions
  }

  /** Takes the objects as they are stored now. */
  update(objects: FlowObjects): void {
    this.#objects = objects
    const stale = staleConditions(objects)
    if (stale.length > 0 && !this.#stopped)
      this.#conditions = this.#conditions.then(
        async () => void (await this.#guarded(() => this.#writeConditions(stale))),
      )
  }

  #again(isDone: boolean): void {
    if (this.#stopped) return
    this.#timer = this.#options.clock.after(isDone ? EVERY_MS : RETRY_MS, () => {
      this.update(this.#objects)
      void this.#guarded(() => this.#ensure()).then((done) => this.#again(done))
    })
  }

  /** Whether the work came to its end. */
  async #guarded(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'flow control: its objects could not be written; it is tried again')
      return false
    }
  }

  async #ensure(): Promise<void> {
    const { levels, schemas } = this.#objects
    await this.#ensureAll(LEVEL, levels, suggestedPriorityLevels(), false)
    await this.#ensureAll(SCHEMA, schemas, suggestedFlowSchemas(), false)
    await this.#ensureAll(LEVEL, levels, mandatoryPriorityLevels(), true)
    await this.#ensureAll(SCHEMA, schemas, mandatoryFlowSchemas(), true)
    await this.#removeDropped(SCHEMA, schemas, [...suggestedFlowSchemas(), ...mandatoryFlowSchemas()])
    await this.#removeDropped(LEVEL, levels, [...suggestedPriorityLevels(), ...mandatoryPriorityLevels()])
  }

  async #ensureAll(
    kind: Kind,
    stored: readonly Configuration[],
    wanted: readonly Configuration[],
    mandatory: boolean,
  ): Promise<void> {
    await Promise.all(
      wanted.map(async (object) => {
        const current = stored.find(({ metadata }) => metadata.name === object.metadata.name)
        if (current === undefined) {
          await this.#write(kind, object.metadata.name, {
            method: 'POST',
            path: kind.path,
            query: PRODUCER,
            object: typed(kind, object),
          })
          return
        }
        const revised = revise(current, object, mandatory)
        if (revised === undefined) return
        const path = `${kind.path}/${object.metadata.name}`
        await this.#write(kind, object.metadata.name, {
          method: 'PUT',
          path,
          query: PRODUCER,
          object: typed(kind, revised),
        })
      }),
    )
  }

  /** Removes objects that an older release suggested and this one does not, unless somebody has taken them over. */
  async #removeDropped(kind: Kind, stored: readonly Configuration[], wanted: readonly Configuration[]): Promise<void> {
    for (const { metadata } of stored) {
      if (metadata.annotations?.[AUTO_UPDATE_ANNOTATION] !== 'true') continue
      if (wanted.some((object) => object.metadata.name === metadata.name)) continue
      await this.#write(kind, metadata.name, { method: 'DELETE', path: `${kind.path}/${metadata.name}` })
    }
  }

  async #writeConditions(stale: readonly StaleCondition[]): Promise<void> {
    for (const { name, dangling, level } of stale) {
      if (this.#tooOften(name)) continue
      const condition = {
        type: 'Dangling',
        status: dangling ? 'True' : 'False',
        reason: dangling ? 'NotFound' : 'Found',
        message: danglingMessage(dangling, level),
        lastTransitionTime: `${new Date(this.#options.clock.now()).toISOString().slice(0, 19)}Z`,
      }
      await this.#write(SCHEMA, name, {
        method: 'PATCH',
        path: `${SCHEMA.path}/${name}/status`,
        query: CONSUMER,
        contentType: 'application/apply-patch+yaml',
        object: { apiVersion: API_VERSION, kind: SCHEMA.kind, metadata: { name }, status: { conditions: [condition] } },
      })
    }
  }

  #tooOften(name: string): boolean {
    const now = this.#options.clock.monotonicMs()
    const recent = (this.#statusWrites.get(name) ?? []).filter((at) => now - at < EVERY_MS)
    if (recent.length >= MAX_STATUS_WRITES_A_MINUTE) return true
    this.#statusWrites.set(name, [...recent, now])
    return false
  }

  async #write(kind: Kind, name: string, request: ServerRequest): Promise<void> {
    const { status, text } = await this.#options.requests.send(request)
    // With 409 somebody else was first, with 404 the object is gone; the next round looks again.
    if (status >= 300 && status !== 409 && status !== 404)
      this.#options.logger.warn(
        { kind: kind.kind, name, status, answer: text },
        'flow control: could not write an object',
      )
  }
}

const typed = ({ kind }: Kind, object: Configuration): object => ({ apiVersion: API_VERSION, kind, ...object })

/** The object as it should be; undefined when it is so, or when its owner wants it otherwise. */
export function revise<T extends Configuration>(current: T, wanted: T, mandatory: boolean): T | undefined {
  const value = current.metadata.annotations?.[AUTO_UPDATE_ANNOTATION]
  const stated = parseBoolean(value)
  // Without the annotation, an object whose spec was never changed counts as not taken over.
  const ours = mandatory || (stated ?? current.metadata.generation === 1)
  const wrongAnnotation = stated !== ours
  const wrongSpec = ours && !isDeepStrictEqual(fixedPart(wanted, current), current.spec)
  if (!wrongAnnotation && !wrongSpec) return undefined
  const annotations = { ...current.metadata.annotations, [AUTO_UPDATE_ANNOTATION]: String(ours) }
  return {
    ...current,
    metadata: { ...current.metadata, ...(wrongAnnotation ? { annotations } : {}) },
    ...(wrongSpec ? { spec: wanted.spec } : {}),
  }
}

/** The words that Go reads as a boolean. */
function parseBoolean(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined
}

/** The mandatory part of a level: the level that may do everything keeps the shares that an operator gave it. */
function fixedPart(wanted: Configuration, current: Configuration): object {
  if (wanted.metadata.name !== EXEMPT || !('type' in wanted.spec) || !('exempt' in current.spec)) return wanted.spec
  return { ...wanted.spec, exempt: current.spec.exempt }
}

interface StaleCondition {
  readonly name: string
  readonly level: string
  readonly dangling: boolean
}

function danglingMessage(dangling: boolean, level: string): string {
  const found = dangling ? 'but there is no such object' : 'and it exists'
  return `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} ${found}`
}

export function staleConditions({ levels, schemas }: FlowObjects): StaleCondition[] {
  const names = new Set(levels.map(({ metadata }) => metadata.name))
  const stale: StaleCondition[] = []
  for (const { metadata, spec, status } of schemas) {
    const level = spec.priorityLevelConfiguration.name
    const dangling = !names.has(level)
    const stated = status?.conditions?.find(({ type }) => type === 'Dangling')
    const right =
      stated?.status === (dangling ? 'True' : 'False') && stated.message === danglingMessage(dangling, level)
    if (!right) stale.push({ name: metadata.name, level, dangling })
  }
  return stale
}
