/** Thread: pool. Questions about access: the same authorizer answers them that decides about requests. */

import { FieldPath, invalid, required } from '../../../api/field-error.js'
import { FieldSelector } from '../../../api/fields.js'
import type {
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  ResourceAttributes,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from '../../../api/generated/kinds/authorization.v1.js'
import type { FieldSelectorRequirement, LabelSelectorRequirement } from '../../../api/generated/kinds/meta.v1.js'
import { type LabelOperator, LabelRequirement, LabelSelector, SelectorError } from '../../../api/labels.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import { newBadRequest, newInvalid } from '../../../api/status.js'
import type { UserInfo } from '../../../api/user-info.js'
import type { Errors } from '../../../api/validation/checks.js'
import type { Attributes, Authorizer, Verdict } from '../../../auth/interface.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import type { EndpointHandler, NamedCreate } from '../../generic/endpoint-handler.js'
import type { ResourceREST } from '../../generic/resource-rest.js'

const GROUP = 'authorization.k8s.io'
const SPEC = FieldPath.of('spec')

/** Of the review of oneself and of the one for a namespace there is less or the same. */
type Review = SubjectAccessReview

type Requirement = FieldSelectorRequirement | LabelSelectorRequirement

type Subject = 'given' | 'self'

class AccessReviews implements EndpointHandler {
  readonly recordsManagers = true
  readonly #authorizer: Authorizer
  readonly #subject: Subject
  readonly #isLocal: boolean

  constructor(authorizer: Authorizer, subject: Subject, isLocal: boolean) {
    this.#authorizer = authorizer
    this.#subject = subject
    this.#isLocal = isLocal
  }

  async create({ object, context, validate }: NamedCreate): Promise<KubeObject> {
    const review: Review = object
    const { spec = {} } = review
    const errors = this.#errors(review)
    // The kind is not said, as in Kubernetes: by then the object has lost it.
    if (errors.length > 0) throw newInvalid({ group: GROUP, kind: '' }, '', errors)
    if (this.#isLocal && (metadataOf(review).namespace ?? '') !== context.namespace)
      throw newBadRequest(`spec.resourceAttributes.namespace must match namespace: ${context.namespace}`)
    await validate(structuredClone(object))
    const user = this.#subject === 'self' ? context.user : subjectOf(spec)
    const { attributes, selectorErrors } = attributesOf(user, spec)
    const verdict = await this.#authorizer.authorize(attributes)
    return { ...review, status: statusOf(verdict, selectorErrors) }
  }

  #errors(review: Review): Errors {
    const { spec = {} } = review
    const errors: Errors = []
    const { resourceAttributes: resource, nonResourceAttributes: path } = spec
    if (resource && path)
      errors.push(
        invalid(
          SPEC.child('nonResourceAttributes'),
          path,
          'cannot be specified in combination with resourceAttributes',
        ),
      )
    if (!resource && !path)
      errors.push(
        invalid(
          SPEC.child('resourceAttributes'),
          null,
          'exactly one of nonResourceAttributes or resourceAttributes must be specified',
        ),
      )
    if (this.#subject === 'given' && (spec.user ?? '') === '' && (spec.groups ?? []).length === 0)
      errors.push(invalid(SPEC.child('user'), spec.user ?? '', 'at least one of user or group must be specified'))
    if (resource) errors.push(...selectorErrors(resource))
    errors.push(...this.#metadataErrors(review))
    if (!this.#isLocal) return errors
    const { namespace = '' } = metadataOf(review)
    if (resource && (resource.namespace ?? '') !== namespace)
      errors.push(
        invalid(
          SPEC.child('resourceAttributes', 'namespace'),
          resource.namespace ?? '',
          'must match metadata.namespace',
        ),
      )
    if (path) errors.push(invalid(SPEC.child('nonResourceAttributes'), path, 'disallowed on this kind of request'))
    return errors
  }

  #metadataErrors(review: Review): Errors {
    const { managedFields: _managers, namespace, ...rest } = metadataOf(review)
    const extra = this.#isLocal || namespace === undefined ? rest : { ...rest, namespace }
    if (Object.values(extra).every((value) => value === undefined || value === null || value === '')) return []
    const why = this.#isLocal ? 'must be empty except for namespace' : 'must be empty'
    return [invalid(FieldPath.of('metadata'), metadataOf(review), why)]
  }
}

function statusOf({ decision, reason, error }: Verdict, selectorErrors: readonly string[]) {
  const errors = [...(error === undefined ? [] : [error]), ...(decision === 'allow' ? [] : selectorErrors)]
  return {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join(', ') }),
  }
}

const subjectOf = ({ user = '', groups, uid = '', extra }: SubjectAccessReviewSpec): UserInfo => ({
  name: user,
  uid,
  groups: groups ?? [],
  extra: Object.fromEntries(Object.entries(extra ?? {}).map(([key, values]) => [key, values ?? []])),
})

function selectorErrors({ fieldSelector, labelSelector }: ResourceAttributes): Errors {
  const errors: Errors = []
  for (const [name, selector] of [
    ['fieldSelector', fieldSelector],
    ['labelSelector', labelSelector],
  ] as const) {
    if (!selector) continue
    const path = SPEC.child('resourceAttributes', name)
    const isRaw = (selector.rawSelector ?? '') !== ''
    const count = selector.requirements?.length ?? 0
    if (isRaw && count > 0)
      errors.push(
        invalid(
          path.child('rawSelector'),
          selector.rawSelector,
          'may not be specified at the same time as requirements',
        ),
      )
    if (!isRaw && count === 0)
      errors.push(required(path.child('requirements'), 'requirements or rawSelector is required'))
  }
  return errors
}

interface Asked {
  readonly attributes: Attributes
  /** Parts of selectors that nobody understands; without them the question is broader, never narrower. */
  readonly selectorErrors: readonly string[]
}

function attributesOf(
  user: UserInfo,
  { resourceAttributes: resource, nonResourceAttributes: path }: SubjectAccessReviewSpec,
): Asked {
  const isResourceRequest = resource !== undefined && resource !== null
  const given = resource ?? {}
  const errors: string[] = []
  const fieldSelector = selectorText(given.fieldSelector, fieldRequirements, errors)
  const labelSelector = selectorText(given.labelSelector, labelRequirements, errors)
  const attributes: Attributes = {
    user,
    verb: (isResourceRequest ? given.verb : path?.verb) ?? '',
    isResourceRequest,
    namespace: given.namespace ?? '',
    apiGroup: given.group ?? '',
    apiVersion: (given.version ?? '') === '' ? '*' : given.version!,
    resource: given.resource ?? '',
    subresource: given.subresource ?? '',
    name: given.name ?? '',
    path: isResourceRequest ? '' : (path?.path ?? ''),
    ...(fieldSelector === '' ? {} : { fieldSelector }),
    ...(labelSelector === '' ? {} : { labelSelector }),
  }
  return { attributes, selectorErrors: errors }
}

function selectorText(
  selector: FieldSelectorAttributes | LabelSelectorAttributes | undefined,
  read: (requirement: Requirement, errors: string[]) => string,
  errors: string[],
): string {
  if (!selector) return ''
  if ((selector.rawSelector ?? '') !== '') return selector.rawSelector!
  return (selector.requirements ?? [])
    .map((requirement) => read(requirement, errors))
    .filter((text) => text !== '')
    .join(',')
}

function fieldRequirements({ key = '', operator = '', values }: Requirement, errors: string[]): string {
  const list = values ?? []
  if ((operator === 'In' || operator === 'NotIn') && list.length === 1)
    return new FieldSelector([{ field: key, operator: operator === 'In' ? '=' : '!=', value: list[0]! }]).toString()
  errors.push(`fieldSelectors do not support ${JSON.stringify(operator)} with ${list.length} values`)
  return ''
}

const LABEL_OPERATORS: Readonly<Record<string, LabelOperator>> = lookupTable({
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
})

function labelRequirements({ key = '', operator = '', values }: Requirement, errors: string[]): string {
  const known = LABEL_OPERATORS[operator]
  try {
    if (known !== undefined) return new LabelSelector([new LabelRequirement(key, known, values ?? [])]).toString()
    errors.push(`${JSON.stringify(operator)} is not a valid label selector operator`)
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    errors.push(error.message)
  }
  return ''
}

const ask = (subject: Subject, isLocal = false): ResourceREST => ({
  resource: { make: ({ dependencies }) => new AccessReviews(dependencies.authorizer, subject, isLocal) },
})

export const subjectAccessReviewREST = ask('given')
export const localSubjectAccessReviewREST = ask('given', true)
export const selfSubjectAccessReviewREST = ask('self')
