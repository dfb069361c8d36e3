/**
 * Thread: pool. What a server writes into definitions: which names are accepted, and, of one that is being deleted, how far its
 * objects have gone. Several servers on one storage may come to it at a time: each write says of which state it is made, and who
 * comes second looks again.
 */
import type { CustomResourceDefinition } from '../../api/generated/kinds/apiextensions.v1.js'
import { deepCopy, type KubeObject, metadataOf } from '../../api/object.js'
import { isStatusError } from '../../api/status.js'
import { API_SERVER_USER } from '../../api/user-info.js'
import { type Condition, conditionIs, setCondition } from '../../apiextensions/definitions/conditions.js'
import { definitionSummary, summaryKey } from '../../apiextensions/definitions/definition-summary.js'
import { namesIn, settle } from '../../apiextensions/definitions/settle.js'
import type { NamesOfOthers, PoolRequest, SettledDefinition } from '../../protocol/main-pool.js'
import type { RegistryStore } from '../../registry/generic/registry-store.js'
import type { RequestContext } from '../../registry/generic/strategy.js'
import type { EndpointTable } from '../endpoints/endpoint-table.js'
import type { Scheme } from '../scheme/scheme.js'
import { DeletionRound, type ObjectName } from './deletion-round.js'

const GROUP = 'apiextensions.k8s.io'
const RESOURCE = 'customresourcedefinitions'
const PATH = `/apis/${GROUP}/v1/${RESOURCE}`
const FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'
const TIMEOUT_MS = 60_000

export interface DefinitionKeeperOptions {
  readonly endpoints: EndpointTable
  readonly scheme: Scheme
  now(): number
  /** PUTs an object through admission and strategy; rejects with a StatusError. */
  replace(request: PoolRequest, object: KubeObject): Promise<KubeObject>
  readonly deleteWorkers: number
}

export class DefinitionKeeper {
  readonly #options: DefinitionKeeperOptions

  constructor(options: DefinitionKeeperOptions) {
    this.#options = options
  }

  async settle(name: string, taken: NamesOfOthers): Promise<SettledDefinition> {
    let definition = await this.#get(name)
    if (definition === undefined) return { state: 'gone' }
    const settled = deepCopy(definition)
    const builtin = this.#builtinNames(definition)
    const others = {
      resources: new Set([...taken.resources, ...builtin.resources]),
      kinds: new Set([...taken.kinds, ...builtin.kinds]),
    }
    if (settle(settled, others, this.#time())) {
      const written = await this.#putStatus(settled)
      if (written === undefined) return { state: 'again' }
      definition = written
    }
    const resource = this.#isOfBuiltin(definition) ? undefined : definitionSummary(definition)
    const { deletionTimestamp, finalizers } = metadataOf(definition)
    const isEnding = deletionTimestamp !== undefined && deletionTimestamp !== null
    return {
      state: 'settled',
      names: namesIn(definition.status?.acceptedNames ?? {}),
      resource,
      key: resource === undefined ? '' : summaryKey(resource, definition.spec),
      finalizes: isEnding && (finalizers ?? []).includes(FINALIZER),
    }
  }

  /** The names that built-in resources have in the definition's group. */
  #builtinNames({ spec }: CustomResourceDefinition): { resources: string[]; kinds: string[] } {
    const names = this.#options.scheme.catalogue.resources
      .filter(({ group, definitionHash }) => group === spec?.group && definitionHash === undefined)
      .map(({ resource, singular, shortNames, kind, listKind }) =>
        namesIn({ plural: resource, singular, shortNames: [...shortNames], kind, listKind: listKind ?? `${kind}List` }),
      )
    return { resources: names.flatMap(({ resources }) => resources), kinds: names.flatMap(({ kinds }) => kinds) }
  }

