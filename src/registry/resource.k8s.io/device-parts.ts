/** Thread: pool. What claims, classes and slices of devices have in common: selectors, configurations, taints, tolerations. */
import type { CelEnvironment } from '../../api/cel/checker.js'
import { expressionErrors } from '../../api/cel/expression-errors.js'
import { BOOL, DYN, mapOf, objectOf, opaque as quantityType, STRING } from '../../api/cel/types.js'
import { type FieldPath, invalid, notSupported, required, tooLong } from '../../api/field-error.js'
import {
  type Errors,
  each,
  type List,
  labelValue,
  oneOf,
  optionalBy,
  qualifiedName,
} from '../../api/validation/checks.js'
import { driverNameErrors } from '../storage.k8s.io/parameters.js'

export interface Selector {
  cel?: { expression?: string }
}

export interface Configuration {
  opaque?: { driver?: string; parameters?: unknown }
}

export interface DeviceToleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
}

const EXPRESSION_BYTES = 10 * 1024
const PARAMETERS_BYTES = 10 * 1024
export const DEVICE_EFFECTS = ['NoExecute', 'NoSchedule', 'None']

/** What an expression that chooses among devices can speak of. */
const DEVICE: CelEnvironment = {
  variables: new Map([
    [
      'device',
      objectOf('kubernetes.DRADevice', {
        driver: STRING,
        attributes: mapOf(mapOf(DYN)),
        capacity: mapOf(mapOf(quantityType('quantity'))),
        allowMultipleAllocations: BOOL,
      }),
    ],
  ]),
}

export const selectorErrors = (selectors: List<Selector>, path: FieldPath): Errors =>
  each(selectors, path, ({ cel }, at) => {
    if (!cel) return [required(at.child('cel'))]
    const { expression = '' } = cel
    const where = at.child('cel', 'expression')
    return Buffer.byteLength(expression) > EXPRESSION_BYTES
      ? [tooLong(where, EXPRESSION_BYTES)]
      : expressionErrors(expression, where, DEVICE, [BOOL])
  })

export function configurationErrors({ opaque }: Configuration, at: FieldPath): Errors {
  const path = at.child('opaque')
  if (!opaque) return [required(path)]
  const { driver, parameters } = opaque
  const where = path.child('parameters')
  const errors = driverNameErrors(driver, path.child('driver'))
  if (parameters === undefined || parameters === null) return [...errors, required(where)]
  if (typeof parameters !== 'object' || Array.isArray(parameters))
    return [...errors, invalid(where, '<value omitted>', 'must be a valid JSON object')]
  const size = Buffer.byteLength(JSON.stringify(parameters))
  return size > PARAMETERS_BYTES ? [...errors, tooLong(where, PARAMETERS_BYTES)] : errors
}

export const tolerationErrors = (tolerations: List<DeviceToleration>, path: FieldPath): Errors =>
  each(tolerations, path, ({ key = '', operator = '', value = '', effect = '' }, at) => {
    const errors = optionalBy(key, at.child('key'), qualifiedName)
    if (operator === 'Exists') {
      if (value !== '') errors.push(invalid(at.child('value'), value, 'must be empty for operator `Exists`'))
    } else if (operator === 'Equal') {
      errors.push(...labelValue(value, at.child('value')))
    } else if (operator === '') errors.push(required(at.child('operator')))
    else errors.push(notSupported(at.child('operator'), operator, ['Equal', 'Exists']))
    return [...errors, ...oneOf(effect, DEVICE_EFFECTS, at.child('effect'), 'allowed')]
  })
