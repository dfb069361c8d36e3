/** Thread: pool. ServiceAccounts: names for programs. Of the secrets only the names are kept. */

import { FieldPath } from '../../../api/field-error.js'
import type { ServiceAccount } from '../../../api/generated/kinds/core.v1.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf } from '../../generic/table-rules.js'

const MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets'
const MOUNTABLE_WARNING = `${FieldPath.of('metadata', 'annotations').key(MOUNTABLE)}: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`

function keepNames(account: ServiceAccount): void {
  if (!account.secrets) return
  account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }))
}

const mountable = (object: ServiceAccount): string | undefined => object.metadata?.annotations?.[MOUNTABLE]

export const serviceAccountRules: ResourceRules<ServiceAccount> = {
  returnDeletedObject: true,
  prepareForCreate: keepNames,
  prepareForUpdate: keepNames,
  warningsOnCreate: (object) => (mountable(object) === undefined ? [] : [MOUNTABLE_WARNING]),
  warningsOnUpdate: (object, old) =>
    mountable(object) === undefined || mountable(object) === mountable(old) ? [] : [MOUNTABLE_WARNING],
  table: tableOf<ServiceAccount>(age()),
}