  /**
   * Whether the definition is called like a built-in resource of its group. Such a one is never served and has no objects, whatever its
   * status says: who may write definitions must not come to own the built-in resource.
   */
  #isOfBuiltin(definition: CustomResourceDefinition): boolean {
    const builtin = this.#builtinNames(definition)
    const { resources, kinds } = namesIn(definition.spec?.names ?? {})
    const accepted = namesIn(definition.status?.acceptedNames ?? {})
    return (
      [...resources, ...accepted.resources].some((name) => builtin.resources.includes(name)) ||
      [...kinds, ...accepted.kinds].some((name) => builtin.kinds.includes(name))
    )
  }

  /** Every step can be taken again: what a server has begun another one, or the same after a restart, finishes. */
  async finalize(name: string): Promise<'gone' | 'later'> {
    let definition = await this.#get(name)
    if (definition === undefined) return 'gone'
    if (!(metadataOf(definition).finalizers ?? []).includes(FINALIZER)) return 'gone'
    const begun = deepCopy(definition)
    const isNews = setCondition(
      begun,
      terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
      this.#time(),
    )
    if (isNews) {
      definition = await this.#putStatus(begun)
      if (definition === undefined) return 'later'
    }
    const outcome = await this.#deleteObjects(definition)
    const done = deepCopy(definition)
    const says = setCondition(done, outcome, this.#time())
    if (!says && outcome.status === 'True') return 'later'
    if (outcome.status === 'False') {
      const metadata = metadataOf(done)
      metadata.finalizers = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER)
    }
    const written = await this.#putStatus(done)
    return outcome.status === 'False' && written !== undefined ? 'gone' : 'later'
  }

  async #deleteObjects(definition: CustomResourceDefinition): Promise<Condition> {
    if (!conditionIs(definition, 'Established', 'True') || this.#isOfBuiltin(definition))
      return terminating('False', 'NeverEstablished', 'resource was never established')
    const summary = definitionSummary(definition)
    const apiGroup = definition.spec?.group ?? ''
    const resource = definition.status?.acceptedNames?.plural ?? ''
    try {
      if (summary === undefined) throw new Error('it has no storage version')
      const { store } = this.#options.endpoints.findStored(summary)
      const left = await this.#deleteAll(store, apiGroup, resource)
      return left === 0
        ? terminating('False', 'InstanceDeletionCompleted', 'removed all instances')
        : terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress')
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return terminating('True', 'InstanceDeletionFailed', `could not list instances: ${why}`)
    }
  }

  /** Gives how many objects are left. */
  #deleteAll(store: RegistryStore, apiGroup: string, resource: string): Promise<number> {
    return new DeletionRound({
      store,
      now: () => this.#options.now(),
      remove: (object) => this.#delete(store, object, apiGroup, resource),
      workers: this.#options.deleteWorkers,
    }).run()
  }

  async #delete(store: RegistryStore, object: ObjectName, apiGroup: string, resource: string): Promise<void> {
    const { name, namespace } = object
    const context: RequestContext = {
      namespace,
      resource,
      subresource: '',
      verb: 'delete',
      apiGroup,
      apiVersion: '',
      user: API_SERVER_USER,
      dryRun: false,
      now: () => this.#options.now(),
      addWarning: () => undefined,
    }
    try {
      await store.delete(context, name, {}, () => undefined)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }

  async #get(name: string): Promise<CustomResourceDefinition | undefined> {
    const { store } = this.#options.endpoints.find({
      apiGroup: GROUP,
      apiVersion: 'v1',
      resource: RESOURCE,
      subresource: '',
    })
    return store.storage
      .get(store.key('', name), { ignoreNotFound: true })
      .then((found) => (metadataOf(found).name === undefined ? undefined : (found as CustomResourceDefinition)))
  }

  /** Undefined when another state has been stored meanwhile, or none is left. */
  async #putStatus(definition: CustomResourceDefinition): Promise<CustomResourceDefinition | undefined> {
    const { name = '' } = metadataOf(definition)
    const parts = [RESOURCE, name, 'status']
    const request: PoolRequest = {
      info: {
        isResourceRequest: true,
        path: `${PATH}/${name}/status`,
        verb: 'update',
        apiPrefix: 'apis',
        apiGroup: GROUP,
        apiVersion: 'v1',
        namespace: '',
        resource: RESOURCE,
        subresource: 'status',
        name,
        parts,
      },
      method: 'PUT',
      query: '',
      user: API_SERVER_USER,
      accept: 'application/json',
      contentType: 'application/json',
      userAgent: 'kube-apiserver/keelson',
      body: new Uint8Array(),
      auditId: `definition-${name}`,
      deadlineMs: this.#options.now() + TIMEOUT_MS,
    }
    try {
      return (await this.#options.replace(request, definition)) as CustomResourceDefinition
    } catch (error) {
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return undefined
      throw error
    }
  }

  #time(): string {
    return `${new Date(this.#options.now()).toISOString().slice(0, 19)}Z`
  }
}

const terminating = (status: Condition['status'], reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
})
