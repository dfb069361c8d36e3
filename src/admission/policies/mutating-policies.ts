/**
 * Thread: pool. MutatingAdmissionPolicy: policies that change objects, one after the other in the order of their names; each sees
 * what those before it made. When one has changed something, the chain runs once more (policy-rounds.ts).
 */
import type { MutatingAdmissionPolicy as RawMutatingPolicy } from '../../api/generated/kinds/admissionregistration.v1.js'
import { deepCopy, type Json, type KubeObject } from '../../api/object.js'
import { newInternalError, StatusError } from '../../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin, Reinvocation } from '../chain.js'
import { withAuthorizations } from '../expressions/expression-authorizer.js'
import { forbid } from '../forbid.js'
import type { ServedKind } from '../matching/admission-kinds.js'
import { equalJson } from '../matching/equal-json.js'
import type { Candidate } from '../matching/rule-index.js'
import { notReady } from '../not-ready.js'
import { isExemptFromPolicies } from './exempt-resources.js'
import type { Change, MutatingEvaluator } from './mutating-policy.js'
import { MutationError } from './mutation-error.js'
import type { BoundPolicy, PolicyBinding } from './policy.js'
import type { PolicyMetrics } from './policy-metrics.js'
import { PolicyConfigurationError, type PolicyParam, type ReadParam } from './policy-params.js'
import { type PolicyParts, PolicyRequest } from './policy-request.js'
import { PolicyRounds } from './policy-rounds.js'
import type { PolicySource } from './policy-source.js'

type Bound = BoundPolicy<MutatingEvaluator>
type Request = PolicyRequest<MutatingEvaluator>

/** A policy that runs for a request, with one of its bindings and one parameter. */
interface Invocation {
  readonly policy: Bound['policy']
  readonly binding: PolicyBinding
  readonly target: ServedKind
  readonly param: PolicyParam
}

interface PolicyFailure {
  readonly message: string
  /** Undefined: Forbidden. */
  readonly reason?: string
}

