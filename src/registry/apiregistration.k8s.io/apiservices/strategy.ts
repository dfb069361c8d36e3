/** Thread: pool. APIServices: who serves a version of a group, this server or another. */

import { FieldPath, invalid, required } from '../../../api/field-error.js'
import type { APIService, APIServiceCondition } from '../../../api/generated/kinds/apiregistration.v1.js'
import { metadataOf } from '../../../api/object.js'
import { because, dnsSubdomain, type Errors, each, oneOf, portNumber } from '../../../api/validation/checks.js'
import { isDns1035Label, pathSegmentName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'
import type { RequestContext } from '../../generic/strategy.js'
import { formatTime } from '../../generic/system-fields.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')
const AVAILABLE = 'Available'
const HIGHEST_GROUP_PRIORITY = 20000
const HIGHEST_VERSION_PRIORITY = 1000

function nameErrors(object: APIService, wanted: string): Errors {
  const { name = '', generateName = '' } = metadataOf(object)
  const check = (value: string, field: string): Errors =>
    value === '' || value === wanted || pathSegmentName(value, false).length > 0
      ? []
      : [invalid(FieldPath.of('metadata', field), value, `must be spec.version+"."+spec.group: "${wanted}"`)]
  return [...check(generateName, 'generateName'), ...check(name, 'name')]
}

function priorityErrors(priority: number | undefined, highest: number, path: FieldPath): Errors {
  const value = priority ?? 0
  return value > 0 && value <= highest ? [] : [invalid(path, value, `must be positive and at most ${highest}`)]
}

function serverErrors({ service, caBundle, insecureSkipTLSVerify }: NonNullable<APIService['spec']>): Errors {
  const [bundleAt, skipAt] = [SPEC.child('caBundle'), SPEC.child('insecureSkipTLSVerify')]
  const bytes = Buffer.byteLength(caBundle ?? '', 'base64')
  const errors: Errors = []
  if (!service) {
    if (bytes > 0) errors.push(invalid(bundleAt, `${bytes} bytes`, 'this server needs none'))
    if (insecureSkipTLSVerify === true) errors.push(invalid(skipAt, true, 'this server has nothing to skip'))
    return errors
  }
  const at = SPEC.child('service')
  if ((service.namespace ?? '') === '') errors.push(required(at.child('namespace')))
  if ((service.name ?? '') === '') errors.push(required(at.child('name')))
  errors.push(...portNumber(service.port ?? 0, at.child('port')))
  if (insecureSkipTLSVerify === true && bytes > 0)
    errors.push(invalid(skipAt, true, 'may not be true beside a caBundle'))
  return errors
}

function validate(object: APIService): Errors {
  const { spec = {} } = object
  const { group = '', version = '' } = spec
  return [
    ...nameErrors(object, `${version}.${group}`),
    ...(group === '' && version !== 'v1' ? [required(SPEC.child('group'), 'only v1 may have an empty group')] : []),
    ...(group === '' ? [] : dnsSubdomain(group, SPEC.child('group'))),
    ...because(isDns1035Label(version), SPEC.child('version'), version),
    ...priorityErrors(spec.groupPriorityMinimum, HIGHEST_GROUP_PRIORITY, SPEC.child('groupPriorityMinimum')),
    ...priorityErrors(spec.versionPriority, HIGHEST_VERSION_PRIORITY, SPEC.child('versionPriority')),
    ...serverErrors(spec),
  ]
}

/** What this server serves is there from the start. */
function prepareForCreate(object: APIService, { now }: RequestContext): void {
  const service = object
  if (service.spec?.service) return
  const condition: APIServiceCondition = {
    type: AVAILABLE,
    status: 'True',
    lastTransitionTime: formatTime(now()),
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
  service.status = { conditions: [condition] }
}

function availableText({ status }: APIService): string {
  const condition = (status?.conditions ?? []).find(({ type }) => type === AVAILABLE)
  if (condition === undefined) return 'Unknown'
  return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason ?? ''})`
}

export const apiServiceRules: ResourceRules<APIService> = {
  nameRule: pathSegmentName,
  allowUnconditionalUpdate: false,
  setDefaults: (object) => {
    const { spec } = object
    if (spec?.service) spec.service.port ??= 443
  },
  prepareForCreate,
  validate,
  status: {
    resetFields: [['metadata'], ['spec']],
    prepareForUpdate: keepMetadata,
    validateUpdate: (object) =>
      each(object.status?.conditions, FieldPath.of('status', 'conditions'), ({ status }, at) =>
        oneOf(status ?? '', ['True', 'False', 'Unknown'], at.child('status')),
      ),
  },
  table: tableOf<APIService>(
    text('Service', 'The service of the server that serves it.', ({ spec }) =>
      spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
    ),
    text('Available', 'Whether it can be reached.', availableText),
    age(),
  ),
}
