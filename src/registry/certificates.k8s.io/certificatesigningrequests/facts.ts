/** Thread: any. Signing requests are selected by their signer. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const certificateSigningRequestFacts: ResourceFacts = {
  indexedFields: [{ name: 'spec.signerName' }],
}
