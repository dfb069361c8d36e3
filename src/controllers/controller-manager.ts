/**
 * Thread: controllers. The controllers of this server: they run while it holds the lease, each for itself.
 */
import type { UserInfo } from '../api/user-info.js'
import type { Authorizer } from '../auth/interface.js'
import type { ResourceViews } from '../cacher/read/resource-view.js'
import type { Clock } from '../lib/clock.js'
import type { Logger } from '../lib/logger.js'
import type { Recorder } from '../metrics/recorder.js'
import { WorkMetrics } from '../metrics/work-metrics.js'
import type { ControllerHealth, ControllerSettings } from '../protocol/main-controllers.js'
import { CONTROLLERS } from './controller-table.js'
import type { ControlledResources } from './framework/controlled-resource.js'
import type { Controller } from './framework/controller.js'
import { ControllerClient } from './framework/controller-client.js'
import { EventRecorder } from './framework/event-recorder.js'
import { LeaderElection } from './framework/leader-election.js'
import { ObjectReader } from './framework/object-reader.js'
import { PoolRequests, type RequestPool } from './framework/pool-requests.js'
import { RemoteObjects, type RemoteServers } from './framework/remote-objects.js'
import { RunningController } from './framework/running-controller.js'

const LEASES = 'leases.coordination.k8s.io'
/** How often the metrics of queues are told how long their work takes, as each thread looks at itself. */
const LOOK_MS = 5_000
/** Who holds the lease and reads for all controllers. */
const MANAGER = 'kube-controller-manager'
const MANAGER_USER: UserInfo = {
  name: `system:${MANAGER}`,
  uid: '',
  groups: ['system:authenticated'],
  extra: {},
}

export interface ControllerManagerOptions {
  readonly settings: ControllerSettings
  readonly resources: ControlledResources
  readonly views: ResourceViews
  readonly pool: RequestPool
  readonly remotes: RemoteServers
  readonly authorizer: Authorizer
  readonly clock: Clock
  readonly logger: Logger
  readonly recorder: Recorder
}

export class ControllerManager {
  readonly #options: ControllerManagerOptions
  readonly #objects: ObjectReader
  readonly #metrics = new Map<string, WorkMetrics>()
  #running: RunningController[] = []
  #election: LeaderElection | undefined
  #stopFollowing: (() => void) | undefined

  constructor(options: ControllerManagerOptions) {
    this.#options = options
    this.#objects = new ObjectReader(options.views, this.#requests(MANAGER_USER, ''))
  }

  start(): void {
    const { settings, resources, clock, logger } = this.#options
    const leases = resources.find(LEASES)
    if (leases === undefined) {
      logger.error({}, 'leases are not served: the controllers do not run')
      return
    }
    this.#election = new LeaderElection({
      identity: settings.identity,
      leases,
      client: this.#client(MANAGER_USER, ' leader-election'),
      objects: this.#objects,
      clock,
      logger,
      onStarted: () => this.#startAll(),
      onStopped: () => this.#stopAll(),
      recorder: this.#options.recorder,
    })
    this.#election.start()
    this.#look()
  }

  health(): ControllerHealth {
    return Object.fromEntries(this.#running.map(({ name, health }) => [name, health]))
  }

  async stop(): Promise<void> {
    await this.#election?.stop()
  }

  #startAll(): void {
    const { settings, resources, views } = this.#options
    this.#running = CONTROLLERS.filter(
      ({ name, requires }) =>
        settings.enabled.includes(name) && requires.every((id) => resources.find(id) !== undefined),
    ).map((controller) => this.#open(controller))
    for (const running of this.#running) running.start()
    // One listener for all: a turn of the loop brings every controller to the same clock.
    this.#stopFollowing = views(LEASES).clock.onAdvance(() => {
      for (const running of this.#running) running.sync()
    }, 'patient')
  }

  async #stopAll(): Promise<void> {
    this.#stopFollowing?.()
    await Promise.all(this.#running.splice(0).map((running) => running.stop()))
  }

  #open(controller: Controller): RunningController {
    const { settings, resources, views, authorizer, clock, recorder } = this.#options
    const { name, account, eventSource: component = name } = controller
    const logger = this.#options.logger.child({ controller: name })
    const client = this.#client(accountUser(account), `/${account}`)
    let metrics = this.#metrics.get(name)
    if (metrics === undefined) {
      metrics = new WorkMetrics(name.replaceAll('-', '_'), recorder, clock)
      this.#metrics.set(name, metrics)
    }
    return new RunningController({
      controller,
      resources,
      views,
      client,
      objects: this.#objects,
      remotes: new RemoteObjects(this.#options.remotes, authorizer, accountUser(account), clock),
      events: new EventRecorder({ resources, client, component, clock, logger }),
      authorizer,
      settings,
      metrics,
      clock,
      logger,
    })
  }

  #client(user: UserInfo, suffix: string): ControllerClient {
    const { views, clock } = this.#options
    return new ControllerClient(this.#requests(user, suffix), views, clock)
  }

  #requests(user: UserInfo, suffix: string): PoolRequests {
    const { pool, authorizer, clock } = this.#options
    return new PoolRequests({ pool, authorizer, user, userAgent: `${MANAGER}/keelson${suffix}`, clock })
  }

  #look(): void {
    for (const metrics of this.#metrics.values()) metrics.look()
    this.#options.clock.after(LOOK_MS, () => this.#look())
  }
}

const accountUser = (account: string): UserInfo => ({
  name: `system:serviceaccount:kube-system:${account}`,
  uid: '',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  extra: {},
})
