/** Thread: any. Pod certificate requests are not in the preferred version of their group. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const podCertificateRequestFacts: ResourceFacts = { storage: { version: 'v1beta1' } }
