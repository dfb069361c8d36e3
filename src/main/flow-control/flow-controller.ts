/**
 * Thread: any. The configuration in force: which schema and level a request belongs to, and how many seats each level has.
 * The mandatory schemas and levels are there even when their objects are not.
 */
import type { RequestInfo } from '../../api/request-info.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { CATCH_ALL, EXEMPT, mandatoryFlowSchemas, mandatoryPriorityLevels } from './bootstrap-objects.js'
import type { FlowSchema, PriorityLevelConfiguration, PriorityLevelSpec } from './configuration.js'
import { type FlowRecorder, nullFlowRecorder } from './flow-recorder.js'
import { PriorityLevel } from './priority-level.js'
import type { Flow } from './queue-set.js'
import { matchesSchema } from './schema-match.js'
import { allocateSeats } from './seat-allocation.js'
import { dealHand } from './shuffle-shard.js'

const ADJUST_EVERY_MS = 10_000
/** So many different requests of one user are remembered; further ones are looked up again. */
const MAX_REMEMBERED = 1024
/** So many flows of one schema have their hands remembered. */
const MAX_FLOWS = 8192

export interface Classification {
  readonly schemaName: string
  readonly schemaUid: string
  readonly level: PriorityLevel
  readonly flow: Flow
  /** Response headers X-Kubernetes-PF-…: name, value, …; a uid is '' while its object has none. */
  readonly headers: readonly string[]
}

interface SchemaInForce {
  readonly object: FlowSchema
  readonly level: PriorityLevel
  readonly headers: readonly string[]
  readonly flows: Map<string, Classification>
}

export interface FlowControllerOptions {
  readonly clock: Clock
  /** The seats of all levels together; a front-end thread has its part of the server's. */
  readonly totalSeats: number
  readonly recorder?: FlowRecorder
}

export class FlowController {
  readonly #clock: Clock
  readonly #totalSeats: number
  readonly #recorder: FlowRecorder
  #levels = new Map<string, PriorityLevel>()
  #schemas: SchemaInForce[] = []
  /** Classifications by user, then by what is asked; replaced as a whole with the configuration. */
  #remembered = new WeakMap<UserInfo, Map<string, Classification>>()
  #timer: Timer | undefined

  constructor({ clock, totalSeats, recorder = nullFlowRecorder }: FlowControllerOptions) {
    this.#clock = clock
    this.#totalSeats = totalSeats
    this.#recorder = recorder
    this.configure([], [])
  }

