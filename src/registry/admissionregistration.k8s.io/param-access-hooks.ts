/**
 * Thread: pool. Nobody lets a policy read what they may not read themselves: who writes a policy with a paramKind must be allowed to
 * get every object of that kind, who writes a binding the parameters that it names. Except the privileged group.
 */
import { isDeepStrictEqual } from 'node:util'
import { type FieldError, FieldPath, forbidden } from '../../api/field-error.js'
import type { ParamKind, ParamRef } from '../../api/generated/kinds/admissionregistration.v1.js'
import { parseGroupVersion } from '../../api/group-version.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import { isStatusError, newInvalid } from '../../api/status.js'
import { isPrivileged } from '../../auth/authz/fixed-authorizers.js'
import type { Attributes } from '../../auth/interface.js'
import type { RegistryStoreHooks } from '../generic/registry-store-options.js'
import type { RESTDependencies } from '../generic/rest-dependencies.js'
import type { RequestContext } from '../generic/strategy.js'

type Options = Pick<RESTDependencies, 'authorizer' | 'resourceOf' | 'endpoints'>
type Policy = KubeObject & { readonly spec?: { readonly paramKind?: ParamKind | null } }
type Binding = KubeObject & { readonly spec?: { readonly paramRef?: ParamRef | null; readonly policyName?: string } }
type Check<K> = (object: K, old: K | undefined, context: RequestContext) => Promise<FieldError | undefined>

const GROUP = 'admissionregistration.k8s.io'
const SPEC = FieldPath.of('spec')
const NOTHING_TAKEN = (): void => undefined

export const policyParamHooks = (options: Options): RegistryStoreHooks<Policy> =>
  hooks(async ({ spec }, old, context) => {
    const paramKind = spec?.paramKind
    if (!paramKind || isDeepStrictEqual(paramKind, old?.spec?.paramKind)) return undefined
    const question = { ...questionOf(paramKind, options), verb: 'get', name: '*', namespace: '*' }
    if (await may(context, question, options)) return undefined
    const { kind = '', apiVersion = '' } = paramKind
    return forbidden(
      SPEC.child('paramKind'),
      `user ${context.user.name} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
    )
  })

/** The resource of the policies is that of the bindings without its last part. */
export const bindingParamHooks = (options: Options): RegistryStoreHooks<Binding> =>
  hooks(async ({ spec }, old, context) => {
    const { paramRef, policyName = '' } = spec ?? {}
    if (!paramRef) return undefined
    if (isDeepStrictEqual(paramRef, old?.spec?.paramRef) && policyName === old?.spec?.policyName) return undefined
    const { name = '', namespace = '' } = paramRef
    const verb = name === '' ? 'list' : 'get'
    const paramKind = await paramKindOf(policyName, context, options)
    if (await may(context, { ...questionOf(paramKind, options), verb, name, namespace }, options)) return undefined
    return forbidden(
      SPEC.child('paramRef'),
      `user ${context.user.name} does not have ${JSON.stringify(verb)} permission on the object referenced by paramRef`,
    )
  })

function hooks<K extends KubeObject>(check: Check<K>): RegistryStoreHooks<K> {
  const guard = async (object: K, old: K | undefined, context: RequestContext) => {
    const error = isPrivileged(context.user) ? undefined : await check(object, old, context)
    if (error !== undefined)
      throw newInvalid({ group: GROUP, kind: object.kind ?? '' }, metadataOf(object).name ?? '', [error])
    return NOTHING_TAKEN
  }
  return {
    beginCreate: (object, context) => guard(object, undefined, context),
    beginUpdate: (object, old, context) => guard(object, old, context),
  }
}

type Asked = Pick<Attributes, 'apiGroup' | 'apiVersion' | 'resource'>

/** What is not known must be allowed for everything. */
function questionOf(paramKind: ParamKind | undefined, { resourceOf }: Options): Asked {
  const parsed = parseGroupVersion(paramKind?.apiVersion ?? '')
  if (paramKind === undefined || parsed === undefined) return { apiGroup: '*', apiVersion: '*', resource: '*' }
  const { group, version } = parsed
  const resource = resourceOf({ group, version, kind: paramKind.kind ?? '' })?.resource ?? '*'
  return { apiGroup: group, apiVersion: version, resource }
}

async function paramKindOf(
  policyName: string,
  context: RequestContext,
  { endpoints }: Options,
): Promise<ParamKind | undefined> {
  const resource = context.resource.replace(/policybindings$/, 'policies')
  const { store } = endpoints.find({ apiGroup: GROUP, apiVersion: context.apiVersion, resource, subresource: '' })
  try {
    const policy: Policy = await store.get(context, policyName, '0')
    return policy.spec?.paramKind ?? undefined
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

async function may(
  { user }: RequestContext,
  question: Asked & Pick<Attributes, 'verb' | 'name' | 'namespace'>,
  { authorizer }: Options,
): Promise<boolean> {
  const verdict = await authorizer.authorize({ user, isResourceRequest: true, subresource: '', path: '', ...question })
  return verdict.decision === 'allow'
}
