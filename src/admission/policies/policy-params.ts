/** Thread: pool. The parameters that a binding gives to its policy, as shared memory has them. */
import type { ParamKind, ParamRef } from '../../api/generated/kinds/admissionregistration.v1.js'
import { parseGroupVersion } from '../../api/group-version.js'
import type { JsonObject } from '../../api/object.js'
import type { AdmissionKinds, ServedKind } from '../matching/admission-kinds.js'
import { selectorOf } from '../matching/match-resources.js'
import type { AdmissionObjects, ObjectName } from '../objects.js'

/** A policy or binding that cannot be used as it is; the failure policy decides what that means for a request. */
export class PolicyConfigurationError extends Error {
  override readonly name = 'PolicyConfigurationError'
  readonly code = 'policy-configuration'
}

export interface PolicyParam {
  /** Namespace and name; '' when there is no parameter. */
  readonly key: string
  /**
   * Reads it, when its turn has come: users may write as many parameters as they may write objects, and all of them together may not
   * fit into memory. Undefined when it has been deleted meanwhile.
   */
  readonly read: () => Promise<ReadParam | undefined>
}

export interface ReadParam {
  /** Undefined when the policy has none, or its binding gives it none. */
  readonly tree: JsonObject | undefined
}

const NO_PARAM: readonly PolicyParam[] = [{ key: '', read: async () => ({ tree: undefined }) }]

export class PolicyParams {
  readonly #objects: AdmissionObjects
  readonly #kinds: AdmissionKinds

  constructor(objects: AdmissionObjects, kinds: AdmissionKinds) {
    this.#objects = objects
    this.#kinds = kinds
  }

  /** Throws a PolicyConfigurationError for a kind that is not served. */
  check(paramKind: ParamKind): void {
    this.#resource(paramKind)
  }

  /** What a policy is evaluated with, once for each; nothing when there is nothing to do. Throws a PolicyConfigurationError. */
  async of(
    paramKind: ParamKind | undefined,
    paramRef: ParamRef | undefined,
    namespace: string,
  ): Promise<readonly PolicyParam[]> {
    if (paramKind === undefined || paramRef === undefined) return NO_PARAM
    const { served, namespaced } = this.#resource(paramKind)
    const found = await this.#find(
      paramRef,
      served.resource,
      namespaced ? scopeOf(paramRef, namespace) : '',
      namespaced,
    )
    if (found.length === 0 && paramRef.parameterNotFoundAction === 'Deny')
      throw new PolicyConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction')
    return found.map((name) => ({ key: `${name.namespace}/${name.name}`, read: () => this.#read(served, name) }))
  }

  async #read(served: ServedKind, { namespace, name }: ObjectName): Promise<ReadParam | undefined> {
    const object = await this.#objects.get(served.resource, namespace, name)
    if (object === undefined) return undefined
    return { tree: this.#kinds.tree(await this.#kinds.convert(object, served), served) }
  }

  #resource(paramKind: ParamKind) {
    const { apiVersion = '', kind = '' } = paramKind
    const parsed = parseGroupVersion(apiVersion)
    const found = parsed && this.#kinds.resourceOf({ ...parsed, kind })
    if (found === undefined)
      throw new PolicyConfigurationError(
        `failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`,
      )
    return found
  }

  async #find(
    { name, selector, namespace: asked }: ParamRef,
    resource: Parameters<AdmissionObjects['get']>[0],
    namespace: string,
    namespaced: boolean,
  ): Promise<readonly ObjectName[]> {
    if (!namespaced && (asked ?? '') !== '')
      throw new PolicyConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
    if ((name ?? '') !== '') {
      const object = await this.#objects.get(resource, namespace, name!)
      return object === undefined ? [] : [{ namespace, name: name! }]
    }
    if (selector === undefined || selector === null)
      throw new PolicyConfigurationError('one of name or selector must be provided')
    return this.#objects.select(resource, namespace, selectorOf(selector))
  }
}

/** Parameters are in the namespace that the binding names, or in that of the request. */
function scopeOf({ namespace: asked }: ParamRef, namespace: string): string {
  if ((asked ?? '') !== '') return asked!
  if (namespace === '')
    throw new PolicyConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    )
  return namespace
}
