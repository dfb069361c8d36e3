/** Thread: pool. RoleBindings and ClusterRoleBindings: who has a role. The role that is bound never changes. */

import { FieldPath, notSupported } from '../../../api/field-error.js'
import type { RoleBinding, Subject } from '../../../api/generated/kinds/rbac.v1.js'
import {
  dnsSubdomain,
  type Errors,
  each,
  immutable,
  oneOf,
  pathSegment,
  requiredBy,
} from '../../../api/validation/checks.js'
import { pathSegmentName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const RBAC_GROUP = 'rbac.authorization.k8s.io'

function setDefaults(binding: RoleBinding): void {
  binding.roleRef ??= {}
  if ((binding.roleRef.apiGroup ?? '') === '') binding.roleRef.apiGroup = RBAC_GROUP
  for (const subject of binding.subjects ?? []) {
    if ((subject.apiGroup ?? '') === '' && (subject.kind === 'User' || subject.kind === 'Group'))
      subject.apiGroup = RBAC_GROUP
  }
}

function subjectErrors(subject: Subject, path: FieldPath, namespaced: boolean): Errors {
  const { kind = '', apiGroup = '', name = '' } = subject
  const errors = requiredBy(name, path.child('name'), kind === 'ServiceAccount' ? dnsSubdomain : undefined)
  if (kind === 'ServiceAccount') {
    if (apiGroup !== '') errors.push(notSupported(path.child('apiGroup'), apiGroup, ['']))
    if (!namespaced) errors.push(...requiredBy(subject.namespace, path.child('namespace')))
  } else if (kind === 'User' || kind === 'Group') errors.push(...oneOf(apiGroup, [RBAC_GROUP], path.child('apiGroup')))
  else errors.push(notSupported(path.child('kind'), kind, ['ServiceAccount', 'User', 'Group']))
  return errors
}

function bindingErrors(object: RoleBinding, namespaced: boolean): Errors {
  const { roleRef = {}, subjects } = object
  const path = FieldPath.of('roleRef')
  return [
    ...oneOf(roleRef.apiGroup, [RBAC_GROUP], path.child('apiGroup')),
    ...oneOf(roleRef.kind, namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'], path.child('kind')),
    ...requiredBy(roleRef.name, path.child('name'), pathSegment),
    ...each(subjects, FieldPath.of('subjects'), (subject, at) => subjectErrors(subject, at, namespaced)),
  ]
}

function subjectNames({ subjects }: RoleBinding, kind: string): string {
  return (subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name = '', namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ')
}

const rulesOf = (namespaced: boolean): ResourceRules<RoleBinding> => ({
  nameRule: pathSegmentName,
  allowCreateOnUpdate: true,
  setDefaults,
  validate: (object) => bindingErrors(object, namespaced),
  validateUpdate: (object, old) => [
    ...bindingErrors(object, namespaced),
    ...immutable(object['roleRef'], old['roleRef'], FieldPath.of('roleRef')),
  ],
  table: tableOf<RoleBinding>(
    text('Role', 'The role that the subjects have.', ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
    age(),
    text('Users', 'Users among the subjects.', (object) => subjectNames(object, 'User'), { priority: 1 }),
    text('Groups', 'Groups among the subjects.', (object) => subjectNames(object, 'Group'), { priority: 1 }),
    text('ServiceAccounts', 'Service accounts among the subjects.', (o) => subjectNames(o, 'ServiceAccount'), {
      priority: 1,
    }),
  ),
})

export const roleBindingRules = rulesOf(true)
export const clusterRoleBindingRules = rulesOf(false)