  start(): void {
    this.#timer ??= this.#clock.after(ADJUST_EVERY_MS, () => {
      this.#timer = undefined
      this.start()
      this.adjust()
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  get levels(): ReadonlyMap<string, PriorityLevel> {
    return this.#levels
  }

  /** The names of schemas in the order in which they are asked. */
  get schemaNames(): readonly string[] {
    return this.#schemas.map(({ object }) => object.metadata.name)
  }

  /** Takes all objects as they are now. Those that make no sense are left out. */
  configure(levels: readonly PriorityLevelConfiguration[], schemas: readonly FlowSchema[]): void {
    const before = this.#levels
    this.#levels = new Map()
    for (const object of levels) if (isSound(object)) this.#level(object, before)
    for (const object of mandatoryPriorityLevels())
      if (!this.#levels.has(object.metadata.name)) this.#level(object, before)
    const wanted = new Set(this.#levels.keys())
    for (const [name, level] of before) {
      if (wanted.has(name)) continue
      if (level.queues.idle) {
        this.#recorder.removed(name)
        continue
      }
      level.quiescing = true
      this.#levels.set(name, level)
    }
    let shares = 0
    for (const level of this.#levels.values()) shares += level.shares
    for (const level of this.#levels.values()) level.allot(this.#totalSeats, shares)
    this.#schemas = this.#inForce(schemas, wanted)
    this.#remembered = new WeakMap()
    this.adjust()
  }

  classify(user: UserInfo, info: RequestInfo): Classification {
    let requests = this.#remembered.get(user)
    if (requests === undefined) {
      requests = new Map()
      this.#remembered.set(user, requests)
    }
    const key = info.isResourceRequest
      ? `${info.verb} ${info.namespace} ${info.resource} ${info.apiGroup} ${info.subresource}`
      : `${info.verb} ${info.path}`
    const known = requests.get(key)
    if (known !== undefined) return known
    const found = this.#find(user, info)
    if (requests.size >= MAX_REMEMBERED) requests.clear()
    requests.set(key, found)
    return found
  }

  /** Lends seats of levels that do not need them to those that do, in proportion to what each could have used. */
  adjust(): void {
    const now = this.#clock.monotonicMs()
    const limited: PriorityLevel[] = []
    let nominal = 0
    let taken = 0
    let lowest = 0
    let wanted = 0
    for (const [name, level] of this.#levels) {
      if (level.quiescing && level.queues.idle) {
        this.#levels.delete(name)
        this.#recorder.removed(name)
        continue
      }
      level.queues.demand.endPeriod(now)
      nominal += level.nominalSeats
      if (level.exempt) {
        const seats = level.lowerBound()
        taken += seats
        level.seat(seats, seats)
        continue
      }
      limited.push(level)
      lowest += level.lowerSeats
      wanted += level.lowerBound()
    }
    const targets = limited.map((level) => Math.max(level.lowerBound(), level.queues.demand.smoothed))
    const seats = this.#share(limited, targets, { nominal, left: nominal - taken, lowest, wanted })
    for (const [i, level] of limited.entries()) level.seat(seats[i]!, targets[i]!)
  }

  #share(
    levels: readonly PriorityLevel[],
    targets: readonly number[],
    sums: { readonly nominal: number; readonly left: number; readonly lowest: number; readonly wanted: number },
  ): number[] {
    if (sums.left <= sums.lowest) {
      this.#recorder.fairFraction(0)
      return levels.map((level) => level.lowerSeats)
    }
    if (sums.left <= sums.wanted) {
      const part = (sums.left - sums.lowest) / (sums.wanted - sums.lowest)
      this.#recorder.fairFraction(0)
      return levels.map((level) => level.lowerSeats + Math.round((level.lowerBound() - level.lowerSeats) * part))
    }
    const claims = levels.map((level, i) => ({
      lower: level.lowerBound(),
      upper: level.upperSeats,
      target: targets[i]!,
    }))
    const { seats, fraction } = allocateSeats(sums.nominal, claims)
    this.#recorder.fairFraction(fraction)
    return seats.map((number) => Math.round(number))
  }

  #level(object: PriorityLevelConfiguration, before: ReadonlyMap<string, PriorityLevel>): void {
    const { name } = object.metadata
    const level = before.get(name) ?? new PriorityLevel(name, this.#clock, this.#recorder)
    level.read(object)
    this.#levels.set(name, level)
  }

  #inForce(objects: readonly FlowSchema[], wanted: ReadonlySet<string>): SchemaInForce[] {
    const sound = objects.filter(({ spec }) => wanted.has(spec?.priorityLevelConfiguration?.name))
    sound.sort(
      (a, b) => a.spec.matchingPrecedence - b.spec.matchingPrecedence || (a.metadata.name < b.metadata.name ? -1 : 1),
    )
    const [exempt, catchAll] = mandatoryFlowSchemas()
    if (!sound.some(({ metadata }) => metadata.name === EXEMPT)) sound.unshift(exempt!)
    if (!sound.some(({ metadata }) => metadata.name === CATCH_ALL)) sound.push(catchAll!)
    return sound.map((object) => {
      const level = this.#levels.get(object.spec.priorityLevelConfiguration.name)!
      return { object, level, headers: responseHeaders(object, level), flows: new Map() }
    })
  }

  #find(user: UserInfo, info: RequestInfo): Classification {
    let last: SchemaInForce | undefined
    for (const schema of this.#schemas) {
      last = schema
      if (matchesSchema(schema.object.spec, user, info)) return this.#flow(schema, user, info)
    }
    // Only a user in neither group of everybody matches no schema: the catch-all takes them too.
    return this.#flow(this.#schemas.find(({ object }) => object.metadata.name === CATCH_ALL) ?? last!, user, info)
  }

  #flow(schema: SchemaInForce, user: UserInfo, info: RequestInfo): Classification {
    const { object, level, headers, flows } = schema
    const method = object.spec.distinguisherMethod?.type
    const distinguisher = method === 'ByUser' ? user.name : method === 'ByNamespace' ? info.namespace : ''
    let found = flows.get(distinguisher)
    if (found === undefined) {
      const { name, uid = '' } = object.metadata
      const hand = level.deckSize > 0 ? dealHand(name, distinguisher, level.deckSize, level.handSize) : []
      found = { schemaName: name, schemaUid: uid, level, flow: { schema: name, hand, seatsInUse: 0 }, headers }
      if (flows.size >= MAX_FLOWS) flows.clear()
      flows.set(distinguisher, found)
    }
    return found
  }
}

function responseHeaders(schema: FlowSchema, level: PriorityLevel): string[] {
  return ['X-Kubernetes-PF-FlowSchema-UID', schema.metadata.uid ?? '', 'X-Kubernetes-PF-PriorityLevel-UID', level.uid]
}

/** Objects come here as they are stored; one that validation would refuse counts as absent. */
function isSound({ metadata, spec }: PriorityLevelConfiguration): boolean {
  if ((spec?.type === 'Exempt') !== (metadata.name === EXEMPT)) return false
  return spec.type === 'Exempt' ? spec.limited === undefined : spec.type === 'Limited' && isSoundLimit(spec)
}

function isSoundLimit({ limited }: PriorityLevelSpec): boolean {
  const response = limited?.limitResponse
  if (response === undefined) return false
  const { queuing } = response
  if (response.type === 'Reject') return queuing === undefined
  return queuing !== undefined && queuing.handSize > 0 && queuing.queues >= queuing.handSize
}
