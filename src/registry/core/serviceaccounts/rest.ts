/** Thread: pool. A token for a service account, bound to nothing, a pod, a secret or a node. */

import { FieldPath, invalid } from '../../../api/field-error.js'
import type { BoundObjectReference, TokenRequest } from '../../../api/generated/kinds/authentication.v1.js'
import type { Pod } from '../../../api/generated/kinds/core.v1.js'
import { parseGroupVersion } from '../../../api/group-version.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import { newBadRequest, newConflict, newInvalid, StatusError } from '../../../api/status.js'
import type { Errors } from '../../../api/validation/checks.js'
import type { BoundObject, ServiceAccountTokenIssuer } from '../../../auth/authn/service-account-tokens.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import type { EndpointHandler, NamedCreate } from '../../generic/endpoint-handler.js'
import type { RegistryStore } from '../../generic/registry-store.js'
import type { HandlerParts, ResourceREST } from '../../generic/resource-rest.js'
import type { EndpointSource } from '../../generic/rest-dependencies.js'
import type { RequestContext } from '../../generic/strategy.js'
import { formatTime } from '../../generic/system-fields.js'

const SPEC = FieldPath.of('spec')
const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' }
const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32
const DEFAULT_SECONDS = 3600
const BINDABLE: Readonly<Record<string, { resource: string; namespaced: boolean }>> = lookupTable({
  Pod: { resource: 'pods', namespaced: true },
  Secret: { resource: 'secrets', namespaced: true },
  Node: { resource: 'nodes', namespaced: false },
})

function specErrors({ spec = {} }: TokenRequest): Errors {
  const seconds = spec.expirationSeconds ?? 0
  const at = SPEC.child('expirationSeconds')
  if (seconds < MIN_SECONDS) return [invalid(at, seconds, 'may not specify a duration less than 10 minutes')]
  return seconds > MAX_SECONDS ? [invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
}

class TokenEndpoint implements EndpointHandler {
  readonly keepsSystemFields = true
  readonly recordsManagers = true
  readonly rules = {
    setDefaults: (object: KubeObject): void => {
      const request: TokenRequest = object
      request.spec ??= {}
      request.spec.expirationSeconds ??= DEFAULT_SECONDS
    },
  }
  readonly #store: RegistryStore
  readonly #endpoints: EndpointSource
  readonly #issuer: ServiceAccountTokenIssuer

  constructor({ store, dependencies }: HandlerParts) {
    this.#store = store
    this.#endpoints = dependencies.endpoints
    this.#issuer = dependencies.tokenIssuer
  }

  async create({ context, name, object, validate }: NamedCreate): Promise<KubeObject> {
    const request: TokenRequest = object
    const metadata = metadataOf(request)
    this.#checkNames(request, name, context.namespace)
    const account = metadataOf(await this.#store.get(context, name))
    if ((metadata.uid ?? '') !== '' && metadata.uid !== account.uid) {
      const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${account.uid})`
      throw newConflict({ group: KIND.group, resource: KIND.kind }, name, why)
    }
    request.metadata = {
      name,
      namespace: context.namespace,
      ...(account.uid === undefined ? {} : { uid: account.uid }),
      creationTimestamp: formatTime(context.now()),
      ...(metadata.managedFields === undefined ? {} : { managedFields: metadata.managedFields }),
    }
    const spec = request.spec!
    delete request.status
    const errors = specErrors(request)
    if (errors.length > 0) throw newInvalid(KIND, '', errors)
    await validate(structuredClone(request))
    const boundObject = await this.#bound(context, name, spec.boundObjectRef)
    // What was checked is far below what a number can hold.
    const asked = Number(spec.expirationSeconds ?? DEFAULT_SECONDS)
    const issued = this.#issuer.issueToken(
      {
        serviceAccount: { namespace: context.namespace, name, uid: account.uid ?? '' },
        audiences: spec.audiences ?? [],
        expirationSeconds: asked,
        boundObject,
      },
      context.now(),
    )
    if (issued.expirationSeconds < asked)
      context.addWarning(`requested expiration of ${asked} seconds shortened to ${issued.expirationSeconds} seconds`)
    spec.expirationSeconds = issued.expirationSeconds
    spec.audiences = [...issued.audiences]
    request.status = { token: issued.token, expirationTimestamp: issued.expirationTimestamp }
    return request
  }

  #checkNames(request: TokenRequest, name: string, namespace: string): void {
    const metadata = metadataOf(request)
    for (const [field, given, wanted] of [
      ['name', metadata.name ?? '', name],
      ['namespace', metadata.namespace ?? '', namespace],
    ] as const) {
      if (given === '' || given === wanted) continue
      const why = `must match the service account ${field} if specified`
      throw newInvalid(KIND, name, [invalid(FieldPath.of('metadata', field), given, why)])
    }
  }

  async #bound(
    context: RequestContext,
    account: string,
    ref: BoundObjectReference | null | undefined,
  ): Promise<BoundObject | undefined> {
    if (!ref) return undefined
    const { group = '' } = parseGroupVersion(ref.apiVersion ?? '') ?? {}
    const kind = ref.kind ?? ''
    const target = group === '' ? BINDABLE[kind] : undefined
    if (target === undefined)
      throw newBadRequest(`cannot bind token to object of type ${ref.apiVersion ?? ''}, Kind=${kind}`)
    const name = ref.name ?? ''
    const object: Pod = await this.#get(context, target, name)
    if (kind === 'Pod' && object.spec?.serviceAccountName !== account) {
      throw newBadRequest(
        `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
      )
    }
    const { uid = '' } = metadataOf(object)
    if ((ref.uid ?? '') !== '' && ref.uid !== uid) {
      throw newConflict(
        { group, resource: kind },
        name,
        `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      )
    }
    if (kind !== 'Pod') return { kind: kind as 'Secret' | 'Node', name, uid }
    const nodeName = object.spec?.nodeName ?? ''
    const node = nodeName === '' ? undefined : { name: nodeName, uid: await this.#nodeUid(context, nodeName) }
    return { kind, name, uid, node }
  }

  #get(
    context: RequestContext,
    { resource, namespaced }: { resource: string; namespaced: boolean },
    name: string,
  ): Promise<KubeObject> {
    const { store } = this.#endpoints.find({ apiGroup: '', apiVersion: 'v1', resource, subresource: '' })
    return store.get(namespaced ? context : { ...context, namespace: '' }, name)
  }

  /** A node that is gone leaves its name in the token. */
  async #nodeUid(context: RequestContext, name: string): Promise<string> {
    try {
      const { uid } = metadataOf(await this.#get(context, BINDABLE['Node']!, name))
      return uid ?? ''
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return ''
      throw error
    }
  }
}

export const serviceAccountREST: ResourceREST = {
  subresources: { token: { make: (parts) => new TokenEndpoint(parts) } },
}
