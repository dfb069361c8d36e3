/**
 * Thread: any. The notation of the roles and bindings that are there from the start.
 *
 *   name                                 a role; namespace/name when it is of a namespace
 *   name to:view                         … whose rules are gathered by the role that gathers `view`
 *   name from:view                       … that gathers the rules of those
 *     verbs groups resources [names]     a rule; lists are joined by commas, `core` is the group without a name
 *     verbs url paths                    a rule for paths
 *
 *   name role user:x group:y account:namespace/z          a binding
 */
import type { KubeObject } from '../../../api/object.js'
import { RBAC_GROUP } from '../rbac-index.js'

const API_VERSION = `${RBAC_GROUP}/v1`
const AGGREGATE_LABEL = `${RBAC_GROUP}/aggregate-to-`
export const AUTOUPDATE_ANNOTATION = 'rbac.authorization.kubernetes.io/autoupdate'

export interface RuleObject {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}

export interface RoleObject extends KubeObject {
  rules: RuleObject[] | null
  aggregationRule?: { clusterRoleSelectors: { matchLabels: Record<string, string> }[] }
}

export interface SubjectObject {
  kind: string
  name: string
  apiGroup?: string
  namespace?: string
}

export interface BindingObject extends KubeObject {
  roleRef: { apiGroup: string; kind: string; name: string }
  subjects?: SubjectObject[]
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

/** The metadata of a place: `namespace/name`, or the name alone. */
function metadata(place: string, labels: Record<string, string> = {}): NonNullable<KubeObject['metadata']> {
  const slash = place.indexOf('/')
  return {
    name: place.slice(slash + 1),
    ...(slash < 0 ? {} : { namespace: place.slice(0, slash) }),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { [AUTOUPDATE_ANNOTATION]: 'true' },
  }
}

export function parseRoles(text: string, prefix = ''): RoleObject[] {
  const roles: RoleObject[] = []
  for (const line of lines(text)) {
    if (line.startsWith(' ')) {
      const role = roles.at(-1)!
      role.rules ??= []
      role.rules.push(parseRule(line.trim().split(' ')))
    } else roles.push(parseRole(line.split(' '), prefix))
  }
  return roles
}

function parseRole([place = '', ...words]: readonly string[], prefix: string): RoleObject {
  const labels: Record<string, string> = {}
  const selectors: { matchLabels: Record<string, string> }[] = []
  for (const word of words) {
    const [way, name = ''] = word.split(':', 2)
    if (way === 'to') labels[AGGREGATE_LABEL + name] = 'true'
    else selectors.push({ matchLabels: { [AGGREGATE_LABEL + name]: 'true' } })
  }
  return {
    apiVersion: API_VERSION,
    kind: place.includes('/') ? 'Role' : 'ClusterRole',
    metadata: metadata(prefix + place, labels),
    ...(selectors.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: selectors } }),
    rules: selectors.length === 0 ? [] : null,
  }
}

function parseRule([verbs = '', groups = '', resources = '', names]: readonly string[]): RuleObject {
  const list = (text: string): string[] => text.split(',')
  if (groups === 'url') return { verbs: list(verbs), nonResourceURLs: list(resources) }
  return {
    verbs: list(verbs),
    apiGroups: list(groups).map((group) => (group === 'core' ? '' : group)),
    resources: list(resources),
    ...(names === undefined ? {} : { resourceNames: list(names) }),
  }
}

export function parseBindings(text: string): BindingObject[] {
  return lines(text).map((line) => {
    const [place = '', role = '', ...subjects] = line.split(' ')
    const isNamespaced = place.includes('/')
    return binding(place, isNamespaced ? 'Role' : 'ClusterRole', role, subjects.map(parseSubject))
  })
}

/** One binding for each controller's role, to its service account. */
export function controllerBindings(roles: readonly RoleObject[], prefix: string): BindingObject[] {
  return roles.map(({ metadata: { name = '' } = {} }) =>
    binding(name, 'ClusterRole', name, [
      { kind: 'ServiceAccount', name: name.slice(prefix.length), namespace: 'kube-system' },
    ]),
  )
}

function binding(place: string, kind: string, role: string, subjects: SubjectObject[]): BindingObject {
  return {
    apiVersion: API_VERSION,
    kind: place.includes('/') ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: metadata(place),
    roleRef: { apiGroup: RBAC_GROUP, kind, name: role },
    ...(subjects.length === 0 ? {} : { subjects }),
  }
}

function parseSubject(word: string): SubjectObject {
  const colon = word.indexOf(':')
  const name = word.slice(colon + 1)
  if (word.startsWith('user:')) return { apiGroup: RBAC_GROUP, kind: 'User', name }
  if (word.startsWith('group:')) return { apiGroup: RBAC_GROUP, kind: 'Group', name }
  const [namespace = '', account = ''] = name.split('/')
  return { kind: 'ServiceAccount', name: account, namespace }
}
