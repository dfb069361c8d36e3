/** Thread: any. Every write is shown to the webhooks that these configurations name. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const webhookConfigurationFacts: ResourceFacts = { alwaysCached: true, inForceWhenAcknowledged: true }
