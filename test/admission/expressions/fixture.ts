import type { AdmissionAttributes } from '#keelson/admission/chain.js'
import { ExpressionAuthorizer } from '#keelson/admission/expressions/expression-authorizer.js'
import { type ExpressionInput, ExpressionRequest } from '#keelson/admission/expressions/expression-input.js'
import type { JsonObject } from '#keelson/api/object.js'
import type { Authorizer } from '#keelson/auth/interface.js'

export interface InputParts {
  readonly object?: JsonObject
  readonly oldObject?: JsonObject
  readonly params?: JsonObject
  readonly namespace?: JsonObject
  readonly authorizer?: Authorizer
  readonly attributes?: Partial<AdmissionAttributes>
}

const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' }

/** A creation of the ConfigMap n/x by alice, as far as expressions can tell. */
export function inputOf(parts: InputParts): ExpressionInput {
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    resource: CONFIG_MAPS,
    subresource: '',
    kind: CONFIG_MAP,
    name: 'x',
    namespace: 'n',
    object: undefined,
    oldObject: undefined,
    options: {},
    dryRun: false,
    user: { name: 'alice', uid: '', groups: ['dev'], extra: {} },
    reinvocation: { isReinvoke: false, requested: false },
    addWarning: () => undefined,
    addAnnotation: () => undefined,
    onOutcome: () => undefined,
    ...parts.attributes,
  }
  const matched = { resource: attributes.resource, subresource: '', kind: attributes.kind }
  const trees = { object: () => parts.object, oldObject: () => parts.oldObject }
  return {
    request: new ExpressionRequest(attributes, matched, trees),
    params: parts.params,
    namespace: parts.namespace,
    authorizer: new ExpressionAuthorizer(parts.authorizer, attributes),
  }
}
