/** Thread: pool. A pod is asked to go, as far as its disruption budget allows that now. */

import { isDeepStrictEqual } from 'node:util'
import { FieldPath, invalid } from '../../../api/field-error.js'
import type { Pod } from '../../../api/generated/kinds/core.v1.js'
import type { Condition, DeleteOptions as UncheckedOptions } from '../../../api/generated/kinds/meta.v1.js'
import type {
  Eviction,
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../../api/generated/kinds/policy.v1.js'
import { labelSelectorAsSelector } from '../../../api/label-selector-object.js'
import { SelectorError } from '../../../api/labels.js'
import { type JsonObject, type KubeObject, metadataOf } from '../../../api/object.js'
import { everything, MapAttributes } from '../../../api/selector.js'
import {
  isStatusError,
  newBadRequest,
  newConflict,
  newForbidden,
  newInvalid,
  newTooManyRequests,
  newUnknown,
  type Status,
  type StatusError,
  successStatus,
} from '../../../api/status.js'
import { checkDeleteOptions } from '../../generic/delete-options.js'
import type { EndpointHandler, NamedCreate } from '../../generic/endpoint-handler.js'
import type { RegistryStore } from '../../generic/registry-store.js'
import type { HandlerParts, HandlerRow } from '../../generic/resource-rest.js'
import type { EndpointSource } from '../../generic/rest-dependencies.js'
import type { DeleteOptions, RequestContext } from '../../generic/strategy.js'
import { formatTime } from '../../generic/system-fields.js'
import { conditionOf, setPodCondition } from './pod-condition.js'

/** Evictions that a controller has not confirmed; more would make the object too large. */
const MAX_DISRUPTED_PODS = 2000
/** How often a pod that changes meanwhile is looked at again. */
const ATTEMPTS = 20
const BUDGETS = { group: 'policy', resource: 'poddisruptionbudget' }
const CAUSE = 'DisruptionBudget'
/** The name under which the server itself changes the status of a budget. */
const MANAGER = 'kube-apiserver'
const NO_CHECK = { create: () => undefined, update: () => undefined }

class PodEviction implements EndpointHandler {
  readonly recordsManagers = true
  readonly acceptedVersions = ['policy/v1beta1']
  readonly #store: RegistryStore
  readonly #endpoints: EndpointSource

  constructor({ store, dependencies }: HandlerParts) {
    this.#store = store
    this.#endpoints = dependencies.endpoints
  }

  async create({ context, name, object, dryRun, validate }: NamedCreate): Promise<Status> {
    const eviction: Eviction = object
    if (metadataOf(eviction).name !== name) throw newBadRequest('name in URL does not match name in Eviction object')
    if (eviction.deleteOptions?.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
      throw newInvalid({ group: 'policy', kind: 'Eviction' }, name, [
        invalid(
          FieldPath.of('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential'),
          true,
          'can not be set for pod eviction, try after removing the option',
        ),
      ])
    }
    const options: UncheckedOptions = withDryRun(eviction.deleteOptions ?? {}, dryRun)
    checkDeleteOptions(options)
    await validate(structuredClone(eviction))
    const wanted: RequestContext = { ...context, dryRun: (options.dryRun ?? []).length > 0 }
    const pod = await this.#deleteUnguarded(wanted, name, options)
    return pod === undefined ? successStatus() : this.#evict(wanted, pod, options)
  }

  /** Pods that do not run any more or not yet are no disruption. The pod, when it does run. */
  async #deleteUnguarded(context: RequestContext, name: string, options: DeleteOptions): Promise<Pod | undefined> {
    const mayRetry = options.preconditions?.resourceVersion === undefined
    for (let attempt = 1; ; attempt++) {
      const pod: Pod = await this.#store.get(context, name)
      const { deletionTimestamp, resourceVersion } = metadataOf(pod)
      const phase = pod.status?.phase ?? ''
      const over = phase === 'Succeeded' || phase === 'Failed' || deletionTimestamp !== undefined
      if (!over && phase !== 'Pending') return pod
      try {
        await this.#delete(context, name, over || !mayRetry ? options : at(options, resourceVersion))
        return undefined
      } catch (error) {
        if (!mayRetry || attempt === ATTEMPTS || !isStatusError(error, 'Conflict')) throw error
      }
    }
  }

  async #evict(context: RequestContext, pod: Pod, options: DeleteOptions): Promise<Status> {
    const { name = '', resourceVersion } = metadataOf(pod)
    const budgets = await this.#budgetsOf(context, pod)
    if (budgets.length > 1) {
      const { message } = newUnknown(
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      ).status
      return { ...successStatus(undefined, 500), status: 'Failure', message: message! }
    }
    const [budget] = budgets
    const unguarded = budget !== undefined && isUnhealthyAndFree(pod, budget)
    if (budget !== undefined && !unguarded) await this.#spend(context, budget, name)
    try {
      await this.#delete(context, name, unguarded ? at(options, resourceVersion) : options)
    } catch (error) {
      // It has become healthy in the meantime, perhaps: the client should ask again.
      const mine = unguarded && options.preconditions?.resourceVersion === undefined
      if (mine && isStatusError(error, 'Conflict')) throw stillProcessed(metadataOf(budget).name ?? '')
      throw error
    }
    return successStatus()
  }

  async #budgetsOf(context: RequestContext, pod: Pod): Promise<PodDisruptionBudget[]> {
    const { store } = this.#endpoints.find(BUDGET_PATH)
    const { items } = await store.list(
      context,
      { label: everything, field: everything },
      { resourceVersion: '', resourceVersionMatch: '', limit: 0, continueToken: '' },
    )
    const labels = new MapAttributes(metadataOf(pod).labels)
    return items.filter(({ spec }: PodDisruptionBudget) => {
      try {
        return labelSelectorAsSelector(spec?.selector).matches(labels)
      } catch (error) {
        if (error instanceof SelectorError) return false
        throw error
      }
    })
  }

  /** Takes one disruption from the budget, in a transaction: two evictions never share it. Throws 429 when it has none. */
  async #spend(context: RequestContext, budget: PodDisruptionBudget, podName: string): Promise<void> {
    const { store, fieldManager } = this.#endpoints.find({ ...BUDGET_PATH, subresource: 'status' })
    await store.update(
      context,
      metadataOf(budget).name ?? '',
      {
        updatedObject: (existing) => {
          const next: PodDisruptionBudget = structuredClone(existing)
          checkBudget(next)
          const status = next.status!
          status.disruptionsAllowed = status.disruptionsAllowed! - 1
          if (status.disruptionsAllowed === 0) refuseDisruptions(status, context.now())
          status.disruptedPods = { ...status.disruptedPods, [podName]: formatTime(context.now()) }
          return fieldManager.update(existing as JsonObject, next as JsonObject, MANAGER, {
            now: context.now(),
          }) as KubeObject
        },
      },
      NO_CHECK,
    )
  }

  /** Says why on the pod, then deletes it. */
  async #delete(context: RequestContext, name: string, given: DeleteOptions): Promise<void> {
    const options = structuredClone(given)
    if (!context.dryRun) {
      const { object } = await this.#store.update(
        context,
        name,
        {
          updatedObject: (existing) => {
            checkPreconditions(existing, options)
            const pod: Pod = structuredClone(existing)
            pod.status ??= {}
            const reason = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' }
            setPodCondition(pod.status, { type: 'DisruptionTarget', status: 'True', ...reason }, context.now())
            return pod
          },
        },
        NO_CHECK,
      )
      const { resourceVersion } = metadataOf(object)
      if (options.preconditions?.resourceVersion !== undefined && resourceVersion !== undefined)
        options.preconditions.resourceVersion = resourceVersion
    }
    await this.#store.delete(context, name, options, () => undefined)
  }
}

