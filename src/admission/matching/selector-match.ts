/** Thread: pool. namespaceSelector and objectSelector of webhooks and policies against a request. */
import { type KubeObject, metadataOf } from '../../api/object.js'
import { MapAttributes, type Selector } from '../../api/selector.js'
import { newNotFound } from '../../api/status.js'
import type { AdmissionAttributes } from '../chain.js'
import { type AdmissionObjects, type Maybe, NAMESPACES } from '../objects.js'

/**
 * Whether the selector takes the namespace of the request. Objects outside namespaces are always taken, but a namespace is
 * looked at itself. Throws NotFound for a namespace that is not there.
 */
export function namespaceMatches(
  selector: Selector,
  attributes: AdmissionAttributes,
  object: KubeObject | undefined,
  objects: AdmissionObjects,
): Maybe<boolean> {
  const { namespace, resource, subresource, operation } = attributes
  if ((namespace === '' && resource.resource !== 'namespaces') || selector.empty()) return true
  const isOwn =
    resource.resource === 'namespaces' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')
  if (isOwn && object !== undefined) return selector.matches(new MapAttributes(metadataOf(object).labels))
  const found = objects.get(NAMESPACES, '', namespace)
  if (found !== undefined && !(found instanceof Promise)) return labelled(selector, found)
  return fromStorage(selector, namespace, objects)
}

/** A namespace that memory does not have yet may have been made a moment ago. */
async function fromStorage(selector: Selector, namespace: string, objects: AdmissionObjects): Promise<boolean> {
  const found = await objects.getLive(NAMESPACES, '', namespace)
  if (found === undefined) throw newNotFound(NAMESPACES, namespace)
  return labelled(selector, found)
}

/** Whether the selector takes the new object or the old one. The options of a CONNECT have no labels, not even none. */
export const objectMatches = (
  selector: Selector,
  { operation, oldObject }: AdmissionAttributes,
  object: KubeObject | undefined,
): boolean =>
  selector.empty() ||
  (operation !== 'CONNECT' && object !== undefined && labelled(selector, object)) ||
  (oldObject !== undefined && labelled(selector, oldObject))

const labelled = (selector: Selector, object: KubeObject): boolean =>
  selector.matches(new MapAttributes(metadataOf(object).labels))