export class MutatingAdmissionPolicy implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionPolicy'
  readonly #source: PolicySource<RawMutatingPolicy, MutatingEvaluator>
  readonly #parts: PolicyParts
  readonly #metrics: PolicyMetrics
  readonly #rounds = new WeakMap<Reinvocation, PolicyRounds>()

  constructor(source: PolicySource<RawMutatingPolicy, MutatingEvaluator>, parts: PolicyParts, metrics: PolicyMetrics) {
    this.#source = source
    this.#parts = parts
    this.#metrics = metrics
  }

  /** A deletion has no object that could be changed. */
  handles(attributes: Pick<AdmissionAttributes, 'operation' | 'resource'>): boolean {
    return attributes.operation !== 'DELETE' && !isExemptFromPolicies(attributes)
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    if (!this.#source.sync()) throw notReady(attributes)
    const candidates = this.#source.candidates(attributes)
    return candidates.length === 0 ? undefined : this.#dispatch(attributes, candidates)
  }

  async #dispatch(attributes: AdmissionAttributes, candidates: readonly Candidate<Bound>[]): Promise<void> {
    const request: Request = new PolicyRequest(attributes, this.#parts, this.#source.index)
    const failures: PolicyFailure[] = []
    const invocations: Invocation[] = []
    for (const candidate of candidates) await this.#invocations(candidate, request, invocations, failures)
    if (invocations.length > 0) await this.#run(invocations, request, failures)
    if (failures.length > 0) throw refusal(attributes, failures)
  }

  async #invocations(
    candidate: Candidate<Bound>,
    request: Request,
    invocations: Invocation[],
    failures: PolicyFailure[],
  ): Promise<void> {
    const { entry } = candidate
    const { policy, bindings } = entry
    const attempt = async <R>(binding: PolicyBinding | undefined, run: () => Promise<R>): Promise<R | undefined> => {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof PolicyConfigurationError)) throw error
        const what = binding === undefined ? 'policy' : 'binding'
        if (!policy.ignoresFailures)
          failures.push({ message: deniedBy(policy, binding, `failed to configure ${what}: ${error.message}`) })
        return undefined
      }
    }
    const target = await attempt(undefined, () => request.matched(candidate))
    if (target === undefined) return
    for (const binding of bindings) {
      const params = await attempt(binding, async () =>
        (await request.isBound(binding)) ? request.params(entry, binding) : [],
      )
      for (const param of params ?? []) invocations.push({ policy, binding, target, param })
    }
  }

  async #run(invocations: readonly Invocation[], request: Request, failures: PolicyFailure[]): Promise<void> {
    const { attributes } = request
    const { reinvocation } = attributes
    const rounds = this.#roundsOf(reinvocation)
    rounds.begin(attributes)
    try {
      let mutated = false
      for (const invocation of invocations) {
        await request.breather.breathe()
        if (await this.#invoke(invocation, request, rounds, failures)) mutated = true
      }
      if (mutated) {
        rounds.changed(reinvocation)
        await request.versions.takeOver()
      }
    } finally {
      rounds.end(attributes)
    }
  }

  #roundsOf(reinvocation: Reinvocation): PolicyRounds {
    let rounds = this.#rounds.get(reinvocation)
    if (rounds === undefined) {
      rounds = new PolicyRounds()
      this.#rounds.set(reinvocation, rounds)
    }
    return rounds
  }

  /** Runs a policy; gives whether one of its mutations was carried out. */
  async #invoke(
    { policy, binding, target, param }: Invocation,
    request: Request,
    rounds: PolicyRounds,
    failures: PolicyFailure[],
  ): Promise<boolean> {
    const { evaluator } = policy
    const failed = (why: string): void => {
      if (!policy.ignoresFailures) failures.push({ message: deniedBy(policy, binding, why), reason: 'Invalid' })
    }
    const read = await param.read()
    if (read === undefined) return false
    const input = await request.input(target, read)
    const verdict = await withAuthorizations(() => evaluator.decide(input))
    if (verdict?.error !== undefined) failed(verdict.error)
    if (verdict?.matches === false) return false
    const { reinvocation } = request.attributes
    const key = JSON.stringify([policy.name, binding.name, param.key])
    if (!rounds.runs(key, reinvocation)) return false
    const before = request.versions.object
    let mutated = false
    for (let i = 0; i < evaluator.size; i++) {
      const error = await this.#mutate(policy, binding, i, target, read, request)
      if (error === undefined) mutated = true
      else failed(error)
    }
    if (!equalJson(before as unknown as Json, request.versions.object as unknown as Json)) rounds.changed(reinvocation)
    if (evaluator.isReinvoked) rounds.ran(key)
    return mutated && before !== undefined
  }

  /** Gives why a mutation did not come off; undefined when it did. Throws a StatusError for a result that is no object. */
  async #mutate(
    policy: Invocation['policy'],
    binding: PolicyBinding,
    index: number,
    target: ServedKind,
    param: ReadParam,
    request: Request,
  ): Promise<string | undefined> {
    if (request.versions.object === undefined) return undefined
    const begunMs = this.#parts.clock.monotonicMs()
    const observe = (error: string | undefined): void =>
      this.#metrics.mutated(policy.name, binding.name, error, this.#parts.clock.monotonicMs() - begunMs)
    try {
      const input = await request.input(target, param)
      const change = await withAuthorizations(() => policy.evaluator.change(index, input))
      const { object } = await request.versions.in(target)
      request.versions.replace(this.#changed(object!, change, target, request.versions.asked))
      observe(undefined)
      return undefined
    } catch (error) {
      if (!(error instanceof MutationError || error instanceof StatusError)) throw error
      observe(error.message)
      if (error instanceof StatusError) throw error
      return error.message
    }
  }

  #changed(object: KubeObject, change: Change, target: ServedKind, asked: ServedKind): KubeObject {
    const { kinds } = this.#parts
    const tree = kinds.tree(object, target)
    const changed =
      change.type === 'JSONPatch' ? this.#patched(tree, change, target) : this.#merged(tree, change, target)
    if (changed === undefined) return object
    if (!kinds.isCustom(target) && target.kind.version !== asked.kind.version)
      throw new MutationError(
        `converting (${target.kind.version}.${target.kind.kind}) to (${asked.kind.version}.${asked.kind.kind}): unknown conversion`,
      )
    return changed
  }

  /** Undefined when a `test` of the patch fails: then nothing of it is done. */
  #patched(tree: Json, { operations }: Change & { type: 'JSONPatch' }, target: ServedKind): KubeObject | undefined {
    const { kinds } = this.#parts
    let patched: Json | undefined
    try {
      patched = kinds.patchIfTested(tree, operations)
    } catch (error) {
      throw new MutationError(`JSON Patch: ${messageOf(error)}`)
    }
    if (patched === undefined) return undefined
    try {
      return kinds.decodeStrictly(deepCopy(patched), target)
    } catch (error) {
      throw newInternalError(messageOf(error))
    }
  }

  #merged(
    tree: Parameters<PolicyParts['kinds']['merge']>[0],
    { configuration }: Change & { type: 'ApplyConfiguration' },
    target: ServedKind,
  ): KubeObject {
    const { kinds } = this.#parts
    const { apiVersion, kind } = tree
    try {
      const merged = kinds.merge(tree, { ...configuration, apiVersion, kind }, target)
      return kinds.decode(deepCopy(merged), target)
    } catch (error) {
      throw new MutationError(`error applying patch: ${messageOf(error)}`)
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const deniedBy = ({ name }: Invocation['policy'], binding: PolicyBinding | undefined, why: string): string =>
  binding === undefined
    ? `policy ${JSON.stringify(name)} denied request: ${why}`
    : `policy '${name}' with binding '${binding.name}' denied request: ${why}`

/** The request is refused with the first failure; the others are causes too. */
function refusal(attributes: AdmissionAttributes, failures: readonly PolicyFailure[]): StatusError {
  const [{ message, reason = 'Forbidden' }] = failures as [PolicyFailure]
  const { status } = forbid(
    attributes,
    message,
    failures.map((failure) => ({ message: failure.message })),
  )
  return new StatusError({ ...status, message, reason })
}
