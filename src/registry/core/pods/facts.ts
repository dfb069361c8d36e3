/** Thread: any. Pods are answered for by their nodes, and may be selected by a field that none of them has. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const podFacts: ResourceFacts = {
  indexedFields: [
    { name: 'spec.nodeName' },
    { name: 'spec.restartPolicy' },
    { name: 'spec.schedulerName' },
    { name: 'spec.serviceAccountName' },
    { name: 'spec.hostNetwork', default: 'false' },
    { name: 'status.phase' },
    { name: 'status.podIP' },
    { name: 'status.nominatedNodeName' },
  ],
  connects: { attach: {}, exec: {}, log: {}, portforward: {}, proxy: { subpath: true } },
  phantomFields: ['status.podIPs'],
}
