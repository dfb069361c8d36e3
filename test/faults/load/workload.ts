/** Everything that clients do in a run: preparation, lanes until the signal, and a last look when all is healed. */
import { setMaxListeners } from 'node:events'
import { Patience } from '../../support/patience.js'
import { until } from '../../support/until.js'
import type { CheckOptions } from '../check/verdict.js'
import { type Collection, Follower, listStep, watchStep } from './followers.js'
import type { ServerAddress } from './http-exchange.js'
import { runLane, SharedNames } from './lane.js'
import { ObjectClient } from './object-client.js'
import { PassingNamespaces } from './passing-namespaces.js'
import { listObjects } from './readers.js'
import { type LoadObject, type Recorder, STAMP, TOKEN } from './recorder.js'
import {
  CONFIG_MAPS,
  collectionOf,
  EVENTS,
  LEASES,
  LENIENT_NAMESPACE,
  LIMITED_MOST,
  LIMITED_NAMESPACE,
  type LoadResource,
  NAMESPACE,
  prefixOf,
  SECRETS,
  SERVICES,
  STRICT_NAMESPACE,
  WIDGETS,
} from './resources.js'
import type { Webhook } from './webhook.js'
import { configMap, DEPENDENT, Families, type RegisterLoad, registerStep } from './writers.js'

export interface WorkloadOptions {
  readonly servers: readonly ServerAddress[]
  readonly recorder: Recorder
  readonly seed: number
  /** Controllers are at work at the servers: owners have dependents, namespaces come and go. */
  readonly families: boolean
  /** Whom the servers ask, over a line that ends at the port. */
  readonly webhook?: { readonly webhook: Webhook; readonly port: number }
  readonly widgets: boolean
  /** Names begin so: another load on the same store takes another one. */
  readonly stem?: string
  readonly pauseMs?: number
  /** What a healed cluster may take to answer again. */
  readonly patienceMs?: number
}

/** Some twenty lanes make a few hundred requests a second so. */
export const PAUSE_MS = 60

/** On a machine that does other things too. */
const HEALED_WITHIN_MS = 120_000

/** What holds for this load besides; requests of controllers are in nobody's history. */
export const CHECKS: CheckOptions = {
  limits: [{ prefix: prefixOf(SECRETS, LIMITED_NAMESPACE), most: LIMITED_MOST }],
  shared: [`${prefixOf(CONFIG_MAPS)}${DEPENDENT}`],
  stamped: [prefixOf(LEASES, STRICT_NAMESPACE)],
}

export class Workload {
  readonly #options: WorkloadOptions
  readonly #clients: readonly ObjectClient[]
  readonly #collections: readonly Collection[]
  readonly #families = new Families()
  readonly #passing: PassingNamespaces
  #followers: Follower[] = []
  readonly #patienceMs: number

