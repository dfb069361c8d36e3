/** Thread: any. Service accounts as users: their names, groups, and what a token's claims say of them. */
import type { Json, JsonObject } from '../../api/object.js'
import type { UserInfo } from '../../api/user-info.js'
import { isDns1123Label, isDns1123Subdomain } from '../../api/validation/names.js'

const PREFIX = 'system:serviceaccount:'
export const ALL_SERVICE_ACCOUNTS = 'system:serviceaccounts'
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'
export const NODE_NAME = 'authentication.kubernetes.io/node-name'
const EXTRA_PREFIX = 'authentication.kubernetes.io/'

export const serviceAccountUsername = (namespace: string, name: string): string => `${PREFIX}${namespace}:${name}`

export const serviceAccountGroups = (namespace: string): string[] => [
  ALL_SERVICE_ACCOUNTS,
  `${ALL_SERVICE_ACCOUNTS}:${namespace}`,
]

/** Undefined when the name is not one that serviceAccountUsername() makes of valid names. */
export function splitServiceAccountUsername(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(PREFIX)) return undefined
  const [namespace = '', name = '', ...rest] = username.slice(PREFIX.length).split(':')
  if (rest.length > 0 || isDns1123Label(namespace).length > 0 || isDns1123Subdomain(name).length > 0) return undefined
  return { namespace, name }
}

export interface ObjectRef {
  readonly name: string
  readonly uid: string
}

/** Kinds that a token may be bound to beside its account, as claims name them. */
export const BOUND_CLAIMS = ['pod', 'secret', 'node'] as const
export type BoundClaim = (typeof BOUND_CLAIMS)[number]

/** The claim `kubernetes.io`. */
export interface ServiceAccountClaims {
  readonly namespace: string
  readonly serviceAccount: ObjectRef
  readonly pod: ObjectRef | undefined
  readonly secret: ObjectRef | undefined
  readonly node: ObjectRef | undefined
}

/** Undefined when the claim is not there or not of that form. */
export function serviceAccountClaims(claims: JsonObject): ServiceAccountClaims | undefined {
  const own = claims['kubernetes.io']
  if (!isObject(own)) return undefined
  const { namespace } = own
  const serviceAccount = refOf(own['serviceaccount'])
  if (typeof namespace !== 'string' || namespace === '' || serviceAccount === undefined) return undefined
  const bound: Record<BoundClaim, ObjectRef | undefined> = { pod: undefined, secret: undefined, node: undefined }
  for (const name of BOUND_CLAIMS) {
    if (own[name] === undefined || own[name] === null) continue
    const ref = refOf(own[name])
    if (ref === undefined) return undefined
    bound[name] = ref
  }
  return { namespace, serviceAccount, ...bound }
}

function refOf(value: Json | undefined): ObjectRef | undefined {
  if (!isObject(value)) return undefined
  const { name, uid = '' } = value
  return typeof name === 'string' && name !== '' && typeof uid === 'string' ? { name, uid } : undefined
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function serviceAccountUser(claims: ServiceAccountClaims, tokenId: string): UserInfo {
  const { namespace, serviceAccount, pod, node } = claims
  const extra: Record<string, string[]> = {}
  if (tokenId !== '') extra[CREDENTIAL_ID] = [`JTI=${tokenId}`]
  if (node !== undefined) {
    extra[NODE_NAME] = [node.name]
    if (node.uid !== '') extra[`${EXTRA_PREFIX}node-uid`] = [node.uid]
  }
  if (pod !== undefined && pod.uid !== '') {
    extra[`${EXTRA_PREFIX}pod-name`] = [pod.name]
    extra[`${EXTRA_PREFIX}pod-uid`] = [pod.uid]
  }
  return {
    name: serviceAccountUsername(namespace, serviceAccount.name),
    uid: serviceAccount.uid,
    groups: serviceAccountGroups(namespace),
    extra,
  }
}
