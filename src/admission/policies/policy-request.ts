/**
 * Thread: pool. One request on its way through the policies of a kind: which of them and of their bindings it matches, with which
 * parameters, and what their expressions see of it.
 */
import type { JsonObject } from '../../api/object.js'
import { newNotFound, StatusError } from '../../api/status.js'
import type { Authorizer } from '../../auth/interface.js'
import type { Clock } from '../../lib/clock.js'
import type { AdmissionAttributes } from '../chain.js'
import { Breather } from '../expressions/breather.js'
import type { ExpressionInput } from '../expressions/expression-input.js'
import type { AdmissionKinds, ServedKind } from '../matching/admission-kinds.js'
import { selectorsMatch } from '../matching/match-resources.js'
import type { Candidate } from '../matching/rule-index.js'
import { matchEntry } from '../matching/rule-match.js'
import { type AdmissionObjects, NAMESPACES } from '../objects.js'
import { VersionedRequest } from '../webhooks/versioned-request.js'
import type { BoundPolicy, PolicyBinding } from './policy.js'
import { PolicyConfigurationError, type PolicyParam, type PolicyParams, type ReadParam } from './policy-params.js'
import type { PolicySource } from './policy-source.js'

export interface PolicyParts {
  readonly kinds: AdmissionKinds
  readonly objects: AdmissionObjects
  readonly params: PolicyParams
  readonly authorizer: Authorizer | undefined
  readonly clock: Clock
}

const NAMESPACE_KIND: ServedKind = {
  resource: NAMESPACES,
  subresource: '',
  kind: { group: '', version: 'v1', kind: 'Namespace' },
}

type Index<E> = PolicySource<never, E>['index']

export class PolicyRequest<E> {
  readonly attributes: AdmissionAttributes
  readonly versions: VersionedRequest
  readonly breather: Breather
  readonly #parts: PolicyParts
  readonly #index: Pick<Index<E>, 'match' | 'equivalents'>
  #namespace: Promise<JsonObject | undefined> | undefined

  constructor(attributes: AdmissionAttributes, parts: PolicyParts, index: Pick<Index<E>, 'match' | 'equivalents'>) {
    this.attributes = attributes
    this.versions = new VersionedRequest(attributes, parts.kinds, parts.authorizer)
    this.breather = new Breather(parts.clock, attributes)
    this.#parts = parts
    this.#index = index
  }

  /**
   * The version in which a policy asked for the request; undefined when the policy is not for it. Throws a
   * PolicyConfigurationError when that cannot be decided.
   */
  async matched(candidate: Candidate<BoundPolicy<E>>): Promise<ServedKind | undefined> {
    const { attributes } = this
    const match = this.#index.match(candidate, attributes, attributes.name)
    if (match === undefined) return undefined
    const { entry } = candidate
    if (!(await this.#selected(entry))) return undefined
    const { paramKind } = entry.policy
    if (paramKind !== undefined) this.#parts.params.check(paramKind)
    return match.equivalent ?? this.versions.asked
  }

  /** Whether a binding of a policy that matches is for the request too. Throws as matched() does. */
  async isBound({ match }: PolicyBinding): Promise<boolean> {
    const { attributes } = this
    const { rules, excludes } = match
    if (rules.length > 0) {
      if (matchEntry(match, attributes, attributes.name, this.#index.equivalents) === undefined) return false
    } else if (excludes.length > 0) {
      const excluded = { rules: excludes, matchPolicy: match.matchPolicy }
      if (matchEntry(excluded, attributes, attributes.name, this.#index.equivalents) !== undefined) return false
    }
    return this.#selected(match)
  }

  params({ policy }: BoundPolicy<E>, { paramRef }: PolicyBinding): Promise<readonly PolicyParam[]> {
    return this.#parts.params.of(policy.paramKind, paramRef, this.attributes.namespace)
  }

  /** What expressions see. Throws a StatusError when the namespace of the request is not there. */
  async input(target: ServedKind, { tree }: ReadParam): Promise<ExpressionInput> {
    this.#namespace ??= this.#readNamespace()
    return {
      request: await this.versions.expressions(target),
      params: tree,
      namespace: await this.#namespace,
      authorizer: this.versions.authorizer,
    }
  }

  async #selected(match: Parameters<typeof selectorsMatch>[0]): Promise<boolean> {
    const { attributes } = this
    try {
      return await selectorsMatch(match, attributes, attributes.object, this.#parts.objects)
    } catch (error) {
      if (error instanceof StatusError) throw new PolicyConfigurationError(error.message)
      throw error
    }
  }

  /** A namespace is in itself, but not for expressions. */
  async #readNamespace(): Promise<JsonObject | undefined> {
    const { kind, namespace } = this.attributes
    if (namespace === '' || (kind.group === '' && kind.kind === 'Namespace')) return undefined
    const { objects, kinds } = this.#parts
    const found = (await objects.get(NAMESPACES, '', namespace)) ?? (await objects.getLive(NAMESPACES, '', namespace))
    if (found === undefined) throw newNotFound(NAMESPACES, namespace)
    return kinds.tree(found, NAMESPACE_KIND)
  }
}
