/** Thread: any. What expressions of policies and webhooks can speak of. */
import { baseEnvironment, type Environment } from '../../api/cel/environment.js'
import { AUTHORIZER, RESOURCE_CHECK } from '../../api/cel/library/authorizer.js'
import { jsonPatch } from '../../api/cel/library/jsonpatch.js'
import { type CelType, DYN, type ObjectType } from '../../api/cel/types.js'
import { ADMISSION_REQUEST, NAMED_TYPES, NAMESPACE } from './admission-types.js'
import { findPatchType } from './patch-types.js'

/** `new` for what is being written, `stored` for what is stored already. */
export type ExpressionUse = 'new' | 'stored'

export interface AdmissionNames {
  /** Whether the policy has a paramKind. */
  readonly params: boolean
  /** Messages have no `authorizer`. */
  readonly authorizer: boolean
  /** Whether changes may be built: `Object{}` and `JSONPatch{}`. */
  readonly patches?: boolean
  /** The type of `variables`; without it there are none. */
  readonly variables?: ObjectType
  /** The type of `object` and `oldObject`, where expressions are checked against a kind. */
  readonly object?: CelType
  /** The type of `params`, likewise. */
  readonly paramsType?: CelType
}

export function admissionEnvironment(use: ExpressionUse, names: AdmissionNames): Environment {
  const { params, authorizer, patches = false, variables, object = DYN, paramsType = DYN } = names
  return baseEnvironment(use).extend({
    variables: {
      object,
      oldObject: object,
      request: ADMISSION_REQUEST,
      namespaceObject: { ...NAMESPACE, nullable: true },
      ...(params ? { params: paramsType } : {}),
      ...(authorizer ? { authorizer: AUTHORIZER, 'authorizer.requestResource': RESOURCE_CHECK } : {}),
      ...(variables === undefined ? {} : { variables }),
    },
    types: [...NAMED_TYPES, ...(variables === undefined ? [] : [variables])],
    ...(patches ? { libraries: [jsonPatch], findType: findPatchType } : {}),
  })
}
