/** Thread: pool. ServiceAccounts: names for programs. Of the secrets only the names are kept. */
import { FieldPath } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
import type { List } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf } from '../../generic/table-rules.js'

interface ServiceAccount extends KubeObject {
  secrets?: List<{ name?: string }>
}

const MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets'
const MOUNTABLE_WARNING = `${FieldPath.of('metadata', 'annotations').key(MOUNTABLE)}: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`

function keepNames(object: KubeObject): void {
  const account = object as ServiceAccount
  if (!account.secrets) return
  account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }))
}

const mountable = (object: KubeObject): string | undefined => object.metadata?.annotations?.[MOUNTABLE]

export const serviceAccountRules: ResourceRules = {
  returnDeletedObject: true,
  prepareForCreate: keepNames,
  prepareForUpdate: keepNames,
  warningsOnCreate: (object) => (mountable(object) === undefined ? [] : [MOUNTABLE_WARNING]),
  warningsOnUpdate: (object, old) =>
    mountable(object) === undefined || mountable(object) === mountable(old) ? [] : [MOUNTABLE_WARNING],
  table: tableOf<ServiceAccount>(age()),
}