  constructor(options: WorkloadOptions) {
    this.#options = options
    this.#patienceMs = options.patienceMs ?? HEALED_WITHIN_MS
    this.#clients = options.servers.map((server) => new ObjectClient(server, options.recorder))
    this.#passing = new PassingNamespaces(options)
    const resources = [CONFIG_MAPS, LEASES, EVENTS, SERVICES, ...(options.widgets ? [WIDGETS] : [])]
    this.#collections = [
      ...resources.map((resource) => ({ resource, namespace: NAMESPACE })),
      { resource: SECRETS, namespace: LIMITED_NAMESPACE },
      ...(options.webhook === undefined
        ? []
        : [STRICT_NAMESPACE, LENIENT_NAMESPACE].map((namespace) => ({ resource: LEASES, namespace }))),
    ]
  }

  /** Namespaces, the quota, the definition of widgets and the webhooks; whatever is there already stays. */
  async prepare(): Promise<void> {
    const { servers, widgets, webhook } = this.#options
    const [server] = servers
    const configurations = webhook?.webhook.configurations(webhook.port) ?? []
    for (const { path, body } of [...preparations(widgets), ...configurations])
      await until(
        async () => {
          const answer = await server!.exchange({ method: 'POST', path, body })
          return answer !== undefined && (answer.status < 300 || answer.status === 409)
        },
        { what: `${path} to be prepared`, deadlineMs: this.#patienceMs, everyMs: 50 },
      )
    await this.#served()
    if (webhook !== undefined) for (const one of servers) await this.#stamped(one)
  }

  /** The server asks the webhook: it has learned of it by now. */
  async #stamped(server: ServerAddress): Promise<void> {
    const { apiVersion, kind } = LEASES
    const metadata = { name: 'probe', annotations: { [TOKEN]: 'probe' } }
    const path = `${collectionOf(LEASES, STRICT_NAMESPACE)}?dryRun=All`
    const isStamped = async (): Promise<boolean> => {
      const answer = await server.exchange({ method: 'POST', path, body: { apiVersion, kind, metadata } })
      return answer?.status === 201 && (answer.body as LoadObject).metadata.annotations?.[STAMP] === 'probe'
    }
    const what = `${server.name} to ask the webhook`
    await until(isStamped, { what, deadlineMs: this.#patienceMs, everyMs: 50 })
  }

  /** Every collection is served by every server; gives the revision of the last list. */
  async #served(): Promise<void> {
    const { servers, recorder } = this.#options
    for (const server of servers)
      for (const collection of this.#collections)
        await until(
          async () => (await listObjects(server, recorder, { ...collection, match: 'fresh' })) !== undefined,
          {
            what: `${server.name} to list ${collection.resource.name}`,
            deadlineMs: this.#patienceMs,
            everyMs: 50,
          },
        )
  }

  async run(signal: AbortSignal): Promise<void> {
    setMaxListeners(0, signal)
    const { servers, recorder, seed, pauseMs = PAUSE_MS } = this.#options
    const over = new AbortController()
    setMaxListeners(0, over.signal)
    this.#followers = servers.flatMap((server) =>
      this.#collections.map((collection) => new Follower(server, recorder, collection, recorder.newest)),
    )
    for (const follower of this.#followers) follower.start(over.signal)
    const steps = [
      ...this.#writers(),
      ...servers.map((server) => listStep(server, recorder, this.#collections)),
      ...servers.map(() => watchStep(servers, recorder, this.#collections, signal)),
    ]
    await Promise.all(steps.map((step, i) => runLane({ seed, signal, pauseMs }, i, step)))
  }

  #writers(): ReturnType<typeof registerStep>[] {
    const { servers, families, widgets, webhook, stem = 'r' } = this.#options
    const shared = (resource: LoadResource, more: Partial<RegisterLoad> = {}) => {
      // More names than the quota allows objects.
      const names = new SharedNames({ stem, count: more.onlyLife ? 2 * LIMITED_MOST : 4, uses: 40 })
      const load = { resource, namespace: NAMESPACE, names, ...more }
      return this.#clients.map((client) => registerStep({ client, ...load }))
    }
    return [
      ...shared(CONFIG_MAPS),
      ...shared(CONFIG_MAPS),
      ...shared(LEASES),
      ...shared(EVENTS),
      ...shared(SERVICES, { onlyLife: true }),
      ...shared(SECRETS, { onlyLife: true, namespace: LIMITED_NAMESPACE }),
      ...(widgets ? shared(WIDGETS) : []),
      ...(families ? this.#clients.map((client) => this.#families.step(client)) : []),
      ...(families ? servers.map((server) => this.#passing.step(server)) : []),
      ...(webhook === undefined
        ? []
        : [STRICT_NAMESPACE, LENIENT_NAMESPACE].flatMap((namespace) => shared(LEASES, { namespace }))),
    ]
  }

  /** Once all is healed: everything answers, every follower comes to a last write, dependents have gone with their owners. */
  async finish(): Promise<string[]> {
    const { servers, recorder, stem = 'r' } = this.#options
    await this.#served()
    const [client] = this.#clients
    for (const { resource, namespace } of this.#collections.filter(
      ({ namespace }) => namespace !== LIMITED_NAMESPACE,
    )) {
      const place = { resource, namespace, name: `zz-${stem}` }
      let revision: number | undefined
      await until(
        async () => {
          const object = await client!.apply(place)
          revision = object && Number(object.metadata.resourceVersion)
          return revision !== undefined
        },
        { what: `a last ${resource.name} in ${namespace}`, deadlineMs: this.#patienceMs, everyMs: 50 },
      )
      recorder.add({ kind: 'end', prefix: prefixOf(resource, namespace), revision: revision! })
    }
    const problems: string[] = []
    if (this.#options.families)
      problems.push(
        ...(await this.#orphans()),
        ...(await this.#passing.finish(this.#patienceMs)),
        ...(await this.#accounts()),
      )
    await this.#followed()
    await this.#served()
    problems.push(...(this.#options.webhook?.webhook.problems(recorder.records) ?? []))
    for (const server of servers) server.close()
    return problems
  }

  /** Nobody follows anything any longer: after a run that did not come to its end. */
  async abandon(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.stop()))
    for (const server of this.#options.servers) server.close()
  }

  /** A follower that does not come to the end is told by the check of the history. */
  async #followed(): Promise<void> {
    const ends = this.#options.recorder.records.filter((record) => record.kind === 'end')
    const patience = new Patience(this.#patienceMs)
    const isThere = (): boolean =>
      this.#followers.every((follower) =>
        ends.every(({ prefix, revision }) => !follower.isOf(prefix) || follower.reached >= revision),
      )
    await until(() => isThere() || patience.isOver(), {
      what: 'followers',
      deadlineMs: 2 * this.#patienceMs,
      everyMs: 50,
    })
    await Promise.all(this.#followers.map((follower) => follower.stop()))
  }

  /** A controller gives every namespace its account. */
  async #accounts(): Promise<string[]> {
    const [server] = this.#options.servers
    const problems: string[] = []
    const patience = new Patience(this.#patienceMs)
    for (const namespace of [NAMESPACE, LIMITED_NAMESPACE]) {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`
      const isThere = async () => (await server!.exchange({ method: 'GET', path }))?.status === 200
      let isFound = false
      while (!isFound && !patience.isOver()) isFound = await isThere()
      if (!isFound) problems.push(`the namespace ${namespace} has no account`)
    }
    return problems
  }

  /** Whoever has an owner stays; whoever has none any more may take a while to go. */
  async #orphans(): Promise<string[]> {
    const [client] = this.#clients
    // A read without an answer says nothing.
    const isThere = async (name: string): Promise<boolean> => {
      let found: boolean | undefined
      const isAnswered = async (): Promise<boolean> => {
        found = await client!.exists(configMap(name))
        return found !== undefined
      }
      await until(isAnswered, { what: `an answer about ${name}`, deadlineMs: this.#patienceMs, everyMs: 50 })
      return found!
    }
    const problems: string[] = []
    for (const [owner, dependents] of this.#families.owners) {
      const isOwned = await isThere(owner)
      for (const dependent of dependents) {
        const patience = new Patience(this.#patienceMs)
        let isRight = false
        await until(
          async () => {
            isRight = (await isThere(dependent)) === isOwned
            return isRight || isOwned || patience.isOver()
          },
          { what: dependent, deadlineMs: 2 * this.#patienceMs, everyMs: 50 },
        )
        if (!isRight) problems.push(`${dependent} is ${isOwned ? 'gone without' : 'left behind by'} its owner ${owner}`)
      }
    }
    return problems
  }
}

function preparations(widgets: boolean): { readonly path: string; readonly body: object }[] {
  const namespace = (name: string) => ({
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  })
  const quota = {
    path: `/api/v1/namespaces/${LIMITED_NAMESPACE}/resourcequotas`,
    body: {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'few' },
      spec: { hard: { secrets: String(LIMITED_MOST) } },
    },
  }
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } }
  const definition = {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.faults.example.com' },
      spec: {
        group: 'faults.example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  }
  const namespaces = [NAMESPACE, LIMITED_NAMESPACE, STRICT_NAMESPACE, LENIENT_NAMESPACE].map(namespace)
  return [...namespaces, quota, ...(widgets ? [definition] : [])]
}
