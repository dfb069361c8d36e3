/** Thread: pool. FlowSchemas: which requests belong to which priority level. */

import { FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  FlowSchema,
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../../api/generated/kinds/flowcontrol.v1.js'
import {
  dnsLabel,
  dnsSubdomain,
  type Errors,
  each,
  type List,
  requiredBy,
  sameValue,
} from '../../../api/validation/checks.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'
import { flowControlStatusRules } from '../status-rules.js'

const SPEC = FieldPath.of('spec')
const DEFAULT_PRECEDENCE = 1000
const MAX_PRECEDENCE = 10_000
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const METHODS = ['ByNamespace', 'ByUser']

const everythingOf = (...groups: string[]): PolicyRulesWithSubjects[] => [
  {
    subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  },
]

/** Every server has these two, and nobody changes them. */
const FIXED: Readonly<Record<string, FlowSchemaSpec>> = lookupTable({
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: everythingOf('system:masters'),
  },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: MAX_PRECEDENCE,
    distinguisherMethod: { type: 'ByUser' },
    rules: everythingOf('system:unauthenticated', 'system:authenticated'),
  },
})

const SUBJECTS = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const

function subjectErrors(subject: Subject, at: FieldPath): Errors {
  const { kind = '' } = subject
  if (!Object.hasOwn(SUBJECTS, kind)) return [notSupported(at.child('kind'), kind, Object.keys(SUBJECTS))]
  const field = SUBJECTS[kind as keyof typeof SUBJECTS]
  const others = Object.values(SUBJECTS).filter((other) => other !== field && subject[other])
  return [
    ...whoErrors(subject, field, at.child(field)),
    ...others.map((other) => forbidden(at.child(other), `not for a subject of kind ${kind}`)),
  ]
}

function whoErrors(subject: Subject, field: (typeof SUBJECTS)[keyof typeof SUBJECTS], path: FieldPath): Errors {
  const who = subject[field]
  if (!who) return [required(path)]
  if (field !== 'serviceAccount') return requiredBy(who.name, path.child('name'))
  const { name, namespace } = subject.serviceAccount ?? {}
  return [
    ...requiredBy(name, path.child('name'), name === '*' ? undefined : dnsSubdomain),
    ...requiredBy(namespace, path.child('namespace'), dnsLabel),
  ]
}

/** A list that is not empty, and has nothing beside a star. */
function starListErrors(list: List<string>, path: FieldPath, what: string): Errors {
  if ((list?.length ?? 0) === 0) return [required(path, `at least one of ${what} is needed`)]
  return list!.length > 1 && list!.includes('*')
    ? [invalid(path, list, `if '*' is present, there are no other ${what}`)]
    : []
}

function verbErrors(verbs: List<string>, path: FieldPath): Errors {
  const errors = starListErrors(verbs, path, 'verbs')
  if (errors.length > 0 || verbs!.includes('*') || verbs!.every((verb) => VERBS.includes(verb))) return errors
  return [notSupported(path, verbs, VERBS)]
}

function namespaceErrors({ namespaces, clusterScope }: ResourcePolicyRule, path: FieldPath): Errors {
  if ((namespaces?.length ?? 0) === 0)
    return clusterScope === true ? [] : [required(path, 'rules that are not cluster scoped need a namespace')]
  if (namespaces!.includes('*')) return starListErrors(namespaces, path, 'namespaces')
  return each(namespaces, path, dnsLabel)
}

function urlReason(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (url === '/') return undefined
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const stars = url.split('*').length - 1
  return stars > 1 || (stars === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}

function urlErrors(urls: List<string>, path: FieldPath): Errors {
  const errors = starListErrors(urls, path, 'URLs')
  if (errors.length > 0 || urls!.includes('*')) return errors
  return each(urls, path, (url, at) => {
    const reason = urlReason(url)
    return reason === undefined ? [] : [invalid(at, url, reason)]
  })
}

function validate(object: FlowSchema): Errors {
  const { metadata, spec = {} } = object
  const { matchingPrecedence: precedence = 0, distinguisherMethod: method, rules } = spec
  const at = SPEC.child('matchingPrecedence')
  const errors: Errors = []
  if (precedence <= 0) errors.push(invalid(at, precedence, 'must be a positive value'))
  if (precedence > MAX_PRECEDENCE) errors.push(invalid(at, precedence, `must not be greater than ${MAX_PRECEDENCE}`))
  if (precedence === 1 && metadata?.name !== 'exempt') errors.push(invalid(at, precedence, "only 'exempt' may have 1"))
  if (method && !METHODS.includes(method.type ?? ''))
    errors.push(notSupported(SPEC.child('distinguisherMethod', 'type'), method.type ?? '', METHODS))
  const level = SPEC.child('priorityLevelConfiguration', 'name')
  const fixed = FIXED[metadata?.name ?? '']
  errors.push(...requiredBy(spec.priorityLevelConfiguration?.name, level, dnsSubdomain))
  return [
    ...errors,
    ...each(rules, SPEC.child('rules'), ({ subjects, resourceRules, nonResourceRules }, path) => [
      ...((subjects?.length ?? 0) === 0
        ? [required(path.child('subjects'))]
        : each(subjects, path.child('subjects'), subjectErrors)),
      ...((resourceRules?.length ?? 0) + (nonResourceRules?.length ?? 0) === 0 ? [required(path)] : []),
      ...each(resourceRules, path.child('resourceRules'), (rule, where) => [
        ...verbErrors(rule.verbs, where.child('verbs')),
        ...starListErrors(rule.apiGroups, where.child('apiGroups'), 'API groups'),
        ...starListErrors(rule.resources, where.child('resources'), 'resources'),
        ...namespaceErrors(rule, where.child('namespaces')),
      ]),
      ...each(nonResourceRules, path.child('nonResourceRules'), (rule, where) => [
        ...verbErrors(rule.verbs, where.child('verbs')),
        ...urlErrors(rule.nonResourceURLs, where.child('nonResourceURLs')),
      ]),
    ]),
    ...(fixed === undefined || sameValue(spec, fixed) ? [] : [invalid(SPEC, spec, 'must equal the fixed value')]),
  ]
}

export const flowSchemaRules: ResourceRules<FlowSchema> = {
  generationFields: ['spec'],
  metadataOnUpdate: 'changes',
  setDefaults: (schema) => {
    schema.spec ??= {}
    schema.spec.matchingPrecedence ||= DEFAULT_PRECEDENCE
  },
  validate,
  status: flowControlStatusRules,
  table: tableOf<FlowSchema>(
    text('PriorityLevel', 'The level of its requests.', ({ spec }) => spec?.priorityLevelConfiguration?.name ?? ''),
    text('MatchingPrecedence', 'The lowest is asked first.', ({ spec }) => spec?.matchingPrecedence ?? 0),
    text('DistinguisherMethod', 'What makes a flow.', ({ spec }) => spec?.distinguisherMethod?.type ?? NONE),
    age(),
    text('MissingPL', 'Whether its level is missing.', ({ status }) => {
      const dangling = (status?.conditions ?? []).find(({ type }) => type === 'Dangling')
      return dangling?.status ?? '?'
    }),
  ),
}
