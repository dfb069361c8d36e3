/** Thread: any. Pods are answered for by their nodes, and may be selected by a field that none of them has. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const podFacts: ResourceFacts = {
  connects: { attach: {}, exec: {}, log: {}, portforward: {}, proxy: { subpath: true } },
  phantomFields: ['status.podIPs'],
}
