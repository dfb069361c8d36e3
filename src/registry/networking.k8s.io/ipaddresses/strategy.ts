/** Thread: pool. IPAddresses: an address by its name, and whose it is. */

import { FieldPath, required } from '../../../api/field-error.js'
import type { IPAddress } from '../../../api/generated/kinds/networking.v1.js'
import { strictIP } from '../../../api/validation/addresses.js'
import {
  dnsSubdomain,
  type Errors,
  immutable,
  optionalBy,
  pathSegment,
  requiredBy,
} from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { ageOf } from '../../generic/table-columns.js'
import { NONE, tableOf, text } from '../../generic/table-rules.js'

const PARENT = FieldPath.of('spec', 'parentRef')

function validate(object: IPAddress): Errors {
  const parent = object.spec?.parentRef
  if (!parent) return [required(PARENT)]
  return [
    ...optionalBy(parent.group, PARENT.child('group'), dnsSubdomain),
    ...requiredBy(parent.resource, PARENT.child('resource'), pathSegment),
    ...requiredBy(parent.name, PARENT.child('name'), pathSegment),
    ...optionalBy(parent.namespace, PARENT.child('namespace'), pathSegment),
  ]
}

function parentText({ spec }: IPAddress): string {
  if (!spec?.parentRef) return NONE
  const { group = '', resource = '', namespace = '', name = '' } = spec.parentRef
  const what = (group === '' ? resource : `${resource}.${group}`).toLowerCase()
  return [what, ...(namespace === '' ? [] : [namespace]), name].join('/')
}

const TABLE = tableOf<IPAddress>(text('ParentRef', 'The object that the address belongs to.', parentText))

export const ipAddressRules: ResourceRules<IPAddress> = {
  generateName: (base) => base,
  nameRule: (name) => strictIP(name, FieldPath.of('metadata', 'name')).map(({ detail }) => detail),
  validate,
  validateUpdate: (object, old) => {
    const parents = [object, old].map((item) => item.spec?.parentRef)
    return [...validate(object), ...immutable(parents[0], parents[1], PARENT)]
  },
  // Rows have an age, although no column says so.
  table: { columns: TABLE.columns, cells: (object, nowMs) => [...TABLE.cells(object, nowMs), ageOf(object, nowMs)] },
}
