/** Thread: pool. Expressions that choose among devices: what they may speak of, and what may be wrong with them. */
import { baseEnvironment } from '../../api/cel/environment.js'
import { bindings } from '../../api/cel/library/bindings.js'
import { QUANTITY } from '../../api/cel/library/quantity.js'
import { PER_CALL_LIMIT } from '../../api/cel/limits.js'
import { compile } from '../../api/cel/program.js'
import { ANY, BOOL, type CelType, mapOf, objectOf, STRING, typeName } from '../../api/cel/types.js'
import { type FieldPath, forbidden, invalid, required, tooLong } from '../../api/field-error.js'
import type { DeviceSelector } from '../../api/generated/kinds/resource.v1.js'
import type { Errors, List } from '../../api/validation/checks.js'
import { eachOfAtMost } from './device-parts.js'

const EXPRESSION_BYTES = 10 * 1024
const MOST_SELECTORS = 32
const MOST_ATTRIBUTES = 32
const DOMAIN = { ...STRING, maxElements: 63 }
const ID = { ...STRING, maxElements: 32 }

/** By domain and then by identifier. */
const qualified = (value: CelType): CelType =>
  mapOf(DOMAIN, mapOf(ID, value, { maxElements: MOST_ATTRIBUTES }), { maxElements: MOST_ATTRIBUTES })

/** Sizes are what slices may have; estimates of costs are made with them. */
const DEVICE = objectOf('kubernetes.DRADevice', {
  driver: { ...STRING, maxElements: 63 },
  attributes: qualified({ ...ANY, maxElements: 64 }),
  capacity: qualified({ ...QUANTITY, maxElements: 0 }),
  allowMultipleAllocations: { ...BOOL, maxElements: 1 },
})

/** What selectors may speak of. */
export const DEVICE_ENVIRONMENT = baseEnvironment('new').extend({
  variables: { device: DEVICE },
  types: [DEVICE],
  libraries: [bindings],
})

/** An attribute alone may be the result: whether it is a bool shows when there is a device. */
const RESULTS = new Set(['bool', 'any'])

function expressionErrors(expression: string, path: FieldPath): Errors {
  if (Buffer.byteLength(expression) > EXPRESSION_BYTES) return [tooLong(path, EXPRESSION_BYTES)]
  const { program, errors } = compile(expression, DEVICE_ENVIRONMENT)
  if (errors !== undefined) return [invalid(path, expression, `compilation failed: ${errors}`)]
  if (!RESULTS.has(program.type.kind)) {
    const found = typeName(program.type)
    return [invalid(path, expression, `must evaluate to bool or the unknown type, not ${found}`)]
  }
  return program.estimatedCost.max > PER_CALL_LIMIT ? [forbidden(path, 'too complex, exceeds cost limit')] : []
}

export const selectorErrors = (selectors: List<DeviceSelector>, path: FieldPath): Errors =>
  eachOfAtMost(MOST_SELECTORS, selectors, path, ({ cel }, at) =>
    cel ? expressionErrors(cel.expression ?? '', at.child('cel', 'expression')) : [required(at.child('cel'))],
  )
