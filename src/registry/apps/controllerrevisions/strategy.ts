/** Thread: pool. ControllerRevisions: what a controller looked like once; never changed, only numbered. */

import { FieldPath, required } from '../../../api/field-error.js'
import type { ControllerRevision } from '../../../api/generated/kinds/apps.v1.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { immutableButEmptyLists } from '../../core/pod-template/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'

const DATA = FieldPath.of('data')

const revisionErrors = (object: ControllerRevision): Errors => nonnegative(object.revision, FieldPath.of('revision'))

function dataErrors({ data }: ControllerRevision): Errors {
  const isObject = data !== null && typeof data === 'object' && !Array.isArray(data)
  return isObject ? [] : [required(DATA, 'data must be a JSON object')]
}

export const controllerRevisionRules: ResourceRules<ControllerRevision> = {
  validate: (object) => [...revisionErrors(object), ...dataErrors(object)],
  validateUpdate: (object, old) => [...revisionErrors(object), ...immutableButEmptyLists(object.data, old.data, DATA)],
  table: tableOf<ControllerRevision>(
    text('Controller', 'The controller it is a revision of.', ({ metadata }) => {
      const owner = (metadata?.ownerReferences ?? []).find(({ controller }) => controller === true)
      if (owner === undefined) return NONE
      const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : ''
      return `${owner.kind.toLowerCase()}${group}/${owner.name}`
    }),
    text('Revision', 'The number of the revision.', ({ revision }) => revision ?? 0),
    age(),
  ),
}
