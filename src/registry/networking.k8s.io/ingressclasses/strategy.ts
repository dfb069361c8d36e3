/** Thread: pool. IngressClasses: which controller serves an Ingress, and with which parameters. */

import { FieldPath, forbidden, notSupported, required } from '../../../api/field-error.js'
import type { IngressClass, IngressClassParametersReference } from '../../../api/generated/kinds/networking.v1.js'
import { dnsLabel, domainPrefixedPath, type Errors, immutable, maxBytes } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'
import { typedReferenceErrors } from '../typed-reference.js'

const SPEC = FieldPath.of('spec')
const CONTROLLER_BYTES = 250

function parametersErrors(parameters: IngressClassParametersReference): Errors {
  const path = SPEC.child('parameters')
  const { scope, namespace } = parameters
  const errors = typedReferenceErrors(parameters, path)
  if (scope === undefined) return [...errors, required(path.child('scope'))]
  if (scope !== 'Cluster' && scope !== 'Namespace')
    return [...errors, notSupported(path.child('scope'), scope, ['Cluster', 'Namespace'])]
  if (scope === 'Cluster')
    return namespace === undefined
      ? errors
      : [...errors, forbidden(path.child('namespace'), 'not for parameters of the cluster')]
  if (namespace === undefined) return [...errors, required(path.child('namespace'))]
  return [...errors, ...dnsLabel(namespace, path.child('namespace'))]
}

function validate(object: IngressClass): Errors {
  const { controller, parameters } = object.spec ?? {}
  return [
    ...maxBytes(controller, SPEC.child('controller'), CONTROLLER_BYTES),
    ...domainPrefixedPath(controller, SPEC.child('controller')),
    ...(parameters ? parametersErrors(parameters) : []),
  ]
}

function parametersText({ spec }: IngressClass): string {
  const parameters = spec?.parameters
  if (!parameters) return NONE
  const kind =
    (parameters.apiGroup ?? undefined) === undefined ? parameters.kind : `${parameters.kind}.${parameters.apiGroup}`
  return `${kind}/${parameters.name}`
}

export const ingressClassRules: ResourceRules<IngressClass> = {
  generationFields: ['spec'],
  setDefaults: (object) => {
    const parameters = object.spec?.parameters
    if (parameters) parameters.scope ??= 'Cluster'
  },
  validate,
  validateUpdate: (object, old) => [
    ...immutable(object.spec?.controller ?? '', old.spec?.controller ?? '', SPEC.child('controller')),
    ...validate(object),
  ],
  table: tableOf<IngressClass>(
    text('Controller', 'The controller that serves this class.', ({ spec }) => spec?.controller ?? ''),
    text('Parameters', 'The object that holds its parameters.', parametersText),
    age(),
  ),
}
