/** Thread: pool. Which nodes can use the devices of a slice, or one device: said in exactly one way. */

import { type FieldPath, invalid, required } from '../../../api/field-error.js'
import type { ResourceSliceSpec } from '../../../api/generated/kinds/resource.v1.js'
import { dnsSubdomain, type Errors } from '../../../api/validation/checks.js'
import { nodeSelectorErrors } from '../../../api/validation/node-selectors.js'

export type Nodes = Pick<ResourceSliceSpec, 'nodeName' | 'nodeSelector' | 'allNodes' | 'perDeviceNodeSelection'>

const ONE_WAY = 'exactly one way to choose nodes is required'

export function nodeErrors(nodes: Nodes, path: FieldPath): Errors {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = nodes
  const errors: Errors = []
  if (nodeName === '') errors.push(invalid(path.child('nodeName'), nodeName, 'must be unset or not empty'))
  else if (nodeName) errors.push(...dnsSubdomain(nodeName, path.child('nodeName')))
  if (nodeSelector) errors.push(...nodeSelectorErrors(nodeSelector, path.child('nodeSelector')))
  for (const [field, value] of Object.entries({ allNodes, perDeviceNodeSelection }))
    if (value === false) errors.push(invalid(path.child(field), value, 'must be unset or true'))
  const ways = [nodeName, nodeSelector, allNodes, perDeviceNodeSelection].filter(Boolean)
  if (ways.length === 0) errors.push(required(path, ONE_WAY))
  if (ways.length > 1) errors.push(invalid(path, '', ONE_WAY))
  return errors
}

/** Selectors of slices are merged when devices come from several, which takes a single term. */
export function singleTermErrors({ nodeSelector }: Nodes, path: FieldPath): Errors {
  const terms = nodeSelector?.nodeSelectorTerms ?? []
  const where = path.child('nodeSelector', 'nodeSelectorTerms')
  return nodeSelector && terms.length !== 1 ? [invalid(where, terms, 'must have exactly one term')] : []
}