const BUDGET_PATH = { apiGroup: 'policy', apiVersion: 'v1', resource: 'poddisruptionbudgets', subresource: '' }

const at = (options: DeleteOptions, resourceVersion: string | undefined): DeleteOptions => ({
  ...options,
  preconditions: { ...options.preconditions, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
})

/** The request and the object in it may both ask for a dry run, but not for different ones. */
function withDryRun(options: UncheckedOptions, dryRun: readonly string[]): UncheckedOptions {
  const own = options.dryRun ?? []
  if (own.length === 0) return dryRun.length === 0 ? options : { ...options, dryRun: [...dryRun] }
  if (dryRun.length > 0 && !isDeepStrictEqual([...dryRun], own)) {
    throw newUnknown(
      `Non-matching dry-run options in request and content: [${dryRun.join(' ')}] and [${own.join(' ')}]`,
    )
  }
  return options
}

function checkPreconditions(pod: KubeObject, { preconditions = {} }: DeleteOptions): void {
  const { name = '', uid, resourceVersion } = metadataOf(pod)
  const resource = { group: '', resource: 'Pod' }
  if (preconditions.uid && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    throw newConflict(resource, name, why)
  }
  if (preconditions.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`
    throw newConflict(resource, name, why)
  }
}

/** A pod that is not ready counts for nothing: it may go when its policy, or enough healthy ones, allow it. */
function isUnhealthyAndFree(pod: Pod, { spec, status = {} }: PodDisruptionBudget): boolean {
  if (conditionOf(pod.status, 'Ready')?.status === 'True') return false
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const [healthy, desired] = [status.currentHealthy ?? 0, status.desiredHealthy ?? 0]
  return healthy >= desired && desired > 0
}

const refusal = (message: string, retryAfterSeconds: number, cause: string): StatusError =>
  newTooManyRequests(message, retryAfterSeconds, [{ reason: CAUSE, message: cause }])

const CANNOT_EVICT = "Cannot evict pod as it would violate the pod's disruption budget."

const stillProcessed = (name: string): StatusError =>
  refusal(CANNOT_EVICT, 10, `The disruption budget ${name} is still being processed by the server.`)

/** Throws when the budget has nothing to give. */
function checkBudget(budget: PodDisruptionBudget): void {
  budget.status ??= {}
  const { status } = budget
  const { name = '', generation = 0 } = metadataOf(budget)
  status.disruptionsAllowed ??= 0
  const denied = (why: string, text: string): StatusError =>
    newForbidden(BUDGETS, name, why, [
      { reason: CAUSE, message: `The disruption budget ${name} does not allow evicting pods currently: ${text}` },
    ])
  if ((status.observedGeneration ?? 0) < generation) throw stillProcessed(name)
  if (status.disruptionsAllowed < 0)
    throw denied('pdb disruptions allowed is negative', 'pdb disruptions allowed is negative')
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS) {
    throw denied(
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
      'too many pending evictions not confirmed by PDB controller',
    )
  }
  if (status.disruptionsAllowed === 0) throw refusal(CANNOT_EVICT, 0, exhausted(name, status))
}

function exhausted(name: string, status: PodDisruptionBudgetStatus): string {
  const condition = (status.conditions ?? []).find(({ type }) => type === 'DisruptionAllowed')
  const said = condition?.status === 'False' && condition.message !== '' ? condition : undefined
  const start = `The disruption budget ${name}`
  const [healthy, desired] = [status.currentHealthy ?? 0, status.desiredHealthy ?? 0]
  if (said?.reason === 'SyncFailed')
    return `${start} does not allow evicting pods currently because it failed sync: ${said.message}`
  if (healthy <= desired) return `${start} needs ${desired} healthy pods and has ${healthy} currently`
  if (said !== undefined) return `${start} does not allow evicting pods currently (${said.reason}): ${said.message}`
  return `${start} does not allow evicting pods currently`
}

function refuseDisruptions(status: PodDisruptionBudgetStatus, nowMs: number): void {
  const old = (status.conditions ?? []).find(({ type }) => type === 'DisruptionAllowed')
  const next: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    lastTransitionTime: (old?.status === 'False' ? old.lastTransitionTime : undefined) ?? formatTime(nowMs),
    ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
  }
  const others = (status.conditions ?? []).map((one) => (one === old ? next : one))
  status.conditions = old === undefined ? [...others, next] : others
}

export const evictionRow: HandlerRow = { updates: 'status', make: (parts) => new PodEviction(parts) }
