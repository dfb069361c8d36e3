/**
 * Namespaces that are deleted while clients create in them: each ends at last, nothing is created in it once it is gone, and nothing that
 * was in it is left behind.
 */
import { pause } from '../../attack/attack.js'
import type { Random } from '../../support/fuzz.js'
import { Patience } from '../../support/patience.js'
import type { ServerAddress } from './http-exchange.js'
import { resultOf } from './object-client.js'
import type { Recorder } from './recorder.js'
import { CONFIG_MAPS, collectionOf, LEASES, type LoadResource } from './resources.js'

const STEM = 'passing-'
const PATH = '/api/v1/namespaces'
/** One that is being deleted is created in for so many more attempts: some before it is gone, some after. */
const LATE_ATTEMPTS = 40
/** Besides what clients create, whatever controllers put into every namespace. */
const LEFT: readonly Pick<LoadResource, 'path' | 'name'>[] = [
  CONFIG_MAPS,
  LEASES,
  { path: '/api/v1', name: 'serviceaccounts' },
]

interface Passing {
  readonly name: string
  created: number
  isDeleted: boolean
  lateAttempts: number
  /** When somebody was told that it is not there any more. */
  goneMs: number
}

interface ItemList {
  readonly items?: readonly { readonly metadata: { readonly name: string; readonly namespace: string } }[]
}

export interface PassingOptions {
  readonly servers: readonly ServerAddress[]
  readonly recorder: Recorder
}

export class PassingNamespaces {
  readonly #options: PassingOptions
  readonly #all: Passing[] = []
  readonly #problems: string[] = []
  /** Creations that were not answered, which may be done at any time. */
  readonly #unanswered = new Set<string>()
  #objects = 0

  constructor(options: PassingOptions) {
    this.#options = options
  }

  step(server: ServerAddress): (random: Random) => Promise<void> {
    return async (random) => {
      const alive = this.#all.filter(({ isDeleted }) => !isDeleted)
      if (alive.length === 0) return this.#begin(server)
      const ending = this.#all.filter(({ isDeleted, lateAttempts }) => isDeleted && lateAttempts < LATE_ATTEMPTS)
      if (ending.length > 0 && random.chance(50)) {
        const [first] = ending
        first!.lateAttempts++
        if (random.chance(30)) await this.#look(server, first!)
        else await this.#create(server, first!, random)
        return
      }
      const [current] = alive
      if (current!.created >= 8 && random.chance(20)) await this.#delete(server, current!)
      else await this.#create(server, current!, random)
    }
  }

  /** Deletes what is left of them; gives what is not as it should be. */
  async finish(patienceMs: number): Promise<string[]> {
    const { servers } = this.#options
    const [server] = servers
    const patience = new Patience(patienceMs)
    for (const passing of this.#all) {
      while (!isGone(passing) && !patience.isOver()) {
        await this.#delete(server!, passing)
        await this.#look(server!, passing)
        if (!isGone(passing)) await pause(200, new AbortController().signal)
      }
      if (!isGone(passing)) this.#problems.push(`the namespace ${passing.name} does not end`)
    }
    for (const one of servers) for (const resource of LEFT) await this.#leftBehind(one, resource, patience)
    return this.#problems
  }

  async #begin(server: ServerAddress): Promise<void> {
    const passing = {
      name: `${STEM}${this.#all.length}`,
      created: 0,
      isDeleted: false,
      lateAttempts: 0,
      goneMs: Infinity,
    }
    this.#all.push(passing)
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: passing.name } }
    this.#options.recorder.requests++
    const answer = await server.exchange({ method: 'POST', path: PATH, body })
    // It may be created later, or never: it is deleted at the end, and nobody creates in it.
    if (resultOf(answer) === 'ok') return
    passing.isDeleted = true
    passing.lateAttempts = LATE_ATTEMPTS
  }

  async #create(server: ServerAddress, passing: Passing, random: Random): Promise<void> {
    const { recorder } = this.#options
    const resource = random.pick([CONFIG_MAPS, LEASES])
    const name = `o${this.#objects++}`
    const { apiVersion, kind, body } = resource
    const object = { apiVersion, kind, metadata: { name }, ...body(this.#objects) }
    const wasGone = isGone(passing)
    recorder.requests++
    const answer = await server.exchange({ method: 'POST', path: collectionOf(resource, passing.name), body: object })
    const result = resultOf(answer)
    if (result === 'unknown') this.#unanswered.add(`${resource.name} ${passing.name}/${name}`)
    if (result !== 'ok') return
    recorder.acknowledged++
    passing.created++
    if (wasGone)
      this.#problems.push(`${resource.name} ${passing.name}/${name} was created after its namespace was gone`)
  }

  async #delete(server: ServerAddress, passing: Passing): Promise<void> {
    this.#options.recorder.requests++
    const answer = await server.exchange({ method: 'DELETE', path: `${PATH}/${passing.name}` })
    const result = resultOf(answer)
    if (result === 'ok' || result === 'absent' || result === 'conflict') passing.isDeleted = true
    if (result === 'ok') this.#options.recorder.acknowledged++
  }

  async #look(server: ServerAddress, passing: Passing): Promise<void> {
    this.#options.recorder.requests++
    const answer = await server.exchange({ method: 'GET', path: `${PATH}/${passing.name}` })
    if (answer?.status === 404) passing.goneMs = Math.min(passing.goneMs, this.#options.recorder.nowMs())
  }

  /** What came late is found and deleted by the controller, some time after it has forgotten the namespace. */
  async #leftBehind(server: ServerAddress, { path, name: resource }: (typeof LEFT)[number], patience: Patience) {
    let left: string[] | undefined
    do {
      if (left !== undefined) await pause(200, new AbortController().signal)
      const answer = await server.exchange({ method: 'GET', path: `${path}/${resource}` })
      const { items } = answer?.status === 200 ? (answer.body as ItemList) : {}
      left = items
        ?.filter(({ metadata: { namespace } }) => this.#all.some((one) => one.name === namespace && isGone(one)))
        .map(({ metadata: { namespace, name } }) => `${resource} ${namespace}/${name}`)
    } while (left?.length !== 0 && !patience.isOver())
    for (const object of left ?? []) {
      const how = this.#unanswered.has(object) ? ' (its creation was not answered)' : ''
      this.#problems.push(`${server.name} has ${object} of a namespace that is gone${how}`)
    }
  }
}

const isGone = ({ goneMs }: Passing): boolean => goneMs < Infinity
