/** Thread: pool. How a plugin refuses a request, and how it tells which resource a request is about. */
import { metadataOf } from '../api/object.js'
import { newForbidden, type StatusCause, type StatusError } from '../api/status.js'
import type { AdmissionAttributes, AdmissionOperation } from './chain.js'

/** The refusal names the object; when its name is still to be generated, by what the name will begin with. */
export function forbid(attributes: AdmissionAttributes, why: string, causes?: readonly StatusCause[]): StatusError {
  return newForbidden(attributes.resource, nameOf(attributes), why, causes)
}

function nameOf({ name, object }: AdmissionAttributes): string {
  if (name !== '' || object === undefined) return name
  const { name: own = '', generateName = '' } = metadataOf(object)
  return own || generateName || 'Unknown'
}

type Target = Pick<AdmissionAttributes, 'operation' | 'resource' | 'subresource'>

/** handles() of a plugin for one resource, without its subresources. */
export const isAbout = (
  { operation, resource, subresource }: Target,
  group: string,
  name: string,
  ...operations: AdmissionOperation[]
): boolean =>
  subresource === '' &&
  resource.resource === name &&
  resource.group === group &&
  (operations as AdmissionOperation[]).includes(operation)
